"""Databases that are moved away, replaced or deleted while somebody has them open: what is written
into such a file is lost with the last process that knows it."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path

from seoga import logs
from seoga.errors import StorageError
from seoga.storage.database import open_writer
from seoga.storage.migrate import Kind

Identity = tuple[int, int]

log = logs.get("storage")


def identity(path: Path) -> Identity | None:
    """Which file a name means now; None where there is none."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return (stat.st_dev, stat.st_ino)


class HeldOpen:
    """A writing connection to the file that a name means, whichever that is at the time. For one
    thread at a time. Raises what `open_writer` raises."""

    def __init__(self, path: Path, kind: Kind) -> None:
        self.path, self.kind = path, kind
        self._conn = open_writer(path, kind)
        self._file = identity(path)

    @property
    def conn(self) -> sqlite3.Connection:
        """The connection; another one, to a file that is made where there is none, once the file
        is not the same any more. Raises StorageError when its folder is gone too."""
        if self._conn.in_transaction or self._is_same():
            return self._conn
        if not self.path.parent.is_dir():
            raise StorageError(
                f"{self.path.parent} is not there any more",
                "Move it back: what is in use must stay where it is.",
            )
        log.warning(
            "a database was moved or replaced while it was in use: the one that is there now, or a"
            " new one, is used from here on",
            file=str(self.path),
        )
        # SQLite leaves the -wal and the -shm of a database that has moved alone.
        self.close()
        self._conn = open_writer(self.path, self.kind)
        self._file = identity(self.path)
        return self._conn

    def check(self) -> None:
        """Inside a transaction, at its end: raises StorageError when what it wrote is lost."""
        if not self._is_same():
            raise StorageError(
                f"{self.path} was moved or replaced while it was written",
                "Nothing was written; ask again.",
            )

    def close(self) -> None:
        """Closes the connection."""
        with suppress(sqlite3.Error):
            self._conn.close()

    def _is_same(self) -> bool:
        return self._file is not None and identity(self.path) == self._file
