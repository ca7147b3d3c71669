"""Search: one function for the command line, the tools, the console and `seoga eval`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from seoga.contracts.embedding import Embedding
from seoga.errors import NotFound, SeogaError
from seoga.kb import Kb
from seoga.models import Hit
from seoga.search.abstain import NOTHING_TO_SEARCH, Bar, Findings, message_of
from seoga.search.explain import of_search
from seoga.search.fusion import Candidate
from seoga.search.kbsearch import Found, KbSearch
from seoga.search.labels import idle_glob, unknown_labels
from seoga.search.present import Folder, Picked, pick
from seoga.search.query import Query, analyse
from seoga.search.query_vectors import QueryVectors
from seoga.search.readers import reading
from seoga.search.request import Retired, SearchAnswer, SearchRequest, check
from seoga.search.reranking import rerank
from seoga.search.standins import message_about
from seoga.search.turns import aside, turn
from seoga.storage import generations
from seoga.text.normal import nfc

__all__ = ["SearchAnswer", "SearchRequest", "query_vector", "search"]


@dataclass(frozen=True, slots=True)
class _Part:
    """What one KB contributes to the answer."""

    hits: list[Hit]
    bar: Bar
    best_cosine: float | None
    best_share: float | None
    dropped: int
    folded: int
    hidden: int
    retired: tuple[Retired, ...]
    folders: tuple[str, ...]
    filtered: bool
    pending: int
    absent: frozenset[str]
    guessed: frozenset[str]
    warnings: tuple[str, ...]
    why: dict[str, Any]


def search(
    kbs: Sequence[Kb], request: SearchRequest, embedding: Embedding | None = None
) -> SearchAnswer:
    """The best passages of these KBs for a query, and what happened to the rest.

    Reads the databases; `embedding` makes the query's vector (None: keyword only). Threads may
    search at once. Raises InvalidArgument for a value out of range; NotFound when no KB has an
    index; in mode `vector`, the error that says what is missing when no KB can be searched so.
    """
    check(request)
    request = replace(request, labels=tuple(map(nfc, request.labels)))
    query = analyse(request.query)
    if not query.terms:
        return SearchAnswer((), message=NOTHING_TO_SEARCH, mode=_mode(request, ()))
    vectors = QueryVectors(query.text, embedding)
    parts: list[_Part] = []
    trouble: list[tuple[Kb, SeogaError]] = []
    for kb in kbs:
        try:
            parts.append(_search_one(kb, request, query, vectors))
        except SeogaError as error:
            trouble.append((kb, error))
    if not parts:
        raise trouble[0][1] if trouble else NotFound("There is no knowledge base to search.")
    warnings = unknown_labels(kbs, request.labels)
    if not any(part.hits for part in parts):
        warnings += idle_glob(kbs, request.path_glob)
    warnings += [f"{kb.name} was not searched: {error.message}" for kb, error in trouble]
    return _answer(parts, request, warnings)


def query_vector(kb: Kb, query: str, embedding: Embedding) -> None:
    """Makes the vector that a search of this KB needs, and so fills the embedder's cache. Raises a
    SeogaError that says what is missing; a KB without vectors needs none."""
    with reading(kb.db_path) as conn:
        live = generations.live(conn)
    if live is not None:
        QueryVectors(analyse(query).text, embedding).get(kb, live[1])


def _search_one(kb: Kb, request: SearchRequest, query: Query, vectors: QueryVectors) -> _Part:
    with turn(), reading(kb.db_path) as conn:
        found = KbSearch(kb, conn, request).run(query, vectors)
        picked = pick(found, request)
        if picked.capped and len(picked.hits) < request.top_k:
            # One document filled the candidates: look further down for others.
            found = KbSearch(kb, conn, request).run(query, vectors, deeper=True)
            picked = pick(found, request)
        with aside():
            reranked = rerank(found, request, query.text, vectors.embedding)
        if reranked:
            picked = pick(found, request)
        return _part(found, picked, request, query)


def _part(found: Found, picked: Picked, request: SearchRequest, query: Query) -> _Part:
    def best(values: Sequence[float | None]) -> float | None:
        return max((value for value in values if value is not None), default=None)

    ranked: list[Candidate] = found.ranked
    return _Part(
        hits=picked.hits,
        bar=found.bar,
        best_cosine=best([each.cosine for each in ranked]),
        best_share=best([each.coverage for each in ranked if each.keyword]),
        dropped=len(ranked) - len(found.admitted) if request.abstain else 0,
        folded=picked.folded,
        hidden=len(found.hidden),
        retired=found.retired,
        folders=tuple(found.kb.config.search.default_exclude),
        filtered=found.filtered,
        pending=found.pending,
        absent=frozenset(map(query.as_typed, found.absent)),
        guessed=frozenset(map(query.as_typed, found.guessed)),
        warnings=tuple(found.warnings),
        why=of_search(found, request) if request.explain else {},
    )


def _answer(parts: Sequence[_Part], request: SearchRequest, warnings: list[str]) -> SearchAnswer:
    merged = sorted(
        (hit for part in parts for hit in part.hits),
        key=lambda hit: (-hit.rank_score, hit.kb_id, hit.chunk_id),
    )
    folder = Folder(request.fold and len(parts) > 1)
    hits = [hit for hit in merged if hit.supersedes or not folder.repeats(hit.text)]
    hits = hits[: request.top_k]
    kept = _within(hits, request.max_chars)
    summary = _summary(parts, len(hits))
    for warning in (text for part in parts for text in part.warnings):
        if warning not in warnings:
            warnings.append(warning)
    retired = tuple(one for part in parts for one in part.retired)
    message = " ".join(filter(None, (message_of(summary), message_about(retired))))
    if len(kept) < len(hits):
        left = len(hits) - len(kept)
        message = f"{message} {left} more left out to keep the answer short.".strip()
    return SearchAnswer(
        hits=tuple(kept),
        message=message,
        best_score=summary.best,
        threshold=summary.bar,
        hidden=summary.hidden + len(retired),
        retired=retired,
        dropped=summary.dropped,
        folded=sum(part.folded for part in parts) + folder.folded,
        left_out=len(hits) - len(kept),
        warnings=tuple(warnings),
        pending=sum(part.pending for part in parts),
        mode=_mode(request, parts),
        why=tuple(part.why for part in parts if part.why),
    )


def _summary(parts: Sequence[_Part], shown: int) -> Findings:
    """One sentence's worth of all KBs: cosines where any has them, else keyword shares."""
    keyword_only = all(part.bar.threshold is None for part in parts)
    scores = [part.best_share if keyword_only else part.best_cosine for part in parts]
    bars = [part.bar.alone if keyword_only else part.bar.threshold for part in parts]
    return Findings(
        shown=shown,
        best=max((score for score in scores if score is not None), default=None),
        bar=min((bar for bar in bars if bar is not None), default=None),
        keyword_only=keyword_only,
        dropped=sum(part.dropped for part in parts),
        hidden=sum(part.hidden for part in parts),
        folders=tuple(dict.fromkeys(name for part in parts for name in part.folders)),
        filtered=any(part.filtered for part in parts),
        absent=tuple(sorted(frozenset.intersection(*(part.absent for part in parts)))),
        guessed=tuple(sorted(frozenset.intersection(*(part.guessed for part in parts)))),
    )


def _within(hits: Sequence[Hit], max_chars: int) -> list[Hit]:
    """The first hits whose texts fit together; always one."""
    if not max_chars:
        return list(hits)
    kept: list[Hit] = []
    total = 0
    for hit in hits:
        total += len(hit.text)
        if kept and total > max_chars:
            break
        kept.append(hit)
    return kept


def _mode(request: SearchRequest, parts: Sequence[_Part]) -> str:
    if request.mode != "auto":
        return request.mode
    return "hybrid" if any(part.bar.threshold is not None for part in parts) else "bm25"
