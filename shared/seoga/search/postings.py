"""The first of two stages of a keyword search: the passages of a query's rarest terms.

FTS5 gives the rowids of a term at 0.15 microseconds each when they come as one text, and at a
microsecond when it ranks them; a row a value through Python costs four times the former.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from seoga.search.filters import Scope

# BM25 (Robertson and Zaragoza 2009). Passages are short and Hangul bigrams repeat, so a second
# occurrence says less than in whole documents: with K1 1.2 (FTS5's), 0.8, 0.4 the fused nDCG@10 is
# 0.953, 0.959, 0.963 on korquad_ko, 0.914, 0.925, 0.931 on strategyqa_ko, 0.971, 0.967, 0.964 on
# xquad_en, 0.756, 0.766, 0.760 on scifact_en.
K1: Final = 0.8
B: Final = 0.75
# So many of the passages with the greatest idf are looked at with their lengths.
WIDE: Final = 500

Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]


class PostingLists:
    """Lists of the chunks that hold a term, over a reading connection."""

    def __init__(self, conn: sqlite3.Connection, mean_length: float) -> None:
        self.conn, self.mean_length = conn, max(mean_length, 1.0)

    def best(
        self, terms: Sequence[tuple[float, Sequence[str]]], scope: Scope, limit: int
    ) -> list[int]:
        """Ids of the `limit` chunks in scope that score most, best first: BM25 as if each of the
        terms, (idf, its forms in the index), were said once."""
        chunks, scores = self._gained(terms)
        order = np.argsort(-scores, kind="stable") if scope.sql()[0] else None
        if order is None:
            places = _largest(scores, WIDE)
            return self._by_length(chunks[places], scores[places])[:limit]
        chosen: list[int] = []
        at, step = 0, WIDE
        while at < len(order) and len(chosen) < limit:
            places = order[at : at + step]
            inside = np.isin(chunks[places], self._inside(chunks[places], scope))
            chosen += self._by_length(chunks[places][inside], scores[places][inside])
            at, step = at + step, 4 * step
        return chosen[:limit]

    def _gained(self, terms: Sequence[tuple[float, Sequence[str]]]) -> tuple[Int64, Float64]:
        """(n,) chunks that hold any of the terms, and the sums of their idf."""
        lists = [self._chunks(forms) for _, forms in terms]
        weights = [np.full(len(each), idf) for each, (idf, _) in zip(lists, terms, strict=True)]
        chunks = np.concatenate(lists)
        if not len(chunks):
            return chunks, np.zeros(0)
        first = int(chunks.min())
        sums = np.asarray(np.bincount(chunks - first, np.concatenate(weights)), np.float64)
        places = np.asarray(np.flatnonzero(sums), np.int64)
        return np.asarray(places + first, np.int64), sums[places]

    def _chunks(self, forms: Sequence[str]) -> Int64:
        asked = " OR ".join('"' + form.replace('"', '""') + '"' for form in forms)
        text = self.conn.execute(
            "SELECT group_concat(rowid, ' ') FROM chunks_fts WHERE chunks_fts MATCH ?", (asked,)
        ).fetchone()[0]
        return np.fromstring(text or "", np.int64, sep=" ")

    def _inside(self, chunks: Int64, scope: Scope) -> Int64:
        where, values = scope.sql()
        rows = self.conn.execute(
            "SELECT c.id FROM chunks c JOIN files f ON f.id = c.file_id"
            f" WHERE c.id IN (SELECT value FROM json_each(?)) {where}",
            (json.dumps(chunks.tolist()), *values),
        )
        return np.array([row[0] for row in rows], np.int64)

    def _by_length(self, chunks: Int64, scores: Float64) -> list[int]:
        rows = self.conn.execute(
            "SELECT id, sz FROM chunks_fts_docsize WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(chunks.tolist()),),
        )
        lengths = {chunk: sum(varints(sizes)) for chunk, sizes in rows}
        known = np.array([lengths.get(chunk, 0) for chunk in chunks.tolist()])
        gained = scores / (1 + K1 * (1 - B + B * known / self.mean_length))
        found: list[int] = chunks[np.argsort(-gained, kind="stable")].tolist()
        return found


def _largest(scores: Float64, limit: int) -> NDArray[np.intp]:
    if len(scores) <= limit:
        return np.arange(len(scores))
    return np.argpartition(scores, len(scores) - limit)[-limit:]


def varints(block: bytes) -> list[int]:
    """The numbers of a record of FTS5: big-endian groups of seven bits."""
    # Numbers here are far below the ninth byte, which is another matter.
    out, value = [], 0
    for byte in block:
        value = (value << 7) | (byte & 0x7F)
        if byte < 0x80:
            out.append(value)
            value = 0
    return out
