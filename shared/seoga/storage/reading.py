"""What tools read of a knowledge base, over a connection of `open_reader`."""

from __future__ import annotations

import json
import sqlite3
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from seoga.errors import NotFound, Reason, shown
from seoga.models import ChunkState, FileState, Place
from seoga.storage import generations, stored
from seoga.storage.database import snapshot
from seoga.storage.leases import WRITER, holder
from seoga.storage.migrate import schema_version
from seoga.storage.texts import unpack_text

_STORED = (
    'SELECT c.id, c.file_id, c.ordinal, c.text, c.start, c."end", c.heading_path, c.header_row,'
    " c.place, c.kind, c.lang,"
    " c.meta, c.context, c.keywords, c.state, f.label, f.path, f.url, f.title, f.mtime_ns, f.meta,"
    " f.indexed_at,"
    " f.chunk_count FROM chunks c JOIN files f ON f.id = c.file_id"
)

_UNSERVED = (
    f"SELECT count(*) FROM chunks c WHERE state = '{ChunkState.PENDING}' AND NOT EXISTS"
    " (SELECT 1 FROM vectors v WHERE v.generation = ? AND v.chunk_id = c.id)"
)
# The schema whose files say what they were made with.
_WITH_MAKING = 2
# Of files whose making names an LLM and its prompt behind the slash, and does not say that chunks
# are still to be asked for.
_GIVEN_UP = (
    "SELECT count(*) FROM files f CROSS JOIN chunks c ON c.file_id = f.id"
    f" WHERE f.state != '{FileState.READY}' AND f.made LIKE '%/%-%' AND f.made NOT LIKE '%+raw'"
    " AND c.context = ''"
)


@dataclass(frozen=True, slots=True)
class KbCounts:
    """Numbers of a KB; `files` by state (every state is a key), `pending` + `indexed` + `failed` =
    `chunks`."""

    files: Mapping[str, int]
    chunks: int
    pending: int
    indexed: int
    failed: int

    @property
    def total_files(self) -> int:
        """All files seen, failing ones too."""
        return sum(self.files.values())


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk with what is known of its document."""

    id: int
    document_id: int
    ordinal: int
    text: str
    start: int
    end: int
    heading_path: tuple[str, ...]
    header_row: str
    place: Place
    kind: str
    lang: str
    meta: Mapping[str, Any]
    context: str
    keywords: str
    state: str
    label: str
    path: str
    url: str
    title: str
    mtime_ns: int
    document_meta: Mapping[str, Any]
    indexed_at: str
    chunk_count: int


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A row of the file table."""

    id: int
    label: str
    path: str
    size: int
    mtime_ns: int
    url: str
    state: str
    stage: str
    reason: str
    detail: str
    format: str
    title: str
    lang: str
    meta: Mapping[str, Any]
    chunk_count: int
    text_chars: int
    indexed_at: str

    @property
    def name(self) -> str:
        """`label/path`, as hits name it."""
        return f"{self.label}/{self.path}"


_DOCUMENT = f"SELECT {', '.join(StoredDocument.__slots__)} FROM files"


def commit_number(conn: sqlite3.Connection) -> int:
    """Grows with every change of content: what a reader holds in memory is good while this
    stays."""
    row = conn.execute("SELECT value FROM meta WHERE key = 'commit'").fetchone()
    return stored.number(row[0]) if row else 0


def kb_counts(conn: sqlite3.Connection) -> KbCounts:
    """Files by state, chunks by state."""
    with snapshot(conn):
        files = dict.fromkeys((state.value for state in FileState), 0)
        files.update(conn.execute("SELECT state, count(*) FROM files GROUP BY state").fetchall())
        # Each is answered by an index: a look at all rows takes seconds where there are a million.
        chunks = _count(conn, "SELECT count(*) FROM chunks")
        pending = pending_count(conn)
        failed = _count(conn, f"SELECT count(*) FROM chunks WHERE state = '{ChunkState.FAILED}'")
    return KbCounts(files, chunks, pending, chunks - pending - failed, failed)


def file_counts(conn: sqlite3.Connection) -> tuple[dict[str, int], dict[str, int]]:
    """Files by state (each state is there) and by reason, without a look at their chunks."""
    states = dict.fromkeys((state.value for state in FileState), 0)
    reasons: dict[str, int] = {}
    for state, reason, files in conn.execute(
        "SELECT state, reason, count(*) FROM files GROUP BY 1, 2"
    ):
        states[state] += files
        reasons[reason] = reasons.get(reason, 0) + files
    return states, reasons


def pending_count(conn: sqlite3.Connection) -> int:
    """How many chunks wait for vectors; answered by their index."""
    return _count(conn, f"SELECT count(*) FROM chunks WHERE state = '{ChunkState.PENDING}'")


