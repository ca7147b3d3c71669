"""Knowledge bases over plain HTTP, for scripts: list, make one of a folder, remove one.

Whoever may do this can have any folder indexed that the indexer reads. It is for this machine
alone: the gateway starts on no other address, and pages of other hosts are refused here.
"""

# No postponed annotations here: FastAPI reads those of the routes.
from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.concurrency import run_in_threadpool
from mcp.server.transport_security import TransportSecurityMiddleware
from pydantic import ValidationError

from seoga.contracts.indexing import KbRequest
from seoga.errors import Forbidden, InvalidArgument
from seoga_gateway.auth import transport_security
from seoga_gateway.library import Library

_MOST_BYTES = 64 * 1024


def kb_routes(library: Library) -> APIRouter:
    """`GET`, `POST` /v1/kbs and `DELETE` /v1/kbs/{kb_id}."""
    guard = TransportSecurityMiddleware(transport_security(library.stack.settings))

    async def same_machine(request: Request) -> None:
        refused = await guard.validate_request(request, is_post=request.method == "POST")
        if refused is not None:
            raise Forbidden(
                bytes(refused.body).decode(),
                "Call it as 127.0.0.1 or localhost, with the port listened on, and JSON.",
            )

    router = APIRouter(prefix="/v1/kbs", dependencies=[Depends(same_machine)])

    @router.get("")
    def listed() -> dict[str, Any]:
        overviews, problems = library.overview()
        return {
            "knowledge_bases": [
                {
                    "kb_id": one.kb.id,
                    "name": one.kb.name,
                    "status": one.status,
                    "files": one.files,
                    "chunks": one.chunks,
                }
                for one in overviews
            ],
            "problems": problems,
        }

    @router.post("")
    async def create(request: Request) -> dict[str, Any]:
        asked = _asked(await _body(request))
        return await run_in_threadpool(library.create_kb, asked.path, asked.name)

    @router.delete("/{kb_id}")
    def delete(kb_id: str) -> dict[str, Any]:
        return library.delete_kb(kb_id)

    return router


async def _body(request: Request) -> bytes:
    """The body, read here because FastAPI reads one of any size. Raises InvalidArgument."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > _MOST_BYTES:
            raise InvalidArgument(
                f"the body is larger than {_MOST_BYTES >> 10} KiB", 'Send {"path": …, "name": …}.'
            )
    return body


def _asked(body: bytes) -> KbRequest:
    try:
        return KbRequest.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise InvalidArgument(
            f"the body is no request: {where + ': ' if where else ''}{first['msg']}",
            'Send JSON: {"path": "<folder>", "name": "<name, may be left out>"}.',
        ) from error
