"""Folders that stand as the index has them: a scan passes over their files.

What is said of a folder goes in the transaction that changes a row in it (triggers of the schema)
or that brings a file below it (`forget_above`): no crash leaves a word too many.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class FolderRow(NamedTuple):
    """A folder ("" or ending in "/"), how many files lie in it, and the digest of its listing."""

    label: str
    path: str
    files: int
    digest: bytes


def files_in(conn: sqlite3.Connection, label: str, path: str, digest: bytes) -> int | None:
    """How many files lie in a folder that was left with this listing; None where another one, or
    none, is known."""
    row = conn.execute(
        "SELECT files FROM folders WHERE label = ? AND path = ? AND digest = ?",
        (label, path, digest),
    ).fetchone()
    return int(row[0]) if row else None


def settle(conn: sqlite3.Connection, rows: Sequence[FolderRow]) -> None:
    """Remembers folders whose files were all found unchanged."""
    conn.executemany(
        "INSERT OR REPLACE INTO folders (label, path, files, digest) VALUES (?, ?, ?, ?)", rows
    )


def forget_above(conn: sqlite3.Connection, places: Iterable[tuple[str, str]]) -> None:
    """For new files (label, path): a listing of a folder above that does not name the way to them
    would hide, should it come back, that they are gone."""
    if conn.execute("SELECT 1 FROM folders LIMIT 1").fetchone() is None:
        return
    above = {(label, folder) for label, path in places for folder in _above(path)}
    conn.executemany("DELETE FROM folders WHERE label = ? AND path = ?", sorted(above))


def _above(path: str) -> Iterable[str]:
    at = len(path)
    while at:
        at = path.rfind("/", 0, at)
        yield path[: at + 1]
        at = max(at, 0)
