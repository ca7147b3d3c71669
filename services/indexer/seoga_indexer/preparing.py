"""From the sections of a file to what commit 1 stores: chunks, languages, tokens. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from seoga.errors import Reason
from seoga.models import FAULTS, REMARKS, Chunk, DocumentInfo, FileState, Section, Stage
from seoga.storage.packing import PackedFile, pack
from seoga.storage.records import STATED, FileRow, PreparedChunk, PreparedFile, Tokens
from seoga.storage.spoken import heading_text, said_text, title_text
from seoga.text.language import language_of
from seoga.text.tokens import index_text
from seoga_indexer.beside import shortened
from seoga_indexer.chunking import assemble, chunk_document
from seoga_indexer.statements import statements_of

_OURS = frozenset((STATED, FAULTS, REMARKS))


@dataclass(frozen=True, slots=True)
class Sizes:
    """How to cut: all in code points (specification, section 5)."""

    target_chars: int = 1000
    overlap_chars: int = 150
    max_chars: int = 4000


@dataclass(frozen=True, slots=True)
class Draft:
    """A file as extraction gave it. `trouble`: how its stream ended early, or None."""

    row: FileRow
    info: DocumentInfo
    sections: Sequence[Section]
    sizes: Sizes
    trouble: tuple[Reason, str] | None = None


def prepare(draft: Draft) -> PreparedFile | FileRow:
    """The file ready to be stored; only its row, with state and reason, when it has no text."""
    sizes, trouble = draft.sizes, draft.trouble
    assembled = assemble(draft.info, draft.sections)
    chunks = chunk_document(assembled, sizes.target_chars, sizes.overlap_chars, sizes.max_chars)
    row = replace(
        draft.row,
        format=assembled.info.format,
        title=shortened(assembled.info.title or draft.row.title),
        meta=_with_statements(draft),
        lang=language_of(assembled.text),
    )
    if not chunks:
        return failed(row, *(trouble or (Reason.EMPTY, "")))
    if trouble is not None:
        reason, detail = trouble
        row = replace(
            row, state=FileState.DEGRADED, stage=Stage.EXTRACT, reason=reason, detail=detail
        )
    title = title_tokens(row.title, row.path)
    # What the document says of itself (authors, numbers, tags) is found by its first passage.
    said = index_text(said_text(assembled.info.format, assembled.info.meta))
    prepared = [_chunk(chunk, title, "" if chunk.ordinal else said) for chunk in chunks]
    return PreparedFile(row, assembled.text, prepared, assembled.marks)


def _with_statements(draft: Draft) -> dict[str, Any]:
    """The document's metadata; what it says of its own life is ours to write."""
    meta = {key: value for key, value in draft.info.meta.items() if key not in _OURS}
    if stated := statements_of(draft.info, draft.sections, draft.row.path):
        meta[STATED] = stated
    return meta


def packed(draft: Draft) -> PackedFile | FileRow:
    """The same as the plain values that are stored."""
    result = prepare(draft)
    return result if isinstance(result, FileRow) else pack(result)


def _chunk(chunk: Chunk, title: str, said: str) -> PreparedChunk:
    heading = index_text(heading_text(chunk.heading_path, chunk.header_row))
    return PreparedChunk(
        chunk,
        Tokens(title=title, heading=heading, body=index_text(chunk.text), keywords=said),
        lang=language_of(chunk.text),
    )


def failed(row: FileRow, reason: Reason, detail: str) -> FileRow:
    """The row of a file without text; an empty one is Ready."""
    state = FileState.NEEDS_ACTION if reason.needs_action else FileState.FAILED
    if reason is Reason.EMPTY:
        state = FileState.READY
    return replace(row, state=state, stage=Stage.EXTRACT, reason=reason, detail=detail)


def title_tokens(title: str, path: str) -> str:
    """The title field of the keyword index."""
    return index_text(title_text(title, path))
