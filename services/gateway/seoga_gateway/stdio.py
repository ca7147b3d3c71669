"""MCP over stdin and stdout, where every line of the client is answered that is to be."""

from __future__ import annotations

import io
import os
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage

from seoga_gateway.halves import without_halves
from seoga_gateway.refusing import refusal

Answer = Callable[[SessionMessage], Awaitable[None]]


@asynccontextmanager
async def messages() -> AsyncGenerator[tuple[Any, Any]]:
    """The streams of the SDK's server over descriptors 0 and 1. Children and whatever else reads
    stdin meet its end at once."""
    lines = _Lines(io.TextIOWrapper(_stdin(), encoding="utf-8", errors="replace"))
    async with stdio_server(stdin=lines) as (read, write):
        lines.open(write.send)
        yield read, write


def _stdin() -> io.BufferedReader:
    wire = os.fdopen(os.dup(0), "rb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return wire


class _Lines(anyio.AsyncFile[str]):
    """The lines that are messages; to the others it answers itself."""

    def __init__(self, wire: io.TextIOWrapper) -> None:
        super().__init__(wire)
        self._opened = anyio.Event()

    def open(self, answer: Answer) -> None:
        """From now on there is something to answer with."""
        self._answer = answer
        self._opened.set()

    async def __aiter__(self) -> AsyncIterator[str]:
        await self._opened.wait()
        while line := await self.readline():
            body = without_halves(line.encode())
            if not body.strip():
                continue
            if refused := refusal(body):
                await self._answer(SessionMessage(refused))
            else:
                yield body.decode()
