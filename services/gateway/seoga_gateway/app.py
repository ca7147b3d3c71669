"""The HTTP face: /mcp beside health, readiness and metrics."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import (
    DEFAULT_MAX_REQUEST_BODY_SIZE,
    RequestBodyLimitMiddleware,
)
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from seoga.exposure import refuse_open
from seoga.service import Ready, build_app
from seoga.wiring import Stack, build_stack
from seoga_gateway.auth import transport_security
from seoga_gateway.halves import without_halves
from seoga_gateway.kbs import kb_routes
from seoga_gateway.library import Library
from seoga_gateway.others import states_of
from seoga_gateway.refusing import refusal
from seoga_gateway.secret import shared_secret
from seoga_gateway.server import DEFAULT_TOOLSET, build_server

PATH = "/mcp"


def create(
    stack: Stack | None = None, toolset: str = DEFAULT_TOOLSET, ready: Ready | None = None
) -> FastAPI:
    """The gateway's app. `ready` is asked first and raises a SeogaError as long as queries have
    to wait.

    A stack that is handed in is the caller's to close. Raises InvalidArgument for an unknown
    toolset, and ConfigError for a secret that cannot be used or an address that other machines
    could reach.
    """
    own = stack or build_stack()
    refuse_open(own.settings)
    server = build_server(own, toolset, shared_secret(own.settings))
    # Stateless: any worker answers any call, of either protocol generation. Streams, not single
    # JSON
    # answers: progress travels on them.
    server.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        json_response=False,
        transport_security=transport_security(own.settings),
    )
    library = Library(own)

    @asynccontextmanager
    async def lifespan() -> AsyncIterator[None]:
        async with server.session_manager.run():
            yield

    def readiness() -> dict[str, Any]:
        held = ready() if ready is not None else {}
        return {**held, **library.ready(), **states_of(own.settings)}

    app = build_app(
        "gateway",
        routes=[kb_routes(library)],
        ready=readiness,
        close=own.close if stack is None else None,
        lifespan=lifespan,
    )
    app.router.routes.append(Route(PATH, endpoint=Endpoint(server.session_manager)))
    return app


class Endpoint:
    """The ASGI app at /mcp; every method is the transport's."""

    path = PATH

    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        self._manager = manager
        # It hands the body over in one message.
        self._within = RequestBodyLimitMiddleware(self._post, DEFAULT_MAX_REQUEST_BODY_SIZE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request; named as its own route, so that metrics tell it from unknown paths."""
        scope["route"] = self
        posted = scope["method"] == "POST"
        await (self._within if posted else self._manager.handle_request)(scope, receive, send)

    async def _post(self, scope: Scope, receive: Receive, send: Send) -> None:
        first = await receive()
        if first["type"] == "http.request" and not first["more_body"]:
            first["body"] = without_halves(first["body"])
            if refused := refusal(first["body"]):
                answer = JSONResponse(refused.model_dump(exclude_unset=True), 400)
                await answer(scope, receive, send)
                return
        await self._manager.handle_request(scope, _after(first, receive), send)


def _after(first: Message, receive: Receive) -> Receive:
    """Receives this message before all others."""
    kept = [first]

    async def received() -> Message:
        return kept.pop() if kept else await receive()

    return received
