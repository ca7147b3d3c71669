"""All names of an index by what they may be called: found without a walk through the documents,
and kept up with in the time of what changed."""

from __future__ import annotations

import json
import sqlite3
import threading
from array import array
from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from seoga.search.following import ROWS, Following, Row
from seoga.search.references import folded, number_key, stem_key

Key = tuple[str, str]
Int64 = NDArray[np.int64]

# Above, and above a quarter of all, what came since is sorted in.
_LOOSE: Final = 4096


class NameIndex:
    """Hashes of keys with the ids of files, 16 bytes a key, about five keys a document.

    A name that is gone leaves its hashes behind: whoever looks one up reads the row and compares,
    which also settles two keys of one hash. Threads may share it.
    """

    def __init__(self) -> None:
        self._hashes: Int64 = np.zeros(0, np.int64)
        self._files: Int64 = np.zeros(0, np.int64)
        self._loose: dict[int, list[int]] = {}
        self._loosely = 0
        self._seen = Following()
        self._lock = threading.Lock()

    def files(self, conn: sqlite3.Connection, wanted: Iterable[Key]) -> set[int]:
        """Ids of all files that may be called so in the state that this connection sees, and of
        some that are not."""
        with self._lock:
            self._follow(conn)
            out: set[int] = set()
            hashes = sorted(map(hash, wanted))
            first = np.searchsorted(self._hashes, np.array(hashes, np.int64), "left")
            last = np.searchsorted(self._hashes, np.array(hashes, np.int64), "right")
            for key, start, end in zip(hashes, first.tolist(), last.tolist(), strict=True):
                out.update(self._files[start:end].tolist())
                out.update(self._loose.get(key, ()))
            return out

    def _follow(self, conn: sqlite3.Connection) -> None:
        """Reads what came or was renamed since the last time; everything where that is unknown."""
        rows, whole = self._seen.follow(conn)
        if whole:
            self._hashes = self._files = np.zeros(0, np.int64)
            self._loose, self._loosely = {}, 0
        self._add(rows)

    def _add(self, rows: Iterable[Row]) -> None:
        hashes, files = array("q"), array("q")
        for file_id, label, path, title in rows:
            keys = keys_of_file(label, path, title)
            hashes.extend(map(hash, keys))
            files.extend([file_id] * len(keys))
        self._loosely += len(hashes)
        if self._loosely <= max(_LOOSE, len(self._hashes) // 4):
            for key, file_id in zip(hashes, files, strict=True):
                self._loose.setdefault(key, []).append(file_id)
        else:
            self._sort_in(hashes, files)

    def _sort_in(self, hashes: array[int], files: array[int]) -> None:
        for key, ids in self._loose.items():
            hashes.extend([key] * len(ids))
            files.extend(ids)
        joined = np.concatenate([self._hashes, np.frombuffer(hashes, np.int64)])
        order = np.argsort(joined, kind="stable")
        self._hashes = joined[order]
        self._files = np.concatenate([self._files, np.frombuffer(files, np.int64)])[order]
        self._loose, self._loosely = {}, 0


def keys_of_file(label: str, path: str, title: str) -> list[Key]:
    """What a document may be called by: kind (path, stem, number, title) and key."""
    key = folded(path)
    stem = stem_key(key)
    out: list[Key] = [("path", key), ("path", folded(f"{label}/{path}")), ("stem", stem)]
    name, dot, _ = key.rpartition(".")
    if dot:
        # Links of site generators leave the extension out.
        out.append(("path", name))
    if number := number_key(stem):
        out.append(("number", number))
    if title:
        out.append(("title", folded(" ".join(title.split()))))
        if (number := number_key(title)) and not number.startswith(":"):
            out.append(("number", number))
    return out


def rows_of(conn: sqlite3.Connection, files: Iterable[int]) -> Iterator[Row]:
    """(id, label, path, title) of those of these files that are there, by id."""
    yield from conn.execute(
        f"{ROWS} WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id",
        (json.dumps(sorted(files)),),
    )
