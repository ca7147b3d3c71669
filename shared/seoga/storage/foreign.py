"""Files of other products where an index of ours is to lie: kept, under another name."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from seoga.storage.database import error_code
from seoga.storage.migrate import APPLICATION_ID

_PARTS = ("", "-wal", "-shm", "-journal")


def is_foreign(path: Path) -> bool:
    """True for a file that is no database of ours: another product's, or no database at all."""
    if not path.is_file() or not path.stat().st_size:
        return False
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as conn:
            ours = conn.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
            tables = conn.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    except sqlite3.DatabaseError as error:
        # Locked or unreadable for now says nothing of whose it is.
        return error_code(error) == sqlite3.SQLITE_NOTADB
    return bool(tables) and not ours


def set_aside(path: Path) -> Path:
    """Renames a file to `.bak` (`.bak-2` … where that is taken), with what belongs to it."""
    aside, number = path.with_name(path.name + ".bak"), 2
    while aside.exists():
        aside, number = path.with_name(f"{path.name}.bak-{number}"), number + 1
    for part in _PARTS:
        beside = path.with_name(path.name + part)
        if beside.exists():
            beside.replace(aside.with_name(aside.name + part))
    return aside
