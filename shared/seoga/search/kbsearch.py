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
from seoga.search.abstain import (
    BESIDE_COSINE,
    DOUBT,
    MIN_COVERAGE,
    OTHER_LANGUAGE,
    TOGETHER,
    Bar,
    for_size,
    of_two_words,
)
from seoga.search.filters import NOTHING, Scope, Scopes, boosted, scopes
from seoga.search.fusion import Candidate
from seoga.search.lexical import KeywordScore, KeywordTrack, Term
from seoga.search.lifecycle import LIFECYCLES, Lifecycle
from seoga.search.query import Query
from seoga.search.query_vectors import QueryVectors
from seoga.search.request import Retired, SearchRequest
from seoga.search.semantic import MATRICES, SemanticTrack
from seoga.search.snippets import Marker
from seoga.search.standins import Standins
from seoga.search.succession import Verdict
from seoga.storage import generations
from seoga.storage.matrixfile import LANGUAGE_SQL
from seoga.storage.reading import unserved_count

# Hidden documents are only counted, so a short look is enough.
_HIDDEN_DEPTH = 20
_DEEPER = 4
# Passages of a successor that are compared; it may be a book.
_LOOKED_AT = 400
# Passages whose cosine is computed from the stored vectors: those that may be shown.
_EXACT = 32


@dataclass(slots=True)
class Found:
    """What one KB has to say, over a connection that is still open."""

    kb: Kb
    conn: sqlite3.Connection
    bar: Bar
    ranked: list[Candidate]
    marker: Marker
    life: Lifecycle
    verdict: Verdict
    hidden: frozenset[int] = frozenset()
    retired: tuple[Retired, ...] = ()
    filtered: bool = False
    pending: int = 0
    absent: frozenset[str] = frozenset()
    guessed: frozenset[str] = frozenset()
    terms: tuple[Term, ...] = ()
    fusion: str = "convex"
    both: bool = False
    warnings: list[str] = field(default_factory=list)

    @property
    def hybrid(self) -> bool:
        """True when any of it has a cosine."""
        return any(each.cosine is not None for each in self.ranked)

    @property
    def admitted(self) -> list[Candidate]:
        """Best first."""
        return [each for each in self.ranked if each.attached or self.bar.admits(each)]


@dataclass(frozen=True, slots=True)
class Tracks:
    """The tracks that a search can use here; at least one is there. `words` is the keyword track,
    also where it only weighs what the other one found."""

    keyword: KeywordTrack | None
    semantic: SemanticTrack | None
    card: ModelCard | None
    words: KeywordTrack

    @property
    def both(self) -> bool:
        """True when there is something to fuse."""
        return self.keyword is not None and self.semantic is not None