def unserved_count(conn: sqlite3.Connection) -> int:
    """How many chunks wait for vectors and have none of the model that serves either."""
    if not pending_count(conn):
        return 0
    serving = generations.live(conn)
    return int(conn.execute(_UNSERVED, (serving[0] if serving else 0,)).fetchone()[0])


def chunk(conn: sqlite3.Connection, chunk_id: int) -> StoredChunk:
    """One chunk. Raises NotFound: ids are never used again, so an old id names nothing."""
    found = chunks(conn, [chunk_id])
    if chunk_id not in found:
        raise NotFound(f"there is no chunk {chunk_id}", "The document changed since; search again.")
    return found[chunk_id]


def chunks(conn: sqlite3.Connection, ids: Sequence[int]) -> dict[int, StoredChunk]:
    """Chunks by id, in one query; ids that are gone are left out."""
    rows = conn.execute(
        f"{_STORED} WHERE c.id IN (SELECT value FROM json_each(?))", (json.dumps(list(ids)),)
    ).fetchall()
    return {row[0]: _stored(row) for row in rows}


def neighbours(
    conn: sqlite3.Connection, chunk_id: int, before: int = 1, after: int = 1
) -> list[StoredChunk]:
    """The chunks around one in its document, in order, itself left out."""
    with snapshot(conn):
        one = chunk(conn, chunk_id)
        rows = conn.execute(
            f"{_STORED} WHERE c.file_id = ? AND c.ordinal BETWEEN ? AND ? AND c.id != ? ORDER BY"
            f" c.ordinal",
            (one.document_id, one.ordinal - before, one.ordinal + after, chunk_id),
        ).fetchall()
    return [_stored(row) for row in rows]


def document(conn: sqlite3.Connection, label: str, path: str) -> StoredDocument | None:
    """A document by identity."""
    row = conn.execute(f"{_DOCUMENT} WHERE label = ? AND path = ?", (label, path)).fetchone()
    return _document(row) if row else None


def find_document(conn: sqlite3.Connection, name: str) -> StoredDocument:
    """A document by the name that hits use (`label/path`), by a path that only one source has, or
    by its row id as text.

    Raises NotFound, naming near ones. Never touches the disk.
    """
    wanted = unicodedata.normalize("NFC", name).strip()
    label, _, path = wanted.partition("/")
    with snapshot(conn):
        if found := document(conn, label, path):
            return found
        rows = conn.execute(f"{_DOCUMENT} WHERE path = ? LIMIT 2", (wanted,)).fetchall()
        if len(rows) == 1:
            return _document(rows[0])
        if len(rows) > 1:
            both = " and ".join(_document(row).name for row in rows)
            raise NotFound(f"{shown(wanted)} could be {both}", "Name it as label/path.")
        near = _near(conn, wanted)
    raise NotFound(
        f"there is no document {shown(wanted)} in this index",
        f"Did you mean {', '.join(near)}?" if near else "Name it as a hit does: label/path.",
    )


def document_text(
    conn: sqlite3.Connection, label: str, path: str
) -> tuple[str, list[tuple[int, Place]]]:
    """The extracted text and its place marks (offset in code points, place). Raises NotFound."""
    row = conn.execute(
        "SELECT t.text, t.marks FROM texts t JOIN files f ON f.id = t.file_id WHERE f.label = ?"
        " AND f.path = ?",
        (label, path),
    ).fetchone()
    if row is None:
        raise NotFound(f"there is no text of {label}/{path} in this index")
    return unpack_text(*row)


def documents_in(
    conn: sqlite3.Connection, states: Sequence[str], limit: int = 100
) -> list[StoredDocument]:
    """Files in these states, by name."""
    rows = conn.execute(
        f"{_DOCUMENT} WHERE state IN (SELECT value FROM json_each(?)) ORDER BY label, path LIMIT ?",
        (json.dumps([str(state) for state in states]), limit),
    ).fetchall()
    return [_document(row) for row in rows]


def empty_documents(conn: sqlite3.Connection, limit: int = 100) -> list[StoredDocument]:
    """Files that were read and hold nothing, by name."""
    rows = conn.execute(
        f"{_DOCUMENT} WHERE state = ? AND reason = ? ORDER BY label, path LIMIT ?",
        (FileState.READY, Reason.EMPTY, limit),
    ).fetchall()
    return [_document(row) for row in rows]


