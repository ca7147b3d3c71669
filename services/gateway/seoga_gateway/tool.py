"""What a file in tools/ declares: `TOOL = Tool(run=…)`, whose function's name, docstring and
types are the contract.

A tool function takes `call: Call` first, then typed parameters with descriptions, and returns
`Annotated[CallToolResult, Model]` made with `reply`. It runs in a thread of its own and raises a
SeogaError
for whatever a caller can put right.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import anyio
from anyio.to_thread import run_sync
from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, Field

from seoga.errors import SeogaError
from seoga.search.engine import SearchAnswer, SearchRequest
from seoga.storage.reading import StoredChunk
from seoga.text.places import describe
from seoga_gateway.asking import Keys
from seoga_gateway.fitting import cut_json, fitted, fitted_text, json_size, listed
from seoga_gateway.library import Info, Library, Overview, Part
from seoga_gateway.quoting import (
    BUDGET_BYTES,
    NOTICE,
    cut,
    one_line,
    passage,
    quoted,
    size,
    visible,
    within,
)

__all__ = [
    "BUDGET_BYTES",
    "NOTICE",
    "Call",
    "Info",
    "KbId",
    "Keys",
    "Overview",
    "Part",
    "SearchAnswer",
    "SearchRequest",
    "StoredChunk",
    "Tool",
    "cut",
    "cut_json",
    "describe",
    "failure",
    "fitted",
    "json_size",
    "library",
    "listed",
    "one_line",
    "passage",
    "quoted",
    "reply",
    "size",
    "status_line",
    "with_progress",
    "within",
]

PROGRESS_EVERY_S = 1.0

T = TypeVar("T")
Call = Context[Library, Any]

KbId = Annotated[
    str, Field(description="Id of the knowledge base, as list_knowledge_bases gives it.")
]


@dataclass(frozen=True, slots=True)
class Tool:
    """One MCP tool. `toolsets`: the names of `serve --tools` that offer it. `destructive` and
    `idempotent` speak of
    tools that are not `read_only`."""

    run: Callable[..., Any]
    title: str
    toolsets: tuple[str, ...] = ("documents",)
    read_only: bool = True
    destructive: bool = False
    idempotent: bool = True

    @property
    def name(self) -> str:
        """The tool's name: that of its function."""
        return str(self.run.__name__)

    @property
    def annotations(self) -> ToolAnnotations:
        """The hints of the protocol. Nothing here reaches beyond the team's own documents."""
        return ToolAnnotations(
            title=self.title,
            read_only_hint=self.read_only,
            destructive_hint=self.destructive,
            idempotent_hint=self.idempotent,
            open_world_hint=False,
        )


def library(call: Call) -> Library:
    """What the tool may read and ask for."""
    return call.request_context.lifespan_context


def reply(answer: BaseModel, text: str) -> CallToolResult:
    """The structured answer and its text form, each within the budget of BUDGET_BYTES."""
    return CallToolResult(
        content=[TextContent(type="text", text=fitted_text(text))],
        structured_content=fitted(answer.model_dump(mode="json")),
    )


def status_line(status: str, ends: Sequence[str]) -> str:
    """What became of a document, as a sentence; "" where there is nothing to say."""
    if not status:
        return ""
    instead = f"; in its place: {', '.join(map(one_line, ends))}" if ends else ""
    return f"Status of the document: {one_line(status)}{instead}."


def failure(error: SeogaError) -> CallToolResult:
    """An error in its one shape, `{code, message, hint}`, structured and as JSON text."""
    shape = {
        key: cut(visible(str(value)), BUDGET_BYTES // 10) for key, value in error.shape().items()
    }
    return CallToolResult(
        content=[TextContent(type="text", text=json.dumps(shape, ensure_ascii=False))],
        structured_content=shape,
        is_error=True,
    )


async def with_progress(call: Call, message: str, work: Callable[[], T]) -> T:
    """Runs `work` in a thread and tells the client once a second that it goes on (progress =
    seconds).

    Raises what `work` raises. A cancelled call does not wait for the thread.
    """
    failed: Exception | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(_tick, call, message)
        try:
            result = await run_sync(work, abandon_on_cancel=True)
        except Exception as error:
            # Past the group's border, or it would come out wrapped in an exception group.
            failed = error
        group.cancel_scope.cancel()
    if failed is not None:
        raise failed
    return result


async def _tick(call: Call, message: str) -> None:
    started = anyio.current_time()
    while True:
        await anyio.sleep(PROGRESS_EVERY_S)
        seconds = anyio.current_time() - started
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            await call.report_progress(seconds, message=f"{message}, {seconds:.0f} s")
