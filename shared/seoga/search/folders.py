"""Which documents lie in folders that stay out of searches: kept in memory and kept up with, since
every search asks."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from seoga.search.following import Following
from seoga.text.normal import nfc

_KEPT: Final = 64
_Base = tuple[Path, int, int, tuple[str, ...]]


class _Folders:
    """The files of one index below some folders."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._parts = tuple(f"/{name}/" for name in names)
        self._seen = Following()
        self._files: frozenset[int] = frozenset()
        self._lock = threading.Lock()

    def files(self, conn: sqlite3.Connection) -> frozenset[int]:
        with self._lock:
            rows, whole = self._seen.follow(conn)
            left: set[int] = set()
            inside: set[int] = set()
            for file_id, _, path, _ in rows:
                held = f"/{path}/".lower()
                (inside if any(part in held for part in self._parts) else left).add(file_id)
            if whole:
                self._files = frozenset(inside)
            elif inside or left & self._files:
                self._files = self._files - left | inside
            return self._files


class FolderCache:
    """Ids of files by the folders they lie in, for each index and each list of folders that was
    asked for. Threads may share it."""

    def __init__(self) -> None:
        self._known: dict[_Base, _Folders] = {}
        self._lock = threading.Lock()

    def files(
        self, conn: sqlite3.Connection, database: Path, folders: Iterable[str]
    ) -> frozenset[int]:
        """Ids of the files that have one of these names as whole segments in their paths, in any
        case; no character is a wildcard. Files that are gone may be among them."""
        stripped = (nfc(name).strip().strip("/").lower() for name in folders)
        names = tuple(sorted({name for name in stripped if name}))
        if not names:
            return frozenset()
        stat = database.stat()
        key = (database, stat.st_dev, stat.st_ino, names)
        with self._lock:
            known = self._known.pop(key, None) or _Folders(names)
            self._known[key] = known
            if len(self._known) > _KEPT:
                # What was asked for longest ago is first.
                self._known.pop(next(iter(self._known)))
        return known.files(conn)


FOLDERS: Final = FolderCache()