def failures(conn: sqlite3.Connection, files: Iterable[int]) -> dict[int, str]:
    """Of each of these files: how many passages have no vector for good, and why the first."""
    rows = conn.execute(
        "SELECT file_id, last_error, count(*) FROM chunks WHERE state = ? AND last_error != ''"
        " AND file_id IN (SELECT value FROM json_each(?)) GROUP BY file_id",
        (ChunkState.FAILED, json.dumps(list(files))),
    )
    return {
        file: f"{count} without a vector: {why}" if count > 1 else why for file, why, count in rows
    }


def runs(conn: sqlite3.Connection, limit: int = 10) -> list[dict[str, Any]]:
    """The history of runs, newest first."""
    names = ("id", "started_at", "ended_at", "scope", "force", "status", "counts", "error")
    rows = conn.execute(
        f"SELECT {', '.join(names)} FROM runs ORDER BY id DESC LIMIT ?", (limit,)
    ).fetchall()
    out = [dict(zip(names, row, strict=True)) for row in rows]
    for run in out:
        run["counts"] = stored.parsed(run["counts"], dict)
        run["force"] = bool(run["force"])
    return out


def index_info(conn: sqlite3.Connection) -> dict[str, Any]:
    """Everything the database knows of itself, as JSON types; keys are always there (null where
    nothing is known)."""
    with snapshot(conn):
        counts = kb_counts(conn)
        serving = generations.live(conn)
        reasons = conn.execute(
            "SELECT reason, count(*) FROM files WHERE reason != '' GROUP BY reason ORDER BY 2"
            " DESC, 1"
        ).fetchall()
        labels = conn.execute(
            "SELECT label, count(*), sum(chunk_count), max(indexed_at) FROM files GROUP BY label"
            " ORDER BY label"
        ).fetchall()
        meta = dict(conn.execute("SELECT key, value FROM meta").fetchall())
        return {
            "schema": schema_version(conn),
            "commit": commit_number(conn),
            "files": dict(counts.files),
            "reasons": dict(reasons),
            "chunks": counts.chunks,
            "chunks_pending": counts.pending,
            "chunks_unserved": unserved_count(conn),
            "chunks_indexed": counts.indexed,
            "chunks_failed": counts.failed,
            "chunks_with_context": _count(conn, "SELECT count(*) FROM chunks WHERE context != ''"),
            "chunks_given_up": _given_up(conn),
            "labels": {
                label: {"files": files, "chunks": total or 0, "indexed_at": last}
                for label, files, total, last in labels
            },
            "embedding": serving[1].to_json() if serving else None,
            "embedding_off": generations.target(conn) == 0,
            "embedding_building": generations.target(conn) not in _settled(serving),
            "sources": stored.parsed(meta.get("sources", "{}"), dict),
            "progress": _object(meta, "progress"),
            "last_run": _last_run(conn),
            "calibration": _object(meta, "calibration"),
        }


def _given_up(conn: sqlite3.Connection) -> int:
    """How many chunks have no context and are asked for no more."""
    return _count(conn, _GIVEN_UP) if schema_version(conn) >= _WITH_MAKING else 0


def _object(meta: Mapping[str, str], key: str) -> dict[str, Any] | None:
    return stored.parsed(meta[key], dict) if key in meta else None


def _last_run(conn: sqlite3.Connection) -> dict[str, Any] | None:
    last = next(iter(runs(conn, 1)), None)
    if last and last["status"] == "running" and holder(conn, WRITER) is None:
        # Killed: the next run writes it down.
        last["status"] = "interrupted"
    return last


def _settled(serving: tuple[int, Any] | None) -> tuple[int | None, ...]:
    return (None, 0, serving[0]) if serving else (None, 0)


def _count(conn: sqlite3.Connection, sql: str) -> int:
    return int(conn.execute(sql).fetchone()[0])


def _near(conn: sqlite3.Connection, wanted: str) -> list[str]:
    tail = wanted.rsplit("/", 1)[-1].casefold()
    names = [
        f"{label}/{path}"
        for label, path in conn.execute("SELECT label, path FROM files LIMIT 20000")
    ]
    same = [name for name in names if name.rsplit("/", 1)[-1].casefold() == tail]
    return same[:3] or get_close_matches(wanted, names[:5000], n=3, cutoff=0.7)


def _stored(row: tuple[Any, ...]) -> StoredChunk:
    values = list(row)
    stored.texts(values[3], values[7], *values[12:14], *values[15:19])
    values[6], values[8] = stored.path(values[6]), stored.place(values[8])
    values[11], values[20] = stored.parsed(values[11], dict), stored.parsed(values[20], dict)
    return StoredChunk(*values)


def _document(row: tuple[Any, ...]) -> StoredDocument:
    values = list(row)
    values[13] = stored.parsed(values[13], dict)
    return StoredDocument(*values)
