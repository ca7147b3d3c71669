"""All vectors of a KB in memory as int8, kept in step with the database.

One byte a number: 1,000 chunks of 7 windows and 512 numbers take 3.6 MB, 100,000 take 360 MB. The
scores found here choose candidates; `semantic` computes those again from the stored float32.
"""

from __future__ import annotations

import sqlite3
import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from seoga.search.filters import LANGUAGE_SQL
from seoga.storage.reading import commit_number
from seoga.storage.vectors import unpack

_T = TypeVar("_T", bound=np.generic)

Bools = NDArray[np.bool_]
Int8 = NDArray[np.int8]
Int64 = NDArray[np.int64]
Float32 = NDArray[np.float32]

# Above this, matrices that were not used lately are let go; the one in use always stays.
MAX_BYTES: Final = 4 << 30
LANGUAGES: Final = ("other", "ko", "en")
_BLOCK: Final = 4096


@dataclass(frozen=True, slots=True)
class Part:
    """Chunks that were read together. Per chunk: its row of the vectors table, id, file, language
    (index into LANGUAGES), first window, and whether it still exists. Per window: int8 numbers
    (w, d), their scale, the penalty."""

    row_ids: Int64
    chunk_ids: Int64
    file_ids: Int64
    languages: Int8
    starts: Int64
    alive: Bools
    rows: Int8
    scales: Float32
    penalties: Float32

    def best(self, query: Float32) -> Float32:
        """(chunks,) about the best cosine less penalty of each chunk's windows, for (d,)."""
        scores = _products(self.rows, query) * self.scales - self.penalties
        found: Float32 = np.maximum.reduceat(scores, self.starts)
        return found

    def compact(self) -> Part:
        """Without the chunks that exist no more."""
        if self.alive.all():
            return self
        counts = np.diff(np.append(self.starts, len(self.rows)))
        windows = np.repeat(self.alive, counts)
        kept = counts[self.alive]
        return Part(
            self.row_ids[self.alive],
            self.chunk_ids[self.alive],
            self.file_ids[self.alive],
            self.languages[self.alive],
            _starts(kept),
            np.ones(len(kept), bool),
            self.rows[windows],
            self.scales[windows],
            self.penalties[windows],
        )


@dataclass(frozen=True)
class Matrix:
    """One state of a generation's vectors; never changed, only replaced."""

    commit: int = -1
    parts: tuple[Part, ...] = ()
    last_row: int = 0
    last_chunk: int = 0

    @cached_property
    def chunk_ids(self) -> Int64:
        """(n,) ids of the chunks in all parts."""
        return _concat([part.chunk_ids for part in self.parts], np.int64)

    @cached_property
    def file_ids(self) -> Int64:
        """(n,) their files."""
        return _concat([part.file_ids for part in self.parts], np.int64)

    @cached_property
    def languages(self) -> Int8:
        """(n,) their languages."""
        return _concat([part.languages for part in self.parts], np.int8)

    @cached_property
    def alive(self) -> Bools:
        """(n,) which of them still exist."""
        return _concat([part.alive for part in self.parts], np.bool_)

    @property
    def size(self) -> int:
        """Bytes held."""
        return sum(
            part.rows.nbytes + 8 * len(part.rows) + 34 * len(part.starts) for part in self.parts
        )

    def best(self, query: Float32) -> Float32:
        """(n,) approximate scores of the chunks for a (d,) query of unit length."""
        return _concat([part.best(query) for part in self.parts], np.float32)


class MatrixCache:
    """The matrices of this process, by database and generation; threads may share it."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self.max_bytes = max_bytes
        self._held: OrderedDict[_Key, _Holder] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, conn: sqlite3.Connection, path: Path, generation: int) -> Matrix:
        """The matrix as of the connection's snapshot, or a newer one that another thread read."""
        stat = path.stat()
        key = (str(path), stat.st_dev, stat.st_ino, generation)
        with self._lock:
            holder = self._held.setdefault(key, _Holder())
            self._held.move_to_end(key)
        with holder.lock:
            commit = commit_number(conn)
            if holder.matrix.commit < commit:
                holder.matrix = refreshed(conn, holder.matrix, generation, commit)
            matrix = holder.matrix
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
            total = sum(holder.matrix.size for holder in self._held.values())
            while total > self.max_bytes and len(self._held) > 1:
                _, gone = self._held.popitem(last=False)
                total -= gone.matrix.size


_Key = tuple[str, int, int, int]


class _Holder:
    def __init__(self) -> None:
        self.matrix = Matrix()
        self.lock = threading.Lock()


def refreshed(conn: sqlite3.Connection, old: Matrix, generation: int, commit: int) -> Matrix:
    """`old` brought to the state that `conn` sees: only new rows are read."""
    count = _one(conn, "SELECT count(*) FROM vectors WHERE generation = ?", generation)
    # Row ids grow, and one is used again only after the last row went: so if the last known row
    # still holds its chunk and the numbers agree, nothing known has gone.
    last = _one(conn, "SELECT chunk_id FROM vectors WHERE rowid = ?", old.last_row)
    fresh = _read(conn, generation, old.last_row)
    if last == old.last_chunk and int(old.alive.sum()) + len(fresh.chunk_ids) == count:
        parts = (*old.parts, fresh)
    else:
        parts = _compared(conn, old, generation)
    parts = _tidy([part for part in parts if len(part.chunk_ids)])
    rows = _concat([part.row_ids for part in parts], np.int64)
    if not len(rows):
        return Matrix(commit)
    at = int(rows.argmax())
    chunks = _concat([part.chunk_ids for part in parts], np.int64)
    return Matrix(commit, parts, int(rows[at]), int(chunks[at]))


