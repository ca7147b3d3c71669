"""The semantic track: cosine of the query with the best window of each chunk, and how many others
are as near."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seoga.search.filters import Scope
from seoga.search.matrix import GONE, LANGUAGES, Matrix, MatrixCache
from seoga.storage.vectors import unpack

Float32 = NDArray[np.float32]

MATRICES: Final = MatrixCache()
# Windows within a few hundredths of the best one count beside it in the order of hits: 25 to 40
# measure alike on six sets; 10 lets long chunks win for being long.
SHARPNESS: Final = 30.0


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

    def candidates(self, scope: Scope, limit: int) -> list[int]:
        """Chunk ids by int8 score: the `limit` best of each language, so that the documents in one
        cannot crowd out those in another before the fusion has seen them."""
        if not len(self.matrix.chunks):
            return []
        languages = self._allowed(scope)
        out: list[int] = []
        for language in range(len(LANGUAGES)):
            places = np.flatnonzero(languages == language)
            out += self._best_chunks(places, limit)
        return out

    def _best_chunks(self, places: NDArray[np.intp], limit: int) -> list[int]:
        """The `limit` chunks with the best windows among these places, best first."""
        scores = self._scores[places]
        # The windows of one chunk are often near one another: look at more until there are enough.
        seen = 2 * limit
        while True:
            best = places[_top(scores, seen)]
            chunks = list(dict.fromkeys(self.matrix.chunks[best].tolist()))
            if len(chunks) >= limit or seen >= len(places):
                return chunks[:limit]
            seen *= 4

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
        return dict(zip(ids, _closeness(windows), strict=True))

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


def _closeness(chunks: Sequence[Float32]) -> list[Closeness]:
    """The best of the windows' scores of each chunk, and how far their soft maximum (log-sum-exp)
    is above it."""
    if not chunks:
        return []
    counts = [len(chunk) for chunk in chunks]
    scores = np.concatenate(chunks)
    starts = np.cumsum([0, *counts[:-1]])
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
