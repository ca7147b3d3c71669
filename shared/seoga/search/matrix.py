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
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from seoga.search.sketch import estimates
from seoga.storage import matrixfile, sketchfile
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
# Rows that are copied at once: two megabytes of the usual 512 numbers.
_GATHERED: Final = 4096


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
    sketch: sketchfile.Sketch | None = None

    @cached_property
    def files(self) -> Int64:
        """(n,) the file of each window."""
        return np.ascontiguousarray(self.records["file"])

    @property
    def size(self) -> int:
        """Bytes that are this process's own."""
        own = 0 if self.shared else self.records.nbytes
        return own + 17 * len(self.records)

    def scores(self, query: Float32, places: NDArray[np.intp] | None = None) -> Float32:
        """About the cosine less penalty of every window (n,), or of those at (m,) places, for a
        (d,) query of unit length."""
        if places is None:
            out = _products(self.records["v"], query)
            out *= self.scales
            out -= self.penalties
            return out
        out = _of(self.records["v"], places, query)
        out *= self.scales[places]
        out -= self.penalties[places]
        return out

    def estimates(self, query: Float32) -> tuple[Float32, Float32] | None:
        """(n,) what the sketch makes of the same, and (n,) the standard deviations of its errors;
        None where there is no sketch."""
        if self.sketch is None:
            return None
        try:
            about = estimates(self.sketch, query)
        except ImportError:
            return None
        # In place, here and below: a million passages make megabytes of each array.
        about -= self.penalties
        return about, self.sketch.rows["spread"]

    def places(self, chunk_ids: Iterable[int]) -> NDArray[np.intp]:
        """Where the windows of these chunks are, chunk by chunk, ids ascending; what counts no
        more is left out."""
        order, chunks = self._by_chunk
        wanted = np.unique(np.fromiter(chunk_ids, np.int64))
        first = np.searchsorted(chunks, wanted)
        counts = np.searchsorted(chunks, wanted, "right") - first
        # All of first[0] .. first[0] + counts[0] - 1, then those of the next.
        steps = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        places = np.repeat(first, counts) + steps
        if order is not None:
            places = order[places]
        found: NDArray[np.intp] = places[self.languages[places] != GONE]
        return found

    @cached_property
    def _by_chunk(self) -> tuple[NDArray[np.intp] | None, Int64]:
        """The places in the order of their chunks (None: they are), and (n,) the chunks so."""
        if len(self.chunks) < 2 or bool(np.all(self.chunks[1:] >= self.chunks[:-1])):
            return None, self.chunks
        order = np.argsort(self.chunks, kind="stable")
        return order, self.chunks[order]


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
    sketch = sketchfile.mapped(found.path, len(rows), at.dimension)
    matrix = Matrix(
        at.commit,
        old.name,
        rows,
        np.concatenate([old.chunks, fresh["chunk"]]),
        np.concatenate([old.languages, fresh["lang"]]),
        # With a sketch only few are asked for: they may stay where they are.
        rows["scale"] if sketch is not None else np.ascontiguousarray(rows["scale"]),
        np.concatenate([old.penalties, fresh["penalty"]]),
        _last_gone(at),
        sketch=sketch,
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


def _of(rows: Int8, places: NDArray[np.intp], query: Float32) -> Float32:
    """(m,) products of the rows at (m,) places."""
    blocks = (places[at : at + _GATHERED] for at in range(0, len(places), _GATHERED))
    return _joined([_products(rows[block], query) for block in blocks])


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
