"""cancel_reindex: takes requests back and asks a running one to stop."""

from __future__ import annotations

from typing import Annotated

from mcp_types import CallToolResult
from pydantic import BaseModel, Field

from seoga_gateway.tool import Call, KbId, Tool, library, reply


class CancelAnswer(BaseModel):
    """What was taken back."""

    kb_id: str
    removed: int = Field(description="Waiting requests that were removed.")
    stopping: bool = Field(
        description="A running one was asked to stop; it does at the next page or batch."
    )


def cancel_reindex(call: Call, kb_id: KbId) -> Annotated[CallToolResult, CancelAnswer]:
    """Remove waiting indexing requests of a knowledge base and ask a running one to stop.

    What is already indexed stays.
    """
    answer = CancelAnswer.model_validate(library(call).cancel(kb_id))
    running = "the running one is stopping" if answer.stopping else "none was running"
    return reply(answer, f"{answer.removed} waiting requests removed, {running}: {answer.kb_id}")


TOOL = Tool(cancel_reindex, title="Cancel re-indexing", read_only=False)
