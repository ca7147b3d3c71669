"""The semantic track: cosine of the query with the best window of each chunk."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from seoga.search.filters import Scope
from seoga.search.matrix import GONE, LANGUAGES, Matrix, MatrixCache
from seoga.storage.vectors import unpack

Float32 = NDArray[np.float32]

MATRICES: Final = MatrixCache()


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

    def score(self, chunk_ids: Iterable[int]) -> dict[int, float]:
        """The exact score of these chunks from the stored vectors; others are left out."""
        rows = self.conn.execute(
            "SELECT chunk_id, count, data, penalties FROM vectors WHERE generation = ?"
            " AND chunk_id IN (SELECT value FROM json_each(?))",
            (self.generation, json.dumps(list(chunk_ids))),
        )
        out = {}
        for chunk_id, count, data, penalties in rows:
            windows = unpack(data, count) @ self.query - np.frombuffer(penalties, "<f4")
            out[chunk_id] = float(windows.max())
        return out

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


def _top(scores: Float32, limit: int) -> NDArray[np.intp]:
    """Places of the `limit` largest scores, largest first."""
    places = (
        np.argpartition(scores, len(scores) - limit)[-limit:]
        if len(scores) > limit
        else np.arange(len(scores))
    )
    return places[np.argsort(-scores[places], kind="stable")]
