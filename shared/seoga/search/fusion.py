"""One order out of two tracks. Scores are absolute, so results of several KBs can be merged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

# Among documents of the query's own language shared words say most (0.55 to 0.75 measure within
# 0.01 of each other on four sets); of another language only meaning can speak, and shared words
# mislead: English names in Korean text. On one KB of four sets, OTHER_COSINE 0.8 instead of 0.7
# costs korquad_ko 0.019 and brings xl_ko2en nothing.
SAME_KEYWORD = 0.65
SAME_COSINE = 0.35
OTHER_KEYWORD = 0.05
OTHER_COSINE = 0.7
# Whoever names a thing wants what names it, before what is only like it.
EXACT_BONUS = 0.1
OTHERWISE_BONUS = 0.05
# Above every sum of scores: who types the name of a document gets that document first.
NAMED_BONUS = 2.0
RRF_K = 60
# Below the two keyword-only hits of a gated search.
_SUNK = 0.004


@dataclass(slots=True)
class Candidate:
    """A chunk that a track found. `support` is what its other windows add to the `cosine` of the
    best one in the order of hits, never for the threshold. `keyword` is its share of the query's
    ideal BM25, `coverage` the share of the query's idf mass that it holds (`known` where it has no
    cosine), `known` the same where what nobody wrote weighs as what stands in no passage,
    `together` how unlikely its words come so near one another. `exact`: it holds an identifier of
    the query, or all words of a short query, `otherwise`: an identifier in another writing;
    `whole`: all that any query asks for, as typed; `doubted`: others are `exact`. `named`: the
    query names its document, `led`: it is put first for that. `boost`: the factor of the KB's
    pathBoosts, `rerank`: the score of its reranker. `same_language`: as the query. `attached`:
    shown for the retired documents `supersedes`, whatever its own evidence. Scores are None where
    a track does not exist."""

    chunk_id: int
    file_id: int
    same_language: bool = True
    cosine: float | None = None
    support: float = 0.0
    keyword: float | None = None
    coverage: float = 0.0
    known: float = 0.0
    together: float = 0.0
    doubted: bool = False
    exact: bool = False
    otherwise: bool = False
    whole: bool = False
    named: bool = False
    cosine_rank: int | None = None
    keyword_rank: int | None = None
    rank_score: float = 0.0
    attached: bool = False
    supersedes: tuple[str, ...] = ()
    boost: float = 1.0
    led: bool = False
    rerank: float | None = None
    matched: frozenset[str] = field(default_factory=frozenset)

    @property
    def closeness(self) -> float:
        """What orders by meaning; 0 without a cosine."""
        return (self.cosine or 0.0) + self.support


def rank_tracks(candidates: Sequence[Candidate]) -> None:
    """Sets the rank in each track, counting from 1; a chunk without a shared word has no keyword
    rank."""
    by_cosine = [each for each in candidates if each.cosine is not None]
    by_cosine.sort(key=lambda each: (-each.closeness, each.chunk_id))
    for rank, each in enumerate(by_cosine, 1):
        each.cosine_rank = rank
    by_keyword = [each for each in candidates if each.keyword]
    by_keyword.sort(key=lambda each: (-(each.keyword or 0.0), each.chunk_id))
    for rank, each in enumerate(by_keyword, 1):
        each.keyword_rank = rank


def convex(candidates: Sequence[Candidate]) -> None:
    """Absolute convex combination, decided per document by its language (Bruch et al. 2023,
    "An Analysis of Fusion Functions for Hybrid Retrieval", with absolute instead of min-max
    scores). With one track only, its score is the rank score."""
    hybrid = any(each.cosine is not None for each in candidates)
    for each in candidates:
        keyword, cosine = convex_weights(each, hybrid)
        each.rank_score = keyword * (each.keyword or 0.0) + cosine * each.closeness
        each.rank_score += exact_bonus(each)


def exact_bonus(candidate: Candidate) -> float:
    """What a passage gains that holds the very thing that is asked for."""
    if candidate.exact:
        return EXACT_BONUS
    return OTHERWISE_BONUS if candidate.otherwise else 0.0


def convex_weights(candidate: Candidate, hybrid: bool) -> tuple[float, float]:
    """What the keyword share and the cosine of a candidate weigh in the convex combination;
    `hybrid`: others of the search have a cosine."""
    if candidate.cosine is None:
        # Not embedded yet: its words speak for it, where they can.
        return (OTHER_KEYWORD if hybrid and not candidate.same_language else 1.0), 0.0
    if candidate.keyword is None:
        return 0.0, 1.0
    if candidate.same_language:
        return SAME_KEYWORD, SAME_COSINE
    return OTHER_KEYWORD, OTHER_COSINE


def lead_named(candidates: Sequence[Candidate]) -> None:
    """The best passage of each document that the query names goes before everything else."""
    led: set[int] = set()
    for each in in_order(candidates):
        each.led = each.named and each.file_id not in led
        if each.led:
            led.add(each.file_id)
            each.rank_score += NAMED_BONUS


def rrf(candidates: Sequence[Candidate]) -> None:
    """Reciprocal Rank Fusion (Cormack, Clarke and Büttcher 2009), k = 60, scaled so that first in
    both tracks is 1."""
    for each in candidates:
        ranks = (each.cosine_rank, each.keyword_rank)
        total = sum(1.0 / (RRF_K + rank) for rank in ranks if rank is not None)
        each.rank_score = total * (RRF_K + 1) / 2


def gated(
    candidates: Sequence[Candidate],
    shown: Callable[[Candidate], bool],
    rare: Sequence[frozenset[str]],
    enough: float = 0.0,
) -> None:
    """What `shown` admits and has a cosine, by cosine; of the rest, the two best that hold a rare
    word of the query come after it (specification, section 10), where that is `enough` of what is
    asked for. Others sink below."""
    semantic = {each.chunk_id for each in candidates if each.cosine is not None and shown(each)}
    late = [
        each
        for each in candidates
        if each.chunk_id not in semantic
        and each.known >= enough
        and any(word <= each.matched for word in rare)
    ]
    late.sort(key=lambda each: (-(each.keyword or 0.0), each.chunk_id))
    floor = {each.chunk_id: 0.01 / place for place, each in enumerate(late[:2], 1)}
    for each in candidates:
        close = max(0.0, each.closeness)
        sunk = floor.get(each.chunk_id, _SUNK * close)
        each.rank_score = close if each.chunk_id in semantic else sunk
        each.exact = each.exact or each.chunk_id in floor


def doubt(candidates: Sequence[Candidate]) -> None:
    """For a short query: where passages hold all of it, the others are only like it."""
    said = any(each.exact for each in candidates)
    for each in candidates:
        each.doubted = said and not each.exact


def in_order(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Best first; equal scores by chunk id, so that the same search gives the same answer."""
    return sorted(candidates, key=lambda each: (-each.rank_score, each.chunk_id))
