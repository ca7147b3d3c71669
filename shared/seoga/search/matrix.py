"""All vectors of a KB as int8, scanned exactly: the file of the indexer, mapped into memory.

The mapped pages are shared by all processes of the machine. A process keeps 17 bytes a window of
its own, read from the records. Where there is no such file (an index of an older schema, a file
that was lost) the records are made of the stored vectors, in this process's memory, until the next
run makes the file. Scores found here choose candidates; `semantic` computes those again from the
stored float32.
"""

from __future__ import annotations

import sqlite3
import threading
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from seoga.storage import matrixfile
from seoga.storage.matrixfile import LANGUAGES, quantised
from seoga.storage.reading import commit_number

__all__ = ["LANGUAGES", "Matrix", "MatrixCache"]

Int8 = NDArray[np.int8]
Int64 = NDArray[np.int64]
Float32 = NDArray[np.float32]

# Above this, matrices that were not used lately are let go; the one in use always stays.
MAX_BYTES: Final = 4 << 30
GONE: Final = -1
_BLOCK: Final = 65536


@dataclass(frozen=True)
class Matrix:
    """One state of a generation's vectors; never changed, only replaced. (n,) per window: the
    record, its chunk, its language (place in LANGUAGES, GONE when it counts no more), scale and
    penalty."""

    commit: int
    name: str
    records: NDArray[Any]
    chunks: Int64
    languages: Int8
    scales: Float32
    penalties: Float32
    last_gone: int = 0
    shared: bool = True

    @cached_property
    def files(self) -> Int64:
        """(n,) the file of each window."""
        return np.ascontiguousarray(self.records["file"])

    @property
    def size(self) -> int:
        """Bytes that are this process's own."""
        own = 0 if self.shared else self.records.nbytes
        return own + 17 * len(self.records)

    def scores(self, query: Float32) -> Float32:
        """(n,) about the cosine less penalty of every window, for a (d,) query of unit length."""
        return _products(self.records["v"], query) * self.scales - self.penalties


class MatrixCache:
    """The matrices of this process, by database and generation; threads may share it."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self.max_bytes = max_bytes
        self._held: OrderedDict[_Key, _Holder] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, conn: sqlite3.Connection, path: Path, generation: int, dimension: int) -> Matrix:
        """The matrix as of the connection's snapshot, or a newer one that another thread read."""
        stat = path.stat()
        key = (str(path), stat.st_dev, stat.st_ino, generation)
        with self._lock:
            holder = self._held.setdefault(key, _Holder())
            self._held.move_to_end(key)
        with holder.lock:
            # The number comes first: with it the snapshot begins, and what it counts was written
            # before.
            commit = commit_number(conn)
            matrix = holder.matrix
            if matrix is None or matrix.commit < commit:
                at = _At(conn, path, generation, dimension, commit)
                matrix = holder.matrix = _mapped(at, matrix) or _made(at)
        self._let_go(key)
        return matrix

    def __len__(self) -> int:
        return len(self._held)

    def clear(self) -> None:
        """Lets everything go."""
        with self._lock:
            self._held.clear()

    def _let_go(self, used: _Key) -> None:
        with self._lock:
            # Another file under this name, or an older generation of it, is over.
            for key in [each for each in self._held if each[0] == used[0]]:
                if key[1:3] != used[1:3] or key[3] < used[3]:
                    del self._held[key]
            total = sum(holder.size for holder in self._held.values())
            while total > self.max_bytes and len(self._held) > 1:
                _, gone = self._held.popitem(last=False)
                total -= gone.size


_Key = tuple[str, int, int, int]


class _Holder:
    def __init__(self) -> None:
        self.matrix: Matrix | None = None
        self.lock = threading.Lock()

    @property
    def size(self) -> int:
        return self.matrix.size if self.matrix is not None else 0


@dataclass(frozen=True, slots=True)
class _At:
    """One state of one generation."""

    conn: sqlite3.Connection
    path: Path
    generation: int
    dimension: int
    commit: int


def _mapped(at: _At, old: Matrix | None) -> Matrix | None:
    """The matrix of the generation's file; None when there is none to be used. Only what came
    after `old` is read."""
    found = matrixfile.state(at.conn, at.generation, at.path)
    if found is None:
        return None
    try:
        rows = matrixfile.mapped(found, at.dimension)
    except (OSError, ValueError):
        return None
    if old is None or old.name != found.path.name or len(old.records) > len(rows):
        old = _empty(found.path.name, rows.dtype)
    fresh = rows[len(old.records) :]
    matrix = Matrix(
        at.commit,
        old.name,
        rows,
        np.concatenate([old.chunks, fresh["chunk"]]),
        np.concatenate([old.languages, fresh["lang"]]),
        np.concatenate([old.scales, fresh["scale"]]),
        np.concatenate([old.penalties, fresh["penalty"]]),
        _last_gone(at),
    )
    went = matrixfile.gone(at.conn, at.generation, matrix.chunks, old.last_gone)
    matrix.languages[went] = GONE
    return matrix


def _empty(name: str, dtype: np.dtype[Any]) -> Matrix:
    none = np.zeros(0, dtype)
    return Matrix(-1, name, none, none["chunk"], none["lang"], none["scale"], none["penalty"])


def _last_gone(at: _At) -> int:
    row = at.conn.execute(
        "SELECT coalesce(max(id), 0) FROM matrix_gone WHERE generation = ?", (at.generation,)
    ).fetchone()
    return int(row[0])


def _made(at: _At) -> Matrix:
    """The matrix of the stored vectors, in memory."""
    blocks = list(matrixfile.records(at.conn, at.generation))
    dtype = matrixfile.record(at.dimension)
    rows = np.concatenate(blocks) if blocks else np.zeros(0, dtype)
    own = np.ascontiguousarray
    return Matrix(
        at.commit,
        "",
        rows,
        own(rows["chunk"]),
        own(rows["lang"]),
        own(rows["scale"]),
        own(rows["penalty"]),
        shared=False,
    )


def _products(rows: Int8, query: Float32) -> Float32:
    """(n,) products of (n, d) int8 rows with a (d,) float query."""
    blocks = (rows[at : at + _BLOCK] for at in range(0, len(rows), _BLOCK))
    try:
        import simsimd
    except ImportError:
        # BLAS knows no int8: a block at a time as floats.
        return _joined([block.astype(np.float32) @ query for block in blocks])
    wanted, scale = quantised(query[np.newaxis, :])
    return _joined(
        [
            np.asarray(simsimd.cdist(wanted, block, "dot"), np.float32).reshape(-1) * scale[0]
            for block in blocks
        ]
    )


def _joined(parts: list[Float32]) -> Float32:
    return np.concatenate(parts) if parts else np.zeros(0, np.float32)
