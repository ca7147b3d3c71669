"""`seoga serve`: the MCP server over stdio, or over HTTP in this one process."""

from __future__ import annotations

import signal
from types import FrameType

import anyio

from seoga.service import GRACE_S, Ready
from seoga.wiring import Stack
from seoga_gateway.server import DEFAULT_TOOLSET, build_server


def serve_stdio(stack: Stack, toolset: str = DEFAULT_TOOLSET) -> None:
    """Serves one client on stdin and stdout until it hangs up. The SDK moves file descriptor 1 to
    stderr, so
    nothing that a library prints reaches the client. Raises InvalidArgument for an unknown
    toolset."""
    server = build_server(stack, toolset)
    try:
        anyio.run(server.run_stdio_async)
    finally:
        stack.close()


def serve_http(stack: Stack, toolset: str = DEFAULT_TOOLSET, ready: Ready | None = None) -> None:
    """Serves /mcp at the host and port of the stack's settings until SIGTERM or Ctrl-C. Several
    workers: `seoga
    service gateway`. Raises what `create` raises; a taken port ends the process with uvicorn's
    message."""
    import uvicorn

    from seoga_gateway.app import create

    config = stack.settings
    app = create(stack, toolset, ready)
    # uvicorn raises SIGTERM again once it has stopped; as an exception it lets us close the stack.
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        uvicorn.run(
            app,
            host=config.host,
            port=config.port,
            log_config=None,
            timeout_graceful_shutdown=GRACE_S,
        )
    finally:
        stack.close()


def _interrupt(_: int, __: FrameType | None) -> None:
    raise KeyboardInterrupt