@dataclass(frozen=True, slots=True)
class _Asked:
    query: Query
    tracks: Tracks
    bar: Bar


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
        seen = scopes(self.conn, self.request, self.kb)
        filtered = seen.visible.only is not None or self.request.exclude or seen.visible.lang
        depth = max(50, 5 * self.request.top_k) * (_DEEPER if deeper else 1)
        absent = tracks.keyword.absent if tracks.keyword is not None else frozenset()
        if query.only_names(absent):
            # What is near an identifier in meaning or letters is another thing.
            seen = Scopes(NOTHING, None)
        life = LIFECYCLES.get(self.conn, self.kb)
        verdict = life.on(self.request.as_of)
        visible = seen.visible.less(life.sidecars)
        asked = _Asked(query, tracks, bar)
        ranked = self._living(asked, visible, depth, verdict)
        hidden = self._hidden(asked, seen, life)
        standins = self._standins(asked, visible, life, verdict)
        # What an excluded folder keeps out still leads to what lives in its place.
        told = [] if self._shows_retired else [one for one in hidden if verdict.ends(one.file_id)]
        ranked = standins.settle(fusion.in_order([*ranked, *told]))
        marker = Marker(_weights(tracks.keyword), query.parts)
        found = Found(self.kb, self.conn, bar, ranked, marker, life, verdict)
        found.retired = tuple(standins.retired)
        gone = {each.file_id for each in told}
        found.hidden = frozenset(each.file_id for each in hidden if each.file_id not in gone)
        found.absent = absent
        if tracks.keyword is not None:
            found.guessed, found.terms = tracks.keyword.guessed, tracks.keyword.terms
        found.fusion, found.both = self._method(), tracks.both
        found.filtered = bool(filtered)
        found.pending = self._pending()
        found.warnings = self.warnings
        return found

    def _tracks(self, query: Query, vectors: QueryVectors) -> Tracks:
        words = KeywordTrack(self.conn, query)
        keyword = words if self.request.mode != "vector" else None
        if self.request.mode == "bm25":
            return Tracks(keyword, None, None, words)
        try:
            live = generations.live(self.conn)
            if live is None:
                raise self._no_vectors()
            generation, card = live
            vector = vectors.get(self.kb, card)
        except SeogaError as error:
            if keyword is None:
                raise
            self._fell_back(error)
            return Tracks(keyword, None, None, words)
        matrix = MATRICES.get(self.conn, self.kb.db_path, generation, card.dimension)
        return Tracks(keyword, SemanticTrack(self.conn, matrix, generation, vector), card, words)

    def _no_vectors(self) -> NotFound:
        if generations.target(self.conn) == 0:
            return NotFound(
                f"Knowledge base {self.kb.name} makes no vectors.",
                "Search with search_mode bm25, or name an embedding provider in its config.json.",
            )
        return NotFound(
            f"Knowledge base {self.kb.name} has no vectors yet.",
            "Wait for the indexer, or search with search_mode bm25.",
        )

    def _fell_back(self, error: SeogaError) -> None:
        # A KB that wants no vectors lacks nothing.
        if self.kb.embedding_spec().provider and generations.target(self.conn) != 0:
            self.warnings.append(f"Keyword search only: {error.message}")

    def _bar(self, tracks: Tracks) -> Bar:
        config = self.kb.config.search
        asked = self.request.threshold if self.request.threshold is not None else config.min_score
        size = for_size(tracks.words.rows)
        threshold = None
        if tracks.card is not None:
            threshold = size * tracks.card.threshold if asked is None else asked
        chosen = config.min_coverage
        coverage = beside = alone = None
        if tracks.keyword is not None:
            coverage = size * MIN_COVERAGE if chosen is None else chosen
            alone = of_two_words(tracks.words.rows) if chosen is None else chosen
        if tracks.keyword is not None or asked is None:
            beside = size * BESIDE_COSINE if chosen is None else chosen
        # A threshold that somebody chose holds for every passage.
        across = OTHER_LANGUAGE if asked is None else 1.0
        doubt = DOUBT if asked is None else 1.0
        within = doubt if tracks.words.unwritten else 1.0
        return Bar(threshold, coverage, beside, across, alone, size * TOGETHER, doubt, within)

    def _ranked(
        self, query: Query, tracks: Tracks, scope: Scope, depth: int, bar: Bar
    ) -> list[Candidate]:
        candidates = self._described(_candidates(tracks, scope, depth), query, tracks)
        self._scored(candidates, tracks)
        ranked = self._ordered(candidates, tracks, bar)
        if tracks.semantic is None:
            return ranked
        # The others' scores are as good as that, and reading their vectors is most of a search.
        self._exactly(ranked[: max(_EXACT, 2 * self.request.top_k)], tracks.semantic)
        return self._ordered(candidates, tracks, bar)

    def _ordered(
        self, candidates: Sequence[Candidate], tracks: Tracks, bar: Bar
    ) -> list[Candidate]:
        fusion.rank_tracks(candidates)
        self._fuse(candidates, tracks, bar)
        self._boost(candidates)
        fusion.lead_named(candidates)
        return fusion.in_order(candidates)

    def _described(self, ids: Iterable[int], query: Query, tracks: Tracks) -> list[Candidate]:
        asked = set(ids)
        held: dict[int, tuple[int, str]] = {}
        # A matrix that another thread has just read may know chunks that this state has not.
        if tracks.semantic is not None and tracks.semantic.is_of(self.conn):
            held = tracks.semantic.owners(asked)
        rows = self.conn.execute(
            f"SELECT c.id, c.file_id, {LANGUAGE_SQL} FROM chunks c"
            " JOIN files f ON f.id = c.file_id WHERE c.id IN (SELECT value FROM json_each(?))",
            (json.dumps(sorted(asked - held.keys())),),
        )
        held.update((chunk, (file, language)) for chunk, file, language in rows)
        return [
            Candidate(chunk, file, language in (query.language, "other", ""))
            for chunk, (file, language) in held.items()
        ]

    def _boost(self, candidates: Sequence[Candidate]) -> None:
        factors = self.kb.config.search.path_boosts
        if not factors:
            return
        files = {each.file_id for each in candidates}
        rows = self.conn.execute(
            "SELECT id, label, path FROM files WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(sorted(files)),),
        )
        names = {file: (label, path) for file, label, path in rows}
        for each in candidates:
            each.boost = boosted(factors, *names[each.file_id])
            each.rank_score *= each.boost

    def _scored(self, candidates: Sequence[Candidate], tracks: Tracks) -> None:
        ids = [each.chunk_id for each in candidates]
        near_by = tracks.semantic.near(ids) if tracks.semantic is not None else {}
        by_sense = near_by.keys() if self._method() != "gated" else ()
        words = tracks.words.score(ids, frozenset(ids).difference(by_sense))
        named = tracks.keyword.named.values() if tracks.keyword is not None else ()
        for each in candidates:
            if (near := near_by.get(each.chunk_id)) is not None:
                each.cosine, each.support = near
            each.named = any(each.file_id in files for files in named)
            found = words.get(each.chunk_id)
            if tracks.keyword is not None:
                _add_words(each, found, tracks.words)
            elif found is not None:
                each.coverage = found.coverage
            if each.cosine is None:
                each.coverage = each.known
        if self._method() == "gated" and tracks.both and tracks.words.query.short:
            fusion.doubt(candidates)

    @staticmethod
    def _exactly(candidates: Sequence[Candidate], track: SemanticTrack) -> None:
        exact = track.score(each.chunk_id for each in candidates)
        for each in candidates:
            if (near := exact.get(each.chunk_id)) is not None:
                each.cosine, each.support = near

    def _fuse(self, candidates: Sequence[Candidate], tracks: Tracks, bar: Bar) -> None:
        method = self._method()
        if method == "rrf" and tracks.both:
            fusion.rrf(candidates)
        elif method == "gated" and tracks.keyword is not None and tracks.both:
            rare = tracks.keyword.rare(self.kb.config.search.lexical_max_doc_freq)
            fusion.gated(candidates, bar.admits, rare, bar.coverage or 0.0)
        else:
            fusion.convex(candidates)

    def _living(self, asked: _Asked, scope: Scope, depth: int, verdict: Verdict) -> list[Candidate]:
        """The ranked candidates; where retired documents took most of the places, the living ones
        are looked for once more by themselves."""
        ranked = self._ranked(asked.query, asked.tracks, scope, depth, asked.bar)
        gone = [each for each in ranked if each.file_id in verdict.retired]
        if self._shows_retired or len(gone) <= len(ranked) // 2 or len(ranked) < depth:
            return ranked
        living = scope.less(verdict.retired)
        again = self._ranked(asked.query, asked.tracks, living, depth, asked.bar)
        return fusion.in_order([*gone, *again])

    @property
    def _shows_retired(self) -> bool:
        return self.request.search_all or self.request.include_superseded

    def _method(self) -> str:
        return self.request.fusion or self.kb.fusion

    def _hidden(self, asked: _Asked, seen: Scopes, life: Lifecycle) -> list[Candidate]:
        if seen.hidden is None or seen.hidden.nothing:
            return []
        scope = seen.hidden.less(life.sidecars)
        ranked = self._ranked(asked.query, asked.tracks, scope, _HIDDEN_DEPTH, asked.bar)
        return [each for each in ranked if asked.bar.admits(each)]

    def _standins(self, asked: _Asked, scope: Scope, life: Lifecycle, verdict: Verdict) -> Standins:
        def best_of(files: Iterable[int]) -> dict[int, Candidate]:
            return self._best_of(asked, scope, files)

        def admits(candidate: Candidate) -> bool:
            return asked.bar.admits(candidate) or not self.request.abstain

        top_k = self.request.top_k
        return Standins(life, verdict, top_k, self._shows_retired, admits, best_of)

    def _best_of(self, asked: _Asked, scope: Scope, files: Iterable[int]) -> dict[int, Candidate]:
        """The best passage of each of these documents that the scope lets through."""
        wanted = sorted(files)
        if not wanted:
            return {}
        condition, values = scope.sql()
        rows = self.conn.execute(
            "SELECT c.id FROM chunks c JOIN files f ON f.id = c.file_id WHERE c.file_id IN"
            f" (SELECT value FROM json_each(?)) AND c.ordinal < ? {condition} ORDER BY c.id",
            (json.dumps(wanted), _LOOKED_AT, *values),
        )
        candidates = self._described((row[0] for row in rows), asked.query, asked.tracks)
        self._scored(candidates, asked.tracks)
        fusion.convex(candidates)
        best: dict[int, Candidate] = {}
        for each in fusion.in_order(candidates):
            best.setdefault(each.file_id, each)
        if asked.tracks.semantic is not None:
            self._exactly(list(best.values()), asked.tracks.semantic)
        return best

    def _pending(self) -> int:
        if self.request.mode == "bm25":
            return 0
        if pending := unserved_count(self.conn):
            total = int(self.conn.execute("SELECT count(*) FROM chunks").fetchone()[0])
            self.warnings.append(
                f"{pending} of {total} chunks still to embed: those are found by keyword only."
            )
        return pending


def _candidates(tracks: Tracks, scope: Scope, depth: int) -> set[int]:
    """The ids of the best chunks of each track."""
    if scope.nothing:
        return set()
    near = tracks.semantic.ahead(scope, depth) if tracks.semantic is not None else list
    words = tracks.keyword.candidates(scope, depth) if tracks.keyword is not None else ()
    return {*words, *near()}


def _add_words(candidate: Candidate, score: KeywordScore | None, track: KeywordTrack) -> None:
    if score is None:
        candidate.keyword = 0.0
        return
    candidate.keyword, candidate.coverage = score.share, score.coverage
    candidate.known, candidate.together = score.known, score.together
    candidate.matched = score.matched
    query, sure = track.query, score.matched - track.guessed - score.otherwise
    candidate.exact = bool(query.identifiers & sure) or (
        query.short and len(sure) == len(query.terms)
    )
    candidate.otherwise = bool(query.identifiers & score.otherwise)
    candidate.whole = track.asked <= sure


def _weights(keyword: KeywordTrack | None) -> dict[str, float]:
    """The forms to mark in a snippet, with their idf."""
    if keyword is None:
        return {}
    return {form: term.idf for term in keyword.terms for form in term.forms}
