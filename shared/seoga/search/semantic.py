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
from seoga.search.matrix import LANGUAGES, Matrix, MatrixCache
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
        if not len(self.matrix.chunk_ids):
            return []
        allowed = self._allowed(scope)
        scores = np.where(allowed, self._scores, -np.inf)
        out: list[int] = []
        for language in range(len(LANGUAGES)):
            of_language = np.where(self.matrix.languages == language, scores, -np.inf)
            out += self.matrix.chunk_ids[_top(of_language, limit)].tolist()
        return out

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
        return self.matrix.best(self.query)

    def _allowed(self, scope: Scope) -> NDArray[np.bool_]:
        allowed = self.matrix.alive
        if scope.only is not None:
            allowed = allowed & np.isin(
                self.matrix.file_ids, np.array(sorted(scope.only), np.int64)
            )
        if scope.without:
            gone = np.array(sorted(scope.without), np.int64)
            allowed = allowed & ~np.isin(self.matrix.file_ids, gone)
        if scope.lang:
            allowed = allowed & (self.matrix.languages == LANGUAGES.index(scope.lang))
        return allowed


def _top(scores: Float32, limit: int) -> NDArray[np.intp]:
    """Places of the `limit` largest finite scores, largest first."""
    if len(scores) > limit:
        places = np.argpartition(-scores, limit)[:limit]
    else:
        places = np.arange(len(scores))
    places = places[np.isfinite(scores[places])]
    return places[np.argsort(-scores[places], kind="stable")]