def _compared(conn: sqlite3.Connection, old: Matrix, generation: int) -> tuple[Part, ...]:
    """Row by row: what vanished is marked, what is new is read."""
    pairs = conn.execute(
        "SELECT rowid, chunk_id FROM vectors WHERE generation = ? ORDER BY rowid", (generation,)
    ).fetchall()
    now = np.array(pairs, np.int64).reshape(-1, 2)
    parts = [replace(part, alive=_found(now, part)) for part in old.parts]
    known = [part.row_ids[part.alive] for part in parts]
    new = np.setdiff1d(now[:, 0], _concat(known, np.int64))
    if len(new):
        parts.append(_read(conn, generation, int(new[0]) - 1, frozenset(new.tolist())))
    return tuple(parts)


def _found(now: Int64, part: Part) -> Bools:
    if not len(now):
        return np.zeros(len(part.row_ids), bool)
    at = np.minimum(np.searchsorted(now[:, 0], part.row_ids), len(now) - 1)
    same: Bools = (now[at, 0] == part.row_ids) & (now[at, 1] == part.chunk_ids)
    return same & part.alive


def _read(
    conn: sqlite3.Connection, generation: int, after: int, only: frozenset[int] | None = None
) -> Part:
    """The rows with ids above `after`, a block at a time (of these, those of `only`)."""
    cursor = conn.execute(
        f"SELECT v.rowid, v.chunk_id, c.file_id, {LANGUAGE_SQL}, v.count, v.data, v.penalties"
        " FROM vectors v JOIN chunks c ON c.id = v.chunk_id JOIN files f ON f.id = c.file_id"
        " WHERE v.generation = ? AND v.rowid > ? ORDER BY v.rowid",
        (generation, after),
    )
    blocks: list[Part] = []
    while found := cursor.fetchmany(_BLOCK):
        rows = [row for row in found if only is None or row[0] in only]
        if rows:
            blocks.append(_block(rows))
    return _merged(blocks)


def _block(rows: list[tuple[int, int, int, str, int, bytes, bytes]]) -> Part:
    row_ids, chunk_ids, file_ids, languages, counts, data, penalties = zip(*rows, strict=True)
    vectors = unpack(b"".join(data), sum(counts))
    quantised, scales = _quantise(vectors)
    return Part(
        np.array(row_ids, np.int64),
        np.array(chunk_ids, np.int64),
        np.array(file_ids, np.int64),
        np.array(
            [LANGUAGES.index(name) if name in LANGUAGES else 0 for name in languages], np.int8
        ),
        _starts(np.array(counts, np.int64)),
        np.ones(len(rows), bool),
        quantised,
        scales,
        np.frombuffer(b"".join(penalties), "<f4"),
    )


def _tidy(parts: list[Part]) -> tuple[Part, ...]:
    """Small parts are merged into their elders, each row a logarithmic number of times; a part
    with a quarter of its chunks gone is made compact."""
    out: list[Part] = []
    for part in parts:
        out.append(part.compact() if part.alive.mean() < 0.75 else part)
        while len(out) > 1 and len(out[-2].rows) < 2 * len(out[-1].rows):
            out[-2:] = [_merged([out[-2].compact(), out[-1].compact()])]
    return tuple(part for part in out if len(part.chunk_ids))


def _merged(parts: list[Part]) -> Part:
    offsets = np.cumsum([0, *(len(part.rows) for part in parts)])[:-1]
    return Part(
        _concat([part.row_ids for part in parts], np.int64),
        _concat([part.chunk_ids for part in parts], np.int64),
        _concat([part.file_ids for part in parts], np.int64),
        _concat([part.languages for part in parts], np.int8),
        _concat([part.starts + at for part, at in zip(parts, offsets, strict=True)], np.int64),
        _concat([part.alive for part in parts], np.bool_),
        np.concatenate([part.rows for part in parts]) if parts else np.zeros((0, 0), np.int8),
        _concat([part.scales for part in parts], np.float32),
        _concat([part.penalties for part in parts], np.float32),
    )


def _concat(arrays: list[NDArray[_T]], dtype: type[_T]) -> NDArray[_T]:
    return np.concatenate(arrays) if arrays else np.zeros(0, dtype)


def _starts(counts: Int64) -> Int64:
    out: Int64 = np.cumsum(counts) - counts
    return out


def _products(rows: Int8, query: Float32) -> Float32:
    """(w,) products of the int8 rows with a (d,) float query."""
    try:
        import simsimd
    except ImportError:
        # BLAS knows no int8: a block at a time as floats.
        blocks = range(0, len(rows), _BLOCK)
        return _concat(
            [rows[at : at + _BLOCK].astype(np.float32) @ query for at in blocks], np.float32
        )
    quantised, scale = _quantise(query[np.newaxis, :])
    raw = np.asarray(simsimd.cdist(quantised, rows, "dot"), np.float32).reshape(-1)
    out: Float32 = raw * scale[0]
    return out


def _quantise(vectors: Float32) -> tuple[Int8, Float32]:
    peak = np.abs(vectors).max(axis=1, keepdims=True)
    peak[peak == 0] = 1.0
    return np.rint(vectors * (127.0 / peak)).astype(np.int8), peak[:, 0] / np.float32(127.0)


def _one(conn: sqlite3.Connection, sql: str, value: int) -> int:
    row = conn.execute(sql, (value,)).fetchone()
    return int(row[0]) if row else 0
