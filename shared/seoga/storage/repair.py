"""Makes an index whole again from what is right in it; what cannot be derived is left to a run.

All functions run inside the caller's write transaction, under the lease.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from seoga.models import ChunkState, FileState
from seoga.storage import generations, valuerepair
from seoga.storage.audit import DISPUTED, Fault
from seoga.storage.spoken import Words, misspoken

_GONE = (
    "DELETE FROM vectors WHERE chunk_id NOT IN (SELECT id FROM chunks)"
    " OR generation NOT IN (SELECT id FROM generations)",
    "DELETE FROM texts WHERE file_id NOT IN (SELECT id FROM files)",
    "DELETE FROM chunks WHERE file_id NOT IN (SELECT id FROM files)",
)


def repair(
    conn: sqlite3.Connection, faults: Mapping[str, Sequence[Fault]], words: Words | None = None
) -> int:
    """Mends what `audit` found. Returns how many files the next run makes again; what they have
    in common with other files (extraction, vectors of the same words) is used again.

    Damaged pages are not mended: those of an index are made again from the documents.
    """
    unread = valuerepair.mend(conn, faults)
    if any(faults.get(name) for name in ("vector file", "vectors", "database")):
        # Searches use the stored vectors until the file is made of them again.
        conn.execute("DELETE FROM matrices")
    for statement in _GONE:
        conn.execute(statement)
    if faults.get("folders"):
        conn.execute("DELETE FROM folders")
    files = _broken_files(conn, faults) | unread
    _forget(conn, files)
    if files or faults.get("keyword index") or faults.get("terms") or faults.get("database"):
        if words is not None:
            _respeak(conn, words)
        _keyword(conn)
        _terms(conn)
    for fault in (*faults.get("vectors", ()), *faults.get("vector file", ())):
        _MEND.get(fault.what, _nothing)(conn, fault.rows)
    conn.execute("DELETE FROM extractions WHERE hash NOT IN (SELECT hash FROM files)")
    damaged = [f.rows for f in faults.get("kept extractions", ()) if f.what == "damaged"]
    for rows in damaged:
        conn.executemany("DELETE FROM extractions WHERE id = ?", [(row,) for row in rows])
    generations.recompute(conn)
    generations.swap(conn)
    return len(files)


def _broken_files(conn: sqlite3.Connection, faults: Mapping[str, Sequence[Fault]]) -> set[int]:
    """Files whose passages cannot be trusted."""
    found = {
        int(row)
        for fault in faults.get("files", ())
        if fault.what != "files whose state does not follow from their chunks"
        for row in fault.rows
    }
    unspoken = "SELECT file_id FROM chunks WHERE id NOT IN (SELECT id FROM chunks_fts_docsize)"
    return found | {row[0] for row in conn.execute(unspoken)}


def _forget(conn: sqlite3.Connection, files: Iterable[int]) -> None:
    """Without passages, and made by nothing: the next run makes them as if they were new."""
    each = [(file_id,) for file_id in sorted(files)]
    conn.executemany("DELETE FROM chunks WHERE file_id = ?", each)
    conn.executemany("DELETE FROM texts WHERE file_id = ?", each)
    conn.executemany(
        f"UPDATE files SET made = '', chunk_count = 0, state = '{FileState.FAILED}',"
        " stage = 'extract', reason = 'internal', detail = 'dropped by doctor' WHERE id = ?",
        each,
    )


def _respeak(conn: sqlite3.Connection, words: Words) -> None:
    """Before the keyword index is made again from its own rows, those say what the text says."""
    conn.executemany(
        "UPDATE chunks_fts_content SET c0 = ?, c1 = ?, c2 = ?, c3 = ?, c4 = ? WHERE id = ?",
        [(*tokens, chunk_id) for chunk_id, tokens in list(misspoken(conn, words))],
    )


def _keyword(conn: sqlite3.Connection) -> None:
    gone = conn.execute(
        "SELECT id FROM chunks_fts_docsize WHERE id NOT IN (SELECT id FROM chunks)"
    ).fetchall()
    conn.executemany("DELETE FROM chunks_fts WHERE rowid = ?", gone)
    conn.execute("INSERT INTO chunks_fts (chunks_fts) VALUES ('rebuild')")


def _terms(conn: sqlite3.Connection) -> None:
    conn.execute(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary"
        " USING fts5vocab ('main', 'chunks_fts', 'row')"
    )
    conn.execute("DELETE FROM terms")
    conn.execute("INSERT INTO terms (term, df) SELECT term, doc FROM temp.vocabulary")
    conn.execute("INSERT INTO terms_trigram (terms_trigram) VALUES ('rebuild')")


def _wait(conn: sqlite3.Connection, rows: Sequence[Any]) -> None:
    conn.executemany(
        f"UPDATE chunks SET state = '{ChunkState.PENDING}', attempts = 0 WHERE id = ?",
        [(row,) for row in rows],
    )


def _no_wait(conn: sqlite3.Connection, _: Sequence[Any]) -> None:
    conn.execute(
        f"UPDATE chunks SET state = '{ChunkState.INDEXED}' WHERE state = '{ChunkState.PENDING}'"
    )


def _drop_vectors(conn: sqlite3.Connection, rows: Sequence[Any]) -> None:
    conn.executemany("DELETE FROM vectors WHERE generation = ? AND chunk_id = ?", rows)
    target = generations.target(conn)
    _wait(conn, [chunk_id for generation, chunk_id in rows if generation == target])


def _one_live(conn: sqlite3.Connection, _: Sequence[Any]) -> None:
    conn.execute(
        "UPDATE generations SET status = 'retired' WHERE status = 'live' AND id !="
        " (SELECT max(id) FROM generations WHERE status = 'live')"
    )


def _no_target(conn: sqlite3.Connection, _: Sequence[Any]) -> None:
    # The next run says what it wants, and which chunks wait for it.
    generations.forget_target(conn)


def _nothing(_: sqlite3.Connection, __: Sequence[Any]) -> None:
    return


_MEND: dict[str, Callable[[sqlite3.Connection, Sequence[Any]], None]] = {
    "chunks said to have vectors that have none": _wait,
    "chunks that wait though none are wanted": _no_wait,
    "vectors that are none of their model": _drop_vectors,
    "vectors that are not as they were written": _drop_vectors,
    DISPUTED: _drop_vectors,
    "models that serve at once": _one_live,
    "the model that is wanted is not there": _no_target,
}
