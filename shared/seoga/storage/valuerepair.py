"""Mends rows whose values nobody can read: made again from what names them, or from the files."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from seoga.storage import generations
from seoga.storage.audit import VALUES_OF, Fault

# Kept by SQLite from what a column says as JSON: where that is none, no row can be deleted.
_STATING = "files_stating"


def mend(conn: sqlite3.Connection, faults: Mapping[str, Sequence[Fault]]) -> set[int]:
    """Mends what the check of values found. Returns the ids of the files to be read again, of
    which those whose own rows were damaged are gone: a run finds them as new."""
    found = {fault.what: fault.rows for fault in faults.get("values", ())}
    files = found.get(VALUES_OF["files"], ())
    if found or faults.get("database"):
        _index_anew(conn, files)
    for table, mender in _MENDERS.items():
        mender(conn, found.get(VALUES_OF[table], ()))
    return {*files, *found.get(VALUES_OF["chunks"], ())}


def _index_anew(conn: sqlite3.Connection, files: Sequence[Any]) -> None:
    made = conn.execute("SELECT sql FROM sqlite_master WHERE name = ?", (_STATING,)).fetchone()
    if made:
        conn.execute(f"DROP INDEX {_STATING}")
    # Two rows of one name are told by the next audit.
    with suppress(sqlite3.IntegrityError):
        conn.execute("REINDEX")
    conn.executemany("DELETE FROM files WHERE id = ?", [(file_id,) for file_id in files])
    if made:
        conn.execute(made[0])


def _models(conn: sqlite3.Connection, rows: Sequence[Any]) -> None:
    for row in rows:
        card = conn.execute(
            "SELECT CAST(key AS BLOB) FROM generations WHERE id = ?", (row,)
        ).fetchone()
        try:
            generations.rewrite_card(conn, row, card[0].decode("utf-8"))
        except (UnicodeDecodeError, ValueError, IndexError):
            # Nobody knows whose vectors these are.
            conn.execute("DELETE FROM vectors WHERE generation = ?", (row,))
            conn.execute("DELETE FROM generations WHERE id = ?", (row,))


def _runs(conn: sqlite3.Connection, rows: Sequence[Any]) -> None:
    conn.executemany("DELETE FROM runs WHERE id = ?", [(row,) for row in rows])


def _facts(conn: sqlite3.Connection, rows: Sequence[Any]) -> None:
    conn.executemany("DELETE FROM meta WHERE key = ?", [(row,) for row in rows])
    if "commit" in rows:
        # Above all that readers have seen: they compare.
        conn.execute("INSERT INTO meta VALUES ('commit', ?)", (str(int(time.time())),))


_MENDERS: dict[str, Callable[[sqlite3.Connection, Sequence[Any]], None]] = {
    "generations": _models,
    "runs": _runs,
    "meta": _facts,
}
