"""Reading connections to KB databases, kept for the next search: opening one costs more than most
searches."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from seoga.storage.database import open_reader, snapshot
from seoga.storage.samefile import Identity, identity

_IDLE_PER_KB = 4
_IDLE_TOTAL = 64

_idle: dict[tuple[Path, Identity | None], list[sqlite3.Connection]] = {}
_lock = threading.Lock()


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """One consistent state of a KB's database for the calling thread.

    Raises NotFound when there is no index yet, StorageError when it cannot be used.
    """
    # A database that was replaced (restored, rebuilt) is another one under the same name.
    key = (path, identity(path))
    conn = _taken(key) or open_reader(path, "rag")
    try:
        with snapshot(conn):
            yield conn
    except BaseException:
        # Whatever went wrong, nobody else should meet it again on this connection.
        conn.close()
        raise
    _give_back(key, conn)


def close_readers(path: Path | None = None) -> None:
    """Closes what is idle: of one database, or (None) of all."""
    with _lock:
        gone = [key for key in _idle if path is None or key[0] == path]
        conns = [conn for key in gone for conn in _idle.pop(key)]
    for conn in conns:
        conn.close()


def _taken(key: tuple[Path, Identity | None]) -> sqlite3.Connection | None:
    with _lock:
        conns = _idle.get(key)
        return conns.pop() if conns else None


def _give_back(key: tuple[Path, Identity | None], conn: sqlite3.Connection) -> None:
    stale: list[sqlite3.Connection] = []
    with _lock:
        for other in [each for each in _idle if each[0] == key[0] and each != key]:
            stale += _idle.pop(other)
        conns = _idle.setdefault(key, [])
        if len(conns) < _IDLE_PER_KB:
            conns.append(conn)
        else:
            stale.append(conn)
        if sum(map(len, _idle.values())) > _IDLE_TOTAL:
            # The key used longest ago is first: dicts keep order, and this one moves to the end.
            stale += _idle.pop(next(iter(_idle)))
        if key in _idle:
            _idle[key] = _idle.pop(key)
    for each in stale:
        each.close()
