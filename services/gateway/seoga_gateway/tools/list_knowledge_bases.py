"""list_knowledge_bases: what there is to search."""

from __future__ import annotations

from typing import Annotated

from mcp_types import CallToolResult
from pydantic import BaseModel, Field

from seoga_gateway.tool import Call, Overview, Tool, library, one_line, reply


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


def list_knowledge_bases(call: Call) -> Annotated[CallToolResult, KnowledgeBases]:
    """List the knowledge bases that can be searched, with file and passage counts and status."""
    found, problems = library(call).overview()
    answer = KnowledgeBases(
        knowledge_bases=[_entry(one) for one in found],
        problems=[one_line(problem) for problem in problems],
    )
    lines = [
        f"{kb.kb_id}  {kb.name}: {kb.description} "
        f"({kb.status}; {kb.files} files, {kb.chunks} passages) {kb.problem}".rstrip()
        for kb in answer.knowledge_bases
    ]
    lines.extend(f"not listed: {problem}" for problem in answer.problems)
    return reply(answer, "\n".join(lines) or "There is no knowledge base yet.")


def _entry(one: Overview) -> KnowledgeBase:
    return KnowledgeBase(
        kb_id=one.kb.id,
        name=one_line(one.kb.name),
        description=one_line(one.kb.description),
        status=one.status,
        files=one.files,
        chunks=one.chunks,
        pending=one.pending,
        schema_version=one.schema,
        sources=[source.label for source in one.kb.sources()],
        problem=one_line(one.problem),
    )


TOOL = Tool(list_knowledge_bases, title="List knowledge bases")
