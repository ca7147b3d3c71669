"""check_changes: what a run would do, without a run and without any provider call."""

from __future__ import annotations

from typing import Annotated

from mcp_types import CallToolResult
from pydantic import BaseModel, Field

from seoga.contracts.indexing import ChangeReport
from seoga_gateway.tool import (
    BUDGET_BYTES,
    Call,
    KbId,
    Tool,
    json_size,
    library,
    one_line,
    reply,
    with_progress,
    within,
)

# Counts and the names of kinds stand beside them.
_NAMES_BYTES = BUDGET_BYTES - 2_000
NAMED = ("added", "modified", "deleted", "failed", "stale", "needs_action", "skipped")


class Changes(BaseModel):
    """A dry run of scan and comparison."""

    kb_id: str
    is_clean: bool = Field(description="True when the index is what a run would leave.")
    counts: dict[str, int] = Field(description="How many there are of each kind, in full.")
    added: list[str] = Field(description="New documents, `label/path`.")
    modified: list[str] = Field(description="Changed documents.")
    deleted: list[str] = Field(description="Indexed documents that are gone.")
    failed: list[str] = Field(description="Documents that could not be indexed.")
    stale: list[str] = Field(description="What is older than the configuration: model, prompt …")
    needs_action: list[str] = Field(description="What a person must do first.")
    skipped: list[str] = Field(description="Entries that are no documents: links, pipes …")
    omitted: int = Field(description="Names left out to keep the answer short.")


async def check_changes(call: Call, kb_id: KbId) -> Annotated[CallToolResult, Changes]:
    """Compare a knowledge base with its sources: what was added, changed or deleted since it was
    indexed.

    Nothing is written and no provider is called. Large folders take a while.
    """
    answer = _short(await with_progress(call, "comparing", lambda: library(call).changes(kb_id)))
    head = "up to date" if answer.is_clean else "not up to date"
    counts = ", ".join(f"{count} {kind}" for kind, count in answer.counts.items())
    lines = [f"{answer.kb_id} is {head}: {counts}"]
    for kind in NAMED:
        lines.extend(f"{kind}: {name}" for name in getattr(answer, kind))
    if answer.omitted:
        lines.append(f"({answer.omitted} more names left out)")
    return reply(answer, "\n".join(lines))


def _short(report: ChangeReport) -> Changes:
    names = [(kind, one_line(name)) for kind in NAMED for name in getattr(report, kind)]
    kept = names[: within((json_size(kind + name) + 4 for kind, name in names), _NAMES_BYTES)]
    return Changes(
        kb_id=report.kb_id,
        is_clean=report.is_clean,
        counts=dict(report.counts),
        omitted=len(names) - len(kept),
        **{kind: [name for other, name in kept if other == kind] for kind in NAMED},
    )


TOOL = Tool(check_changes, title="Check for changes")
