"""A file of the index as commit 1 had it, to be written once more with other contexts."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from typing import Any

from seoga.models import FileState, Stage
from seoga.storage import stored
from seoga.storage.packing import PackedChunk, PackedFile
from seoga.storage.records import FileRow, Tokens

_ROW = (
    "SELECT f.label, f.path, f.size, f.mtime_ns, f.scanned_ns, f.version, f.hash, f.url, f.state,"
    " f.stage, f.reason, f.detail, f.format, f.title, f.lang, f.meta, f.made, f.text_chars, t.text,"
    " t.marks FROM files f JOIN texts t ON t.file_id = f.id WHERE f.id = ?"
)
_CHUNKS = (
    'SELECT c.ordinal, c.start, c."end", c.text, c.heading_path, c.header_row, c.context,'
    " c.keywords, c.place, c.kind, c.lang, c.meta, x.title, x.heading, x.body, x.context,"
    " x.keywords, c.words FROM chunks c JOIN chunks_fts x ON x.rowid = c.id WHERE c.file_id = ?"
    " ORDER BY c.ordinal"
)
# Reasons that follow from vectors and contexts: they come and go with the chunks.
_PASSING = ("", "embedding", "context", "no_context")


def packed_again(conn: sqlite3.Connection, file_id: int) -> PackedFile | None:
    """The values of a stored file, its chunks with the contexts that they have; None where it is
    gone or has no text."""
    found = conn.execute(_ROW, (file_id,)).fetchone()
    if found is None:
        return None
    *values, chars, text, marks = found
    row = FileRow(*values)
    row = _settled(replace(row, meta=stored.parsed(row.meta, dict)))
    chunks = [_chunk(one) for one in conn.execute(_CHUNKS, (file_id,))]
    return PackedFile(row, text, marks, chars, chunks) if chunks else None


def _chunk(row: tuple[Any, ...]) -> PackedChunk:
    ordinal, start, end, *words = row
    key, where, tokens = tuple(words[:5]), tuple(words[5:9]), Tokens(*words[9:14])
    return PackedChunk._make((ordinal, start, end, key, where, tokens, words[14], tokens.terms()))


def _settled(row: FileRow) -> FileRow:
    """The row as it is once every chunk has what it should have."""
    if row.reason in _PASSING:
        return replace(row, state=FileState.READY, stage=Stage.DONE, reason="", detail="")
    return replace(row, state=FileState.DEGRADED, stage=Stage(row.stage))
