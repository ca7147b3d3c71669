"""The semantic track: cosine of the query with the best window of each chunk, and how many others
are as near."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seoga.search.filters import Scope
from seoga.search.matrix import GONE, LANGUAGES, Matrix, MatrixCache
from seoga.storage import sketchfile
from seoga.storage.reading import commit_number
from seoga.storage.vectors import unpack

Float32 = NDArray[np.float32]

MATRICES: Final = MatrixCache()
# Windows within a few hundredths of the best one count beside it in the order of hits: 25 to 40
# measure alike on six sets; 10 lets long chunks win for being long.
SHARPNESS: Final = 30.0
# What the sketch puts more standard deviations of its error below the last of the best is left out.
# With 1, 1.5 and 2 of them 0.7, 1.1 and 1.9 % of 75,000 windows of texts are looked at, and 0.987,
# 0.995 and 0.998 of the 10 best found; of 100,000 of noise 3, 6 and 10 %: 0.980, 0.995 and 0.997.
SURE: Final = 1.5
# Where the last of the best lies is looked up among so many times as many windows.
_AHEAD: Final = 8
# Up to this part of all windows are looked at one by one.
_FEW: Final = 16


class Closeness(NamedTuple):
    """How near a chunk is to the query: `cosine` of its best window, and `support`, what the other
    windows add to it in the order of hits. It is 0 where there is one window."""

    cosine: float
    support: float


class SemanticTrack:
    """One query vector, (d,) float32 of unit length, against one generation of one KB."""

    def __init__(
        self, conn: sqlite3.Connection, matrix: Matrix, generation: int, query: Float32
    ) -> None:
        self.conn, self.matrix, self.generation, self.query = conn, matrix, generation, query

    def ahead(self, scope: Scope, limit: int) -> Callable[[], list[int]]:
        """Gives `candidates` when it is called. In a large base they are looked for meanwhile, by
        another thread: NumPy and SQLite leave the interpreter free for most of their time."""
        if len(self.matrix.chunks) < sketchfile.LEAST:
            return lambda: self.candidates(scope, limit)
        return _threads().submit(self.candidates, scope, limit).result

    def candidates(self, scope: Scope, limit: int) -> list[int]:
        """Chunk ids by int8 score: the `limit` best of each language, so that the documents in one
        cannot crowd out those in another before the fusion has seen them."""
        if not len(self.matrix.chunks):
            return []
        languages = self._allowed(scope)
        out: list[int] = []
        for language in range(len(LANGUAGES)):
            places = np.flatnonzero(languages == language)
            if len(places):
                out += self._best_chunks(places, limit)
        return out

    def _best_chunks(self, places: NDArray[np.intp], limit: int) -> list[int]:
        """The `limit` chunks with the best windows among these places, best first."""
        places, scores = self._scored(places, limit)
        # The windows of one chunk are often near one another: look at more until there are enough.
        seen = 2 * limit
        while True:
            best = places[_top(scores, seen)]
            chunks = list(dict.fromkeys(self.matrix.chunks[best].tolist()))
            if len(chunks) >= limit or seen >= len(places):
                return chunks[:limit]
            seen *= 4

    def _scored(self, places: NDArray[np.intp], limit: int) -> tuple[NDArray[np.intp], Float32]:
        """Those of the places that the `limit` best chunks can be among, with their int8 scores:
        in a large base, what its sketch does not rule out."""
        if _FEW * len(places) <= len(self.matrix.chunks):
            return places, self.matrix.scores(self.query, places)
        if len(places) <= sketchfile.LEAST or self._estimates is None:
            return places, self._scores[places]
        about, spread = self._estimates
        about = about[places]
        first = _top(about, _AHEAD * limit)
        floor = self._worst_of_best(places[first], limit)
        reach = spread[places]
        reach *= SURE
        reach += about
        likely = reach >= floor
        likely[first] = True
        places = places[likely]
        return places, self.matrix.scores(self.query, places)

    def _worst_of_best(self, places: NDArray[np.intp], limit: int) -> float:
        """The score of the last of the `limit` best chunks among these places."""
        scores = self.matrix.scores(self.query, places)
        order = np.argsort(-scores, kind="stable")
        _, firsts = np.unique(self.matrix.chunks[places[order]], return_index=True)
        last = np.sort(firsts)[:limit][-1]
        return float(scores[order[last]])

    def is_of(self, conn: sqlite3.Connection) -> bool:
        """Whether the matrix is of the very state that a connection reads."""
        return self.matrix.commit == commit_number(conn)

    def owners(self, chunk_ids: Iterable[int]) -> dict[int, tuple[int, str]]:
        """The file and the language of each of these chunks that has vectors."""
        places = self.matrix.places(chunk_ids)
        files = self.matrix.records["file"][places].tolist()
        languages = (LANGUAGES[code] for code in self.matrix.languages[places].tolist())
        chunks = self.matrix.chunks[places].tolist()
        return dict(zip(chunks, zip(files, languages, strict=True), strict=True))

    def near(self, chunk_ids: Iterable[int]) -> dict[int, Closeness]:
        """The scores of these chunks from the int8 vectors, a few ten-thousandths beside the exact
        ones; chunks without a vector are left out."""
        places = self.matrix.places(chunk_ids)
        chunks, counts = np.unique(self.matrix.chunks[places], return_counts=True)
        scores = self.matrix.scores(self.query, places)
        return dict(zip(chunks.tolist(), _closeness(scores, counts), strict=True))

    def score(self, chunk_ids: Iterable[int]) -> dict[int, Closeness]:
        """The exact scores of these chunks from the stored vectors; others are left out."""
        rows = self.conn.execute(
            "SELECT chunk_id, count, data, penalties FROM vectors WHERE generation = ?"
            " AND chunk_id IN (SELECT value FROM json_each(?))",
            (self.generation, json.dumps(list(chunk_ids))),
        )
        ids, windows = [], []
        for chunk_id, count, data, penalties in rows:
            ids.append(chunk_id)
            windows.append(unpack(data, count) @ self.query - np.frombuffer(penalties, "<f4"))
        counts = np.array([len(each) for each in windows], np.int64)
        scores = np.concatenate(windows) if windows else np.zeros(0, np.float32)
        return dict(zip(ids, _closeness(scores, counts), strict=True))

    @cached_property
    def _estimates(self) -> tuple[Float32, Float32] | None:
        return self.matrix.estimates(self.query)

    @cached_property
    def _scores(self) -> Float32:
        return self.matrix.scores(self.query)

    def _allowed(self, scope: Scope) -> NDArray[np.int8]:
        """The language of every window that may be found, GONE for the others."""
        matrix = self.matrix
        allowed = matrix.languages
        if scope.only is not None:
            inside = np.isin(matrix.files, np.array(sorted(scope.only), np.int64))
            allowed = np.where(inside, allowed, GONE)
        if scope.without:
            outside = np.isin(matrix.files, np.array(sorted(scope.without), np.int64))
            allowed = np.where(outside, GONE, allowed)
        if scope.lang:
            allowed = np.where(allowed == LANGUAGES.index(scope.lang), allowed, GONE)
        return allowed


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count(), "vectors")


def _closeness(scores: Float32, counts: NDArray[np.int64]) -> list[Closeness]:
    """The best of the windows' scores of each chunk, and how far their soft maximum (log-sum-exp)
    is above it. (n,) scores, chunk by chunk, and (m,) how many belong to each."""
    if not len(counts):
        return []
    starts = np.cumsum(counts) - counts
    best = np.maximum.reduceat(scores, starts)
    near = np.exp(SHARPNESS * (scores - np.repeat(best, counts)))
    support = np.log(np.add.reduceat(near, starts)) / SHARPNESS
    return list(map(Closeness, best.tolist(), support.tolist()))


def _top(scores: Float32, limit: int) -> NDArray[np.intp]:
    """Places of the `limit` largest scores, largest first."""
    places = (
        np.argpartition(scores, len(scores) - limit)[-limit:]
        if len(scores) > limit
        else np.arange(len(scores))
    )
    return places[np.argsort(-scores[places], kind="stable")]
