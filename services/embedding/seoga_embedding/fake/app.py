"""The fake's HTTP face: the providers' paths, and `/fake/…` to set rules and look at calls."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from anyio import sleep
from pydantic import TypeAdapter, ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from seoga_embedding.fake import batches
from seoga_embedding.fake.answering import said
from seoga_embedding.fake.ordering import results
from seoga_embedding.fake.protocols import OLLAMA, Asked, Protocol, match, refusal
from seoga_embedding.fake.rules import Desk, Fault, Rules, shown
from seoga_embedding.models import known_row
from seoga_embedding.packing import tokens_of
from seoga_embedding.provider import Vector
from seoga_embedding.providers.hashing import Hashing

_FAULTS = TypeAdapter(list[Fault])
_UNKNOWN_DIMENSION = 256
_HANGUL = re.compile("[가-힣]+")
_NUMBER = re.compile(rb"-?\d+\.\d+(?:e-?\d+)?")
# What stands in the place of numbers: no number, and one that no vector can hold.
_NO_NUMBERS = {"words": b'"x"', "huge": b"1e300"}
NOTICE = (
    "This is Seoga's fake provider. It speaks the protocols of OpenAI, Azure, Ollama, Gemini and"
    " Anthropic so that Seoga can be tried without a key. Its vectors are hashed words and its"
    " answers are made of the prompt: do not judge search by it. Rules and errors on demand:"
    " PUT /fake/rules, POST /fake/faults, GET /fake/calls, GET /fake/tally, DELETE /fake."
)


def create(desk: Desk | None = None) -> Starlette:
    """The app, with its own rules and record."""
    desk = desk or Desk()

    async def rules(request: Request) -> Response:
        if request.method == "PUT":
            desk.rules = Rules.model_validate_json(await request.body())
        return JSONResponse(desk.rules.model_dump())

    async def faults(request: Request) -> Response:
        desk.expect(_FAULTS.validate_json(await request.body()))
        return Response(status_code=204)

    async def tally(_: Request) -> Response:
        return JSONResponse(desk.tally())

    async def calls(_: Request) -> Response:
        # What came in may hold half a surrogate pair, which has no UTF-8 of its own.
        return Response(json.dumps(desk.calls()), media_type="application/json")

    async def reset(_: Request) -> Response:
        desk.reset()
        return Response(status_code=204)

    async def provider(request: Request) -> Response:
        return await _provider(desk, request)

    return Starlette(
        routes=[
            Route("/", _notice),
            Route("/fake", reset, methods=["DELETE"]),
            Route("/fake/rules", rules, methods=["GET", "PUT"]),
            Route("/fake/faults", faults, methods=["POST"]),
            Route("/fake/calls", calls),
            Route("/fake/tally", tally),
            Route("/{path:path}", provider, methods=["GET", "POST"]),
        ],
        exception_handlers={ValidationError: _refused},
    )


def _refused(_: Request, error: Exception) -> Response:
    """Rules and faults that say something else than they may: each field, and what is wrong."""
    wrong = error.errors(include_url=False) if isinstance(error, ValidationError) else []
    named = [f"{'.'.join(map(str, one['loc'])) or 'the body'}: {one['msg']}" for one in wrong]
    return JSONResponse({"error": "; ".join(named)}, 400)


async def _notice(_: Request) -> Response:
    return JSONResponse({"notice": NOTICE})


@dataclass(frozen=True, slots=True)
class _Target:
    """Whose path was called and for what; `name` is the model or the batch in it."""

    protocol: Protocol
    action: str
    name: str
    batch: bool = False


def _target(method: str, path: str) -> _Target | None:
    if found := batches.match(method, path):
        return _Target(*found, batch=True)
    return _Target(*found) if (found := match(path)) else None


async def _provider(desk: Desk, request: Request) -> Response:
    came = time.monotonic()
    target = _target(request.method, request.url.path)
    if target is None:
        # A browser's or a scanner's: no provider was called, so nothing is counted.
        return JSONResponse({"detail": "Not Found"}, 404)
    raw = await request.body()
    body, era = _read(request, raw), desk.era
    fault = desk.record(
        {
            "method": request.method,
            "path": request.url.path,
            "query": dict(request.query_params),
            "headers": shown(dict(request.headers)),
            "body": body,
        }
    )
    outcome, texts = "unanswered", 0
    try:
        response = await _response(desk, target, (request, raw, body), fault)
        outcome = _outcome(fault, response)
        texts = _texts(body) if outcome == "ok" else 0
        await sleep(max(0.0, came + desk.rules.latency - time.monotonic()))
        return response
    finally:
        desk.leave(outcome, texts, era)


def _read(request: Request, raw: bytes) -> Any:
    """The JSON of a body, a form as text, {} where there is none; None where it is no JSON."""
    if request.headers.get("content-type", "").startswith("multipart/"):
        return raw.decode("utf-8", "replace")
    try:
        return json.loads(raw, parse_constant=_no_constant) if raw else {}
    except (ValueError, RecursionError):
        return None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _outcome(fault: Fault | None, response: Response) -> str:
    if fault is not None and fault.kind != "status":
        return fault.kind
    return "ok" if response.status_code == 200 else str(response.status_code)


def _texts(body: Any) -> int:
    if not isinstance(body, dict):
        return 0
    given: Any = body.get("input", body.get("requests", []))
    return 1 if isinstance(given, str) else len(given)


async def _response(
    desk: Desk, target: _Target, sent: tuple[Request, bytes, Any], fault: Fault | None
) -> Response:
    request, raw, body = sent
    protocol, rules = target.protocol, desk.rules
    if fault is not None and (wrong := await _wrong(fault, protocol)) is not None:
        return wrong
    if rules.key and protocol.key(dict(request.headers)) != rules.key:
        return _error(protocol, 401, "Incorrect API key provided: sk-wrong*****key", "")
    if len(raw) > rules.max_bytes:
        return _error(protocol, 413, "payload too large", "")
    if body is None:
        return _error(protocol, 400, protocol.not_json, protocol.bad_request)
    try:
        if target.batch:
            response = _batch(desk, target, body)
        else:
            response = _action(protocol, target.action, (target.name, body), (rules, fault))
        return _Cut() if fault is not None and fault.kind == "lost" else response
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        message = f"bad request: {type(error).__name__}"
        return _error(protocol, 400, message, protocol.bad_request)


def _batch(desk: Desk, target: _Target, body: Any) -> Response:
    kept: batches.BatchDesk = desk.shelf.setdefault("batches", batches.BatchDesk())
    answer = kept.handle(target.action, target.name, body, desk.rules)
    if answer is None:
        return _error(target.protocol, 404, f"there is no {target.name!r}", "not_found")
    if isinstance(answer, str):
        return Response(answer, media_type="application/x-jsonlines")
    return JSONResponse(answer)


async def _wrong(fault: Fault, protocol: Protocol) -> Response | None:
    """The response that a fault gives; None where the answer is only spoilt."""
    if fault.after:
        await sleep(fault.after)
    headers = {"retry-after": fault.retry_after} if fault.retry_after else None
    if fault.kind in ("status", "error_in_200"):
        content = protocol.error(fault.status, fault.message or "on demand", fault.code)
        status = fault.status if fault.kind == "status" else 200
        return JSONResponse(content, status, headers=headers)
    if fault.kind == "html":
        return HTMLResponse("<html>It works</html>")
    if fault.kind == "page":
        return HTMLResponse("<!DOCTYPE html><title>Forbidden</title>", fault.status)
    if fault.kind == "cut":
        return _Cut()
    if fault.kind == "slow":
        await sleep(fault.seconds)
    return None


def _action(
    protocol: Protocol,
    action: str,
    asked: tuple[str, dict[str, Any]],
    how: tuple[Rules, Fault | None],
) -> Response:
    rules, _ = how
    if action == "version":
        return JSONResponse({"version": rules.version})
    if action == "tags":
        names = rules.models or ["bge-m3:latest", "nomic-embed-text:latest"]
        models = [{"name": name, "model": name, "digest": rules.digest} for name in names]
        return JSONResponse({"models": models})
    if action == "rerank":
        return JSONResponse(results(protocol.name, asked[1], rules))
    if action == "chat":
        return JSONResponse(said(protocol, asked[1], rules))
    return _embed(protocol, _encoded(protocol.asked(*asked), rules), *how)


def _encoded(asked: Asked, rules: Rules) -> Asked:
    """The request as a server takes it that knows base64 or not."""
    if asked.encoding != "base64" or rules.base64 == "gives":
        return asked
    return replace(asked, encoding=rules.base64)


def _embed(protocol: Protocol, asked: Asked, rules: Rules, fault: Fault | None) -> Response:
    if rules.models and not {asked.model, f"{asked.model}:latest"} & set(rules.models):
        hint = ", try pulling it first" if protocol is OLLAMA else ""
        return _error(protocol, 404, f"model {asked.model!r} not found{hint}", "model_not_found")
    tokens = [tokens_of(text) for text in asked.texts]
    if (refused := refusal(asked, tokens, rules)) is not None:
        return _error(protocol, *refused)
    row = known_row(asked.model)
    own = row.dimension if row else _UNKNOWN_DIMENSION
    texts = [_HANGUL.sub("unk", text) if rules.blind else text for text in asked.texts]
    vectors = Hashing(rules.dimension or asked.dimension or own).embed(texts, "document")
    for at, text in enumerate(asked.texts):
        if rules.nan and rules.nan in text:
            vectors[at] = np.nan
        if rules.zero and rules.zero in text:
            vectors[at] = 0
    response = JSONResponse(protocol.vectors(asked, _spoilt(vectors, fault), sum(tokens)))
    if fault is not None and fault.kind in _NO_NUMBERS:
        body = _NUMBER.sub(_NO_NUMBERS[fault.kind], response.body)
        return Response(body, media_type="application/json")
    return response


def _spoilt(vectors: Vector, fault: Fault | None) -> Vector:
    kind = fault.kind if fault else ""
    if kind == "fewer":
        return vectors[:-1]
    if kind == "dimension":
        return vectors[:, :-1]
    if kind in ("nan", "zero"):
        vectors[-1] = np.nan if kind == "nan" else 0
    return vectors


def _error(protocol: Protocol, status: int, message: str, code: str) -> Response:
    return JSONResponse(protocol.error(status, message, code), status)


class _Cut(Response):
    """Promises more than it sends: the connection ends in the middle."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        del scope, receive
        headers = [(b"content-type", b"application/json"), (b"content-length", b"100000")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b'{"data": [', "more_body": True})
