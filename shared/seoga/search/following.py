"""What came into an index or was renamed since the last look: for whoever keeps names in memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

Row = tuple[int, str, str, str]

ROWS: Final = "SELECT id, label, path, title FROM files"
_RENAMED: Final = (
    "SELECT f.id, f.label, f.path, f.title FROM renamed r JOIN files f ON f.id = r.file_id"
    " WHERE r.id > ?"
)


class Following:
    """How far the files of one index were read. For one thread at a time."""

    def __init__(self) -> None:
        self._at = (0, 0)

    def follow(self, conn: sqlite3.Connection) -> tuple[Iterable[Row], bool]:
        """(id, label, path, title) of what is new or renamed since the last call, and whether
        that is everything there is, because what came between is not known.

        Removed files are not told: their ids never come again.
        """
        last_file, last_change = self._at
        known = conn.execute("SELECT 1 FROM sqlite_master WHERE name = 'renamed'").fetchone()
        kept, change = (1, 0)
        if known:
            kept, change = conn.execute(
                "SELECT coalesce(min(id), 1), coalesce(max(id), 0) FROM renamed"
            ).fetchone()
        whole = not known or kept > last_change + 1
        since = 0 if whole else last_file
        newest = conn.execute("SELECT coalesce(max(id), 0) FROM files").fetchone()[0]
        # A connection may look at an older state than the last one did: what was read stays read.
        at = (max(last_file, newest), max(last_change, change))
        new = conn.execute(f"{ROWS} WHERE id > ? ORDER BY id", (since,))
        if whole or change <= last_change:
            return self._up_to(at, new), whole
        return self._up_to(at, chain(conn.execute(_RENAMED, (last_change,)), new)), False

    def _up_to(self, at: tuple[int, int], rows: Iterable[Row]) -> Iterator[Row]:
        yield from rows
        self._at = at
