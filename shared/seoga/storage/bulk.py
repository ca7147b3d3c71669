"""Many rows by few statements: a statement of its own for each row costs SQLite as much as the row,
and gives other threads of this process as many chances to take its turn. Not for FTS5: before a
statement of many rows it writes out what it holds in memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import cache
from itertools import chain

# Parameters of a statement. With more the rows get no cheaper.
_MOST = 50
_ROW = "VALUES {row}"


def put(conn: sqlite3.Connection, statement: str, rows: Sequence[Sequence[object]]) -> None:
    """As `executemany` of an INSERT. `statement` has `VALUES {row}` where the values of a row go;
    all rows are of one length."""
    if not rows:
        return
    width = len(rows[0])
    block = max(_MOST // width, 1)
    whole = len(rows) - len(rows) % block
    many = _filled(statement, width, block)
    for at in range(0, whole, block):
        conn.execute(many, tuple(chain.from_iterable(rows[at : at + block])))
    conn.executemany(_filled(statement, width, 1), rows[whole:])


@cache
def _filled(statement: str, width: int, rows: int) -> str:
    row = f"({', '.join('?' * width)})"
    return statement.replace(_ROW, f"VALUES {', '.join([row] * rows)}")
