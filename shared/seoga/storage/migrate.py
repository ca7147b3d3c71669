"""Numbered, append-only SQL migrations, one transaction each, safe for two first openers."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Literal

from seoga.errors import StorageError

Kind = Literal["rag", "queue", "embedding"]

FOLDER = Path(__file__).parent / "migrations"
APPLICATION_ID = 0x53454F47  # "SEOG": tells our databases from those of other products


@cache
def migrations(kind: Kind, folder: Path = FOLDER) -> tuple[str, ...]:
    """The SQL texts of a kind, in order; the file name starts with the number, which counts from 1
    without gaps."""
    files = sorted((folder / kind).glob("[0-9][0-9][0-9][0-9]_*.sql"))
    if [int(file.name[:4]) for file in files] != list(range(1, len(files) + 1)):
        raise StorageError(f"the migrations in {folder / kind} are not numbered 1..{len(files)}")
    return tuple(file.read_text(encoding="utf-8") for file in files)


def schema_version(conn: sqlite3.Connection) -> int:
    """`PRAGMA user_version`: the number of the last migration, 0 for an empty database."""
    return int(conn.execute("PRAGMA user_version").fetchone()[0])


def refuse_newer(conn: sqlite3.Connection, kind: Kind, name: str, folder: Path = FOLDER) -> int:
    """The schema version; raises StorageError when it is newer than this program knows."""
    version, known = schema_version(conn), len(migrations(kind, folder))
    if version > known:
        raise StorageError(
            f"{name} has schema {version}, written by a newer Seoga; this one knows {known}",
            "Update this installation; the database was not touched.",
        )
    return version


def migrate(conn: sqlite3.Connection, kind: Kind, name: str, folder: Path = FOLDER) -> None:
    """Brings the database up to date. `name` is for messages. Raises StorageError for a newer or a
    foreign database."""
    steps = migrations(kind, folder)
    if refuse_newer(conn, kind, name, folder) == len(steps):
        _refuse_foreign(conn, name)
        return
    for number, script in enumerate(steps, start=1):
        conn.execute("BEGIN IMMEDIATE")
        try:
            # Asked again under the write lock: another process may have been first.
            if refuse_newer(conn, kind, name, folder) < number:
                _refuse_foreign(conn, name)
                for statement in statements(script):
                    conn.execute(statement)
                conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                conn.execute(f"PRAGMA user_version = {number}")
            conn.execute("COMMIT")
        except BaseException:
            if conn.in_transaction:
                conn.execute("ROLLBACK")
            raise


def statements(script: str) -> Iterator[str]:
    """The statements of a script. (`executescript` would commit the transaction that makes a
    migration atomic.)"""
    pending = ""
    for part in re.split("(?<=;)", script):
        pending += part
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
    if any(line.strip() and not line.lstrip().startswith("--") for line in pending.splitlines()):
        raise StorageError(f"a migration ends inside a statement: {pending.strip()[:80]}")


def _refuse_foreign(conn: sqlite3.Connection, name: str) -> None:
    written = conn.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if written and conn.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise StorageError(
            f"{name} was written by another product",
            "Move the file away; the index is rebuilt from the documents.",
        )
