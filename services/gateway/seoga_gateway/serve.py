"""`seoga serve`: the MCP server over stdio, or over HTTP in this one process."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import closing, suppress
from functools import partial
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
    # A thread of the SDK sits in a read of stdin that nothing wakes: neither Ctrl-C nor the end
    # of the interpreter may wait for it.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, partial(_leave, stack))
    try:
        anyio.run(server.run_stdio_async)
    finally:
        stack.close()


def _leave(stack: Stack, _: int, __: FrameType | None) -> None:
    # Asked again while a batch is brought to its end: at once.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: os._exit(0))
    end = threading.Thread(target=stack.close, name="close", daemon=True)
    end.start()
    end.join(GRACE_S)
    os._exit(0)


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
    with suppress(KeyboardInterrupt), closing(stack):
        uvicorn.run(
            app,
            host=config.host,
            port=config.port,
            log_config=None,
            timeout_graceful_shutdown=GRACE_S,
        )


def _interrupt(_: int, __: FrameType | None) -> None:
    raise KeyboardInterrupt
