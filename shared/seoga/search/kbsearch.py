"""A search in one knowledge base: candidates of both tracks, scored in both, fused, admitted."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from seoga.errors import NotFound, SeogaError
from seoga.kb import Kb
from seoga.models import ModelCard
from seoga.search import fusion
from seoga.search.abstain import MIN_COVERAGE, Bar
from seoga.search.filters import NOTHING, Scope, Scopes, boosted, scopes
from seoga.search.fusion import Candidate
from seoga.search.lexical import KeywordScore, KeywordTrack
from seoga.search.query import Query
from seoga.search.query_vectors import QueryVectors
from seoga.search.request import SearchRequest
from seoga.search.semantic import MATRICES, SemanticTrack
from seoga.search.snippets import Marker
from seoga.storage import generations
from seoga.storage.matrixfile import LANGUAGE_SQL

# Hidden documents are only counted, so a short look is enough.
_HIDDEN_DEPTH = 20
_DEEPER = 4


@dataclass(slots=True)
class Found:
    """What one KB has to say, over a connection that is still open."""

    kb: Kb
    conn: sqlite3.Connection
    bar: Bar
    ranked: list[Candidate]
    marker: Marker
    hidden: frozenset[int] = frozenset()
    filtered: bool = False
    pending: int = 0
    absent: frozenset[str] = frozenset()
    warnings: list[str] = field(default_factory=list)

    @property
    def admitted(self) -> list[Candidate]:
        """Best first."""
        return [each for each in self.ranked if self.bar.admits(each)]


@dataclass(frozen=True, slots=True)
class Tracks:
    """The tracks that a search can use here; at least one is there."""

    keyword: KeywordTrack | None
    semantic: SemanticTrack | None
    card: ModelCard | None


class KbSearch:
    """One query against one KB in one state of its database."""

    def __init__(self, kb: Kb, conn: sqlite3.Connection, request: SearchRequest) -> None:
        self.kb, self.conn, self.request = kb, conn, request
        self.warnings: list[str] = []

    def run(self, query: Query, vectors: QueryVectors, deeper: bool = False) -> Found:
        """Everything that was found, ranked; not yet cut to top_k.

        Raises a SeogaError when the mode is `vector` and there are no vectors to compare with.
        """
        tracks = self._tracks(query, vectors)
        bar = self._bar(tracks)
        seen = scopes(self.conn, self.request, self.kb.config.search.default_exclude)
        depth = max(50, 5 * self.request.top_k) * (_DEEPER if deeper else 1)
        absent = tracks.keyword.absent if tracks.keyword is not None else frozenset()
        if query.only_names(absent):
            # What is near an identifier in meaning or letters is another thing.
            seen = Scopes(NOTHING, None)
        ranked = self._ranked(query, tracks, seen.visible, depth, bar)
        found = Found(self.kb, self.conn, bar, ranked, Marker(_weights(tracks.keyword)))
        found.hidden = self._hidden(query, tracks, seen, bar)
        found.absent = absent
        found.filtered = seen.visible.only is not None or bool(seen.visible.lang)
        found.pending = self._pending()
        found.warnings = self.warnings
        return found

    def _tracks(self, query: Query, vectors: QueryVectors) -> Tracks:
        keyword = KeywordTrack(self.conn, query) if self.request.mode != "vector" else None
        if self.request.mode == "bm25":
            return Tracks(keyword, None, None)
        try:
            live = generations.live(self.conn)
            if live is None:
                raise NotFound(
                    f"Knowledge base {self.kb.name} has no vectors yet.",
                    "Wait for the indexer, or search with search_mode bm25.",
                )
            generation, card = live
            vector = vectors.get(self.kb, card)
        except SeogaError as error:
            if keyword is None:
                raise
            self._fell_back(error)
            return Tracks(keyword, None, None)
        matrix = MATRICES.get(self.conn, self.kb.db_path, generation, card.dimension)
        return Tracks(keyword, SemanticTrack(self.conn, matrix, generation, vector), card)

    def _fell_back(self, error: SeogaError) -> None:
        # A KB that wants no vectors lacks nothing.
        if self.kb.embedding_spec().provider and generations.target(self.conn) != 0:
            self.warnings.append(f"Keyword search only: {error.message}")

    def _bar(self, tracks: Tracks) -> Bar:
        config = self.kb.config.search
        threshold = None
        if tracks.card is not None:
            chosen = (self.request.threshold, config.min_score, tracks.card.threshold)
            threshold = next(value for value in chosen if value is not None)
        coverage = None
        if tracks.keyword is not None:
            coverage = MIN_COVERAGE if config.min_coverage is None else config.min_coverage
        return Bar(threshold, coverage)

    def _ranked(
        self, query: Query, tracks: Tracks, scope: Scope, depth: int, bar: Bar
    ) -> list[Candidate]:
        ids: dict[int, None] = {}
        if tracks.keyword is not None and not scope.nothing:
            ids.update(dict.fromkeys(tracks.keyword.candidates(scope, depth)))
        if tracks.semantic is not None and not scope.nothing:
            ids.update(dict.fromkeys(tracks.semantic.candidates(scope, depth)))
        candidates = self._described(ids, query)
        self._scored(candidates, query, tracks)
        fusion.rank_tracks(candidates)
        self._fuse(candidates, tracks, bar)
        for each in candidates:
            each.rank_score *= boosted(self.kb.config.search.path_boosts, each.path)
        fusion.lead_named(candidates)
        return fusion.in_order(candidates)

    def _described(self, ids: Iterable[int], query: Query) -> list[Candidate]:
        rows = self.conn.execute(
            f"SELECT c.id, c.file_id, f.path, {LANGUAGE_SQL} FROM chunks c"
            " JOIN files f ON f.id = c.file_id WHERE c.id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(ids)),),
        )
        return [
            Candidate(chunk, file, path, language in (query.language, "other", ""))
            for chunk, file, path, language in rows
        ]

    def _scored(self, candidates: Sequence[Candidate], query: Query, tracks: Tracks) -> None:
        ids = [each.chunk_id for each in candidates]
        words = tracks.keyword.score(ids) if tracks.keyword is not None else None
        named = tracks.keyword.named.values() if tracks.keyword is not None else ()
        cosines = tracks.semantic.score(ids) if tracks.semantic is not None else {}
        for each in candidates:
            each.cosine = cosines.get(each.chunk_id)
            each.named = any(each.file_id in files for files in named)
            if words is not None:
                _add_words(each, words.get(each.chunk_id), query)

    def _fuse(self, candidates: Sequence[Candidate], tracks: Tracks, bar: Bar) -> None:
        method = self.request.fusion or self.kb.config.search.fusion
        both = tracks.keyword is not None and tracks.semantic is not None
        if method == "rrf" and both:
            fusion.rrf(candidates)
        elif method == "gated" and tracks.keyword is not None and both:
            rare = tracks.keyword.rare(self.kb.config.search.lexical_max_doc_freq)
            fusion.gated(candidates, bar.threshold or 0.0, rare)
        else:
            fusion.convex(candidates)

    def _hidden(self, query: Query, tracks: Tracks, seen: Scopes, bar: Bar) -> frozenset[int]:
        if seen.hidden is None or seen.hidden.nothing:
            return frozenset()
        ranked = self._ranked(query, tracks, seen.hidden, _HIDDEN_DEPTH, bar)
        return frozenset(each.file_id for each in ranked if bar.admits(each))

    def _pending(self) -> int:
        if self.request.mode == "bm25":
            return 0
        waiting = "SELECT count(*) FROM chunks WHERE state = 'PendingEmbedding'"
        pending = int(self.conn.execute(waiting).fetchone()[0])
        if pending:
            total = int(self.conn.execute("SELECT count(*) FROM chunks").fetchone()[0])
            self.warnings.append(
                f"{pending} of {total} chunks still to embed: those are found by keyword only."
            )
        return pending


def _add_words(candidate: Candidate, score: KeywordScore | None, query: Query) -> None:
    if score is None:
        candidate.keyword = 0.0
        return
    candidate.keyword, candidate.coverage = score.share, score.coverage
    candidate.matched = score.matched
    candidate.exact = bool(query.identifiers & score.matched) or (
        query.short and len(score.matched) == len(query.terms)
    )


def _weights(keyword: KeywordTrack | None) -> dict[str, float]:
    """The forms to mark in a snippet, with their idf."""
    if keyword is None:
        return {}
    return {form: term.idf for term in keyword.terms for form in term.forms}
