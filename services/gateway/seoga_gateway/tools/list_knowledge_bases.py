"""list_knowledge_bases: what there is to search."""

from __future__ import annotations

from typing import Annotated

from mcp_types import CallToolResult
from pydantic import BaseModel, Field

from seoga_gateway.tool import (
    BUDGET_BYTES,
    Call,
    Overview,
    Tool,
    cut_json,
    fitted,
    json_size,
    library,
    listed,
    one_line,
    reply,
    within,
)

# Of the description of one, its labels, its problem; and of how many there are more.
_MOST_BYTES = 2_000
_OMITTED_BYTES = 100


class KnowledgeBase(BaseModel):
    """One knowledge base."""

    kb_id: str
    name: str
    description: str = Field(description="What it contains.")
    status: str = Field(description="ready, empty (nothing indexed yet), indexing or error.")
    files: int = Field(description="Files seen, failing and empty ones included.")
    chunks: int = Field(description="Passages in the index.")
    pending: int = Field(description="Passages that have no vectors yet.")
    schema_version: int = Field(description="Version of its database; 0 where there is none.")
    sources: list[str] = Field(description="Source labels, for the labels filter.")
    problem: str = Field(description="Why it cannot be opened, where it cannot.")


class KnowledgeBases(BaseModel):
    """All knowledge bases, and the folders that could not be listed."""

    knowledge_bases: list[KnowledgeBase]
    problems: list[str] = Field(description="Folders that are not listed, and why.")
    omitted: int = Field(description="Knowledge bases left out to keep the answer short.")


def list_knowledge_bases(call: Call) -> Annotated[CallToolResult, KnowledgeBases]:
    """List the knowledge bases that can be searched, with file and passage counts and status."""
    found, problems = library(call).overview()
    answer = KnowledgeBases(
        knowledge_bases=[],
        problems=listed([one_line(problem) for problem in problems], BUDGET_BYTES // 5),
        omitted=0,
    )
    entries = [_entry(one) for one in found]
    # Their text form is the shorter one.
    sizes = (json_size(entry.model_dump(mode="json")) + 2 for entry in entries)
    room = BUDGET_BYTES - json_size(answer.model_dump(mode="json")) - _OMITTED_BYTES
    answer.knowledge_bases = entries[: within(sizes, room)]
    answer.omitted = len(entries) - len(answer.knowledge_bases)
    lines = [
        f"{kb.kb_id}  {kb.name}: {kb.description} "
        f"({kb.status}; {kb.files} files, {kb.chunks} passages) {kb.problem}".rstrip()
        for kb in answer.knowledge_bases
    ]
    lines.extend(f"not listed: {problem}" for problem in answer.problems)
    if answer.omitted:
        lines.append(f"{answer.omitted} more left out to keep the answer short.")
    return reply(answer, "\n".join(lines) or "There is no knowledge base yet.")


def _entry(one: Overview) -> KnowledgeBase:
    return KnowledgeBase(
        kb_id=one.kb.id,
        name=cut_json(one_line(one.kb.name), _MOST_BYTES),
        description=cut_json(one_line(one.kb.description), _MOST_BYTES),
        status=one.status,
        files=one.files,
        chunks=one.chunks,
        pending=one.pending,
        schema_version=one.schema,
        sources=fitted([source.label for source in one.kb.sources()], _MOST_BYTES),
        problem=cut_json(one_line(one.problem), _MOST_BYTES),
    )


TOOL = Tool(list_knowledge_bases, title="List knowledge bases")
