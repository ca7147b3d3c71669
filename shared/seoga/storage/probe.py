"""Whether this SQLite can do what the index needs, tried on tables in memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from seoga.errors import StorageError
from seoga.storage.database import check_sqlite, open_reader, speaking, way_out
from seoga.storage.migrate import Kind

# As in the migrations: whatever is not a space belongs to the token.
_WORDS = (
    "CREATE VIRTUAL TABLE t USING fts5 (x, tokenize ="
    " \"unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Z* C*' separators ' '\")"
)
_TRIGRAMS = "CREATE VIRTUAL TABLE t USING fts5 (x, tokenize = 'trigram')"


def sqlite_report() -> str:
    """The version in words. Raises StorageError when it is too old or lacks FTS5."""
    check_sqlite()
    finds_trigram("abcdef", "cde")
    return f"SQLite {sqlite3.sqlite_version} with FTS5 and trigram"


def refuse_damaged(path: Path, kind: Kind) -> None:
    """Reads every page of a small database. Raises StorageError with the way out when one is
    damaged, NotFound when there is none."""
    with closing(open_reader(path, kind)) as conn, speaking(path):
        said = conn.execute("PRAGMA quick_check(3)").fetchall()
    if said != [("ok",)]:
        why = "; ".join(" ".join(str(line).split()) for (line,) in said)
        raise StorageError(f"{path}: the database is corrupt ({why[:300]})", way_out(path))


def finds_token(tokens: str, wanted: Sequence[str]) -> bool:
    """Whether a row of space-separated tokens is found by all of `wanted`."""
    return _finds(_WORDS, tokens, " AND ".join(_quoted(token) for token in wanted))


def finds_trigram(text: str, part: str) -> bool:
    """Whether `text` is found by a part of it of three characters or more."""
    return _finds(_TRIGRAMS, text, _quoted(part))


def _finds(table: str, text: str, match: str) -> bool:
    try:
        with closing(sqlite3.connect(":memory:")) as conn:
            conn.execute(table)
            conn.execute("INSERT INTO t (x) VALUES (?)", (text,))
            return bool(conn.execute("SELECT 1 FROM t WHERE t MATCH ?", (match,)).fetchone())
    except sqlite3.Error as error:
        raise StorageError(
            f"SQLite {sqlite3.sqlite_version}: {error}",
            "A Python whose SQLite has FTS5 is needed (3.35 or newer).",
        ) from error


def _quoted(token: str) -> str:
    return '"' + token.replace('"', '""') + '"'
