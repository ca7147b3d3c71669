"""Rows written many at a time are the rows written one by one."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from seoga.storage.bulk import put

INSERT = "INSERT INTO t (id, text) VALUES {row}"
COUNT = "INSERT INTO t (id, text) VALUES {row} ON CONFLICT (id) DO UPDATE SET text = excluded.text"


def written(statement: str, rows: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(":memory:")) as conn:
        conn.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)")
        put(conn, statement, rows)
        return conn.execute("SELECT id, text FROM t ORDER BY id").fetchall()


@pytest.mark.parametrize("count", [0, 1, 2, 249, 250, 251, 500, 1234])
def test_every_row_arrives_once_whatever_their_number(count: int) -> None:
    rows: list[tuple[object, ...]] = [(number, f"글 {number}\0'?") for number in range(count)]
    assert written(INSERT, rows) == rows


def test_a_row_that_comes_twice_is_counted_as_its_statement_says() -> None:
    assert written(COUNT, [(1, "a"), (1, "b")] * 400) == [(1, "b")]


def test_a_row_that_does_not_fit_is_told() -> None:
    with pytest.raises(sqlite3.IntegrityError):
        written(INSERT, [(number % 300, "") for number in range(600)])
