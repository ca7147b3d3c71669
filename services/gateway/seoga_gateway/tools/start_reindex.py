"""start_reindex: queues a run and answers at once."""

from __future__ import annotations

from typing import Annotated

from mcp_types import CallToolResult
from pydantic import BaseModel, Field

from seoga.models import Partial
from seoga_gateway.tool import Call, KbId, Tool, library, reply


class Queued(BaseModel):
    """What became of the request."""

    status: str = Field(
        description="queued, already_queued, upgraded, already_running or queued_after_current."
    )
    kb_id: str
    queue_position: int = Field(description="1 is next, 0 is running now.")


def start_reindex(
    call: Call,
    kb_id: KbId,
    partial_mode: Annotated[
        Partial | None,
        Field(description="Redo only from this stage on; leave out for a full incremental run."),
    ] = None,
    force: Annotated[
        bool, Field(description="Redo everything, unchanged documents too (slow).")
    ] = False,
    deferred: Annotated[
        bool, Field(description="Wait for the next scheduled sweep instead of running now.")
    ] = False,
) -> Annotated[CallToolResult, Queued]:
    """Queue an indexing run of a knowledge base: new, changed and deleted documents are taken up.

    Returns at once; get_index_info shows the progress.
    """
    result = library(call).enqueue(kb_id, partial_mode or "full", force=force, deferred=deferred)
    answer = Queued.model_validate(result.to_json())
    where = "running" if answer.queue_position == 0 else f"position {answer.queue_position}"
    return reply(answer, f"{answer.status} ({where}): {answer.kb_id}")


TOOL = Tool(start_reindex, title="Start re-indexing", read_only=False)
