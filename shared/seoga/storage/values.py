"""Rows with a value that nobody can read: text that is no UTF-8, JSON that is none, a value of
another kind than its column's."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from seoga.storage import stored

_Reads = Callable[[Any], Any]


def _object(text: Any) -> dict[str, Any]:
    return stored.parsed(text, dict)


_JSON: Final[Mapping[str, Mapping[str, _Reads]]] = {
    "files": {"meta": _object},
    "chunks": {
        "heading_path": stored.path,
        "place": stored.place,
        "meta": _object,
    },
    "generations": {"card": stored.card},
    "runs": {"counts": _object},
}
# What a row is told by: chunks by their file, which is what is made again.
_KEYS: Final = {"files": "id", "chunks": "file_id", "generations": "id", "runs": "id"}
_META: Final[Mapping[str, _Reads]] = {
    "commit": stored.number,
    "generation": stored.number,
    "prompt": str,
}


def unreadable(conn: sqlite3.Connection) -> Iterator[tuple[str, list[Any]]]:
    """(table, keys) of the rows of each table that hold such a value."""
    for table, key in _KEYS.items():
        found = dict.fromkeys(_rows(conn, table, key))
        if found:
            yield table, list(found)
    if wrong := list(_meta(conn)):
        yield "meta", wrong


def _rows(conn: sqlite3.Connection, table: str, key: str) -> Iterator[Any]:
    kinds = {
        name: kind.lower()
        for _, name, kind, *_ in conn.execute(f"PRAGMA table_info ({table})")
        if kind.upper() in ("TEXT", "INTEGER")
    }
    names = [name for name, kind in kinds.items() if kind == "text"]
    reads = {names.index(name): read for name, read in _JSON[table].items()}
    bytes_of = ", ".join(f"CAST({name} AS BLOB)" for name in names)
    of_kind = " AND ".join(f"typeof({name}) IN ('{kind}', 'null')" for name, kind in kinds.items())
    rows = conn.execute(f"SELECT {key}, {of_kind}, {bytes_of} FROM {table}")
    for row_key, right, *values in rows:
        if not right or not _readable(values, reads):
            yield row_key


def _readable(values: list[bytes], reads: Mapping[int, _Reads]) -> bool:
    try:
        texts = [value.decode("utf-8") for value in values]
        for at, read in reads.items():
            # What most rows hold.
            if texts[at] not in ("{}", "[]"):
                read(texts[at])
    except (UnicodeDecodeError, AttributeError, sqlite3.DatabaseError):
        return False
    return True


def _meta(conn: sqlite3.Connection) -> Iterator[str]:
    for key, value in conn.execute("SELECT key, CAST(value AS BLOB) FROM meta"):
        try:
            read: _Reads = _META.get(key, _object)
            read(value.decode("utf-8"))
        except (UnicodeDecodeError, sqlite3.DatabaseError):
            yield key


__all__ = ["unreadable"]
