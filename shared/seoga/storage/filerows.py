"""Rows of the file table and what hangs on them: found again, read, replaced in few statements.

What writes runs inside the caller's write transaction.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from typing import Any

from seoga.models import ChunkState, FileState, Stage
from seoga.storage import stored
from seoga.storage.bulk import put
from seoga.storage.folders import forget_above
from seoga.storage.records import FileRow, Kept, KnownFile, PendingChunk

_COLUMNS = (
    *("label", "path", "size", "mtime_ns", "scanned_ns", "version", "hash", "url"),
    *("state", "stage", "reason", "detail", "format", "title", "lang", "meta", "made"),
    *("chunk_count", "text_chars", "indexed_at"),
)
_INSERT = f"INSERT INTO files ({', '.join(_COLUMNS)}, id) VALUES {{row}}"
_REPLACE = f"UPDATE files SET {', '.join(f'{name} = ?' for name in _COLUMNS)} WHERE id = ?"
_FIND = (
    "SELECT wanted.key, files.id FROM json_each(?) AS wanted JOIN files"
    " ON files.label = json_extract(wanted.value, '$[0]')"
    " AND files.path = json_extract(wanted.value, '$[1]')"
)

_KEEP = "INSERT OR REPLACE INTO extractions (hash, hint, made, data) VALUES (?, ?, ?, ?)"
_STATES = {state.value: state for state in FileState}

Values = tuple[object, ...]


def now() -> str:
    """The present as UTC ISO text."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def numbered(conn: sqlite3.Connection, rows: Sequence[FileRow]) -> tuple[list[int], set[int]]:
    """The ids of these files, each listed once, and which of them are known. New ones get ids above
    every id ever given."""
    names = json.dumps([(row.label, row.path) for row in rows])
    known: dict[int, int] = dict(conn.execute(_FIND, (names,)).fetchall())
    last = conn.execute("SELECT seq FROM sqlite_sequence WHERE name = 'files'").fetchone()
    fresh = count((last[0] if last else 0) + 1)
    ids = [known[at] if at in known else next(fresh) for at in range(len(rows))]
    return ids, set(known.values())


def values(row: FileRow, file_id: int, chunks: int = 0, chars: int = 0) -> Values:
    """What `write` takes: a row with its number of chunks and code points."""
    return (
        *(row.label, row.path, row.size, row.mtime_ns, row.scanned_ns, row.version),
        *(row.hash, row.url, row.state.value, row.stage.value, row.reason, row.detail),
        *(row.format, row.title, row.lang, json.dumps(dict(row.meta), ensure_ascii=False)),
        *(row.made, chunks, chars, now(), file_id),
    )


def write(conn: sqlite3.Connection, rows: Iterable[Values], known: Collection[int]) -> None:
    """Writes rows; those whose id is in `known` replace what is there."""
    fresh: list[Values] = []
    old: list[Values] = []
    for row in rows:
        (old if row[-1] in known else fresh).append(row)
    if fresh:
        forget_above(conn, [(str(row[0]), str(row[1])) for row in fresh])
    put(conn, _INSERT, fresh)
    conn.executemany(_REPLACE, old)


def settled(row: FileRow, states: Collection[str]) -> FileRow:
    """The row as its chunks' states make it."""
    if ChunkState.PENDING in states:
        return replace(row, state=FileState.PARTIALLY_DEFERRED, stage=Stage.EMBED)
    if ChunkState.FAILED in states:
        some = set(states) != {ChunkState.FAILED}
        state = FileState.DEGRADED if some else FileState.FAILED
        return replace(row, state=state, stage=Stage.EMBED, reason=row.reason or "embedding")
    return row


def keep(conn: sqlite3.Connection, kept: Sequence[Kept | None]) -> None:
    """Keeps whole extractions by the hash of their file's content."""
    conn.executemany(
        _KEEP, [(one.hash, one.hint, one.made, one.data) for one in kept if one is not None]
    )


def known(row: tuple[Any, ...]) -> KnownFile:
    """A row of the file table as the document store selects it."""
    head, state, tail = row[:8], _STATES[row[8]], row[9:]
    return KnownFile._make((*head, state, *tail))


def waiting(row: tuple[Any, ...]) -> PendingChunk:
    """A row of the chunk table as the document store selects it for vectors."""
    head, path, tail = row[:3], stored.path(row[3]), row[4:]
    return PendingChunk(*(*head, path, *tail))
