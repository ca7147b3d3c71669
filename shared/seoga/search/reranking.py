"""The first hits put in order anew by a model that reads query and passages together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from seoga.contracts.deadline import within
from seoga.contracts.embedding import Embedding
from seoga.errors import EmbeddingFailed, SeogaError
from seoga.search.fusion import Candidate, in_order
from seoga.search.kbsearch import Found
from seoga.search.request import SearchRequest
from seoga.storage.reading import StoredChunk, chunks

# What the way to the embedding service may take on top of the provider's own limit.
_ON_THE_WAY_S: Final = 2.0


def rerank(found: Found, request: SearchRequest, query: str, embedding: Embedding | None) -> bool:
    """Reorders the first candidates of what a KB found, as its `reranker` says; False where nothing
    changed: there is none, the request forbids it, or it failed (then with a warning).

    They share out their rank scores anew, so that the merge with other KBs stays fair. Evidence
    and labels stay what they were: a model that only orders admits nothing. What stands for
    retired documents, or is named by the query, keeps its place.
    """
    spec = found.kb.rerank_spec()
    if not spec.provider or not request.rerank:
        return False
    wanted = found.admitted if request.abstain else found.ranked
    first = [each for each in wanted if not (each.attached or each.led)][: spec.candidates]
    stored = chunks(found.conn, [each.chunk_id for each in first])
    first = [each for each in first if each.chunk_id in stored]
    if len(first) < 2:
        return False
    try:
        if embedding is None:
            raise EmbeddingFailed("No embedding service is there.")
        with within(spec.timeout_s + _ON_THE_WAY_S):
            texts = [_shown(stored[each.chunk_id]) for each in first]
            scores = embedding.rerank(query, texts, spec)
    except SeogaError as error:
        found.warnings.append(f"Not reranked: {error.message}")
        return False
    _reorder(first, scores)
    found.ranked = in_order(found.ranked)
    return True


def _shown(chunk: StoredChunk) -> str:
    """The passage under its title and headings, which say what it is about."""
    headings = [chunk.title, *chunk.heading_path]
    return " > ".join(dict.fromkeys(filter(None, headings))) + "\n" + chunk.text


def _reorder(candidates: Sequence[Candidate], scores: Sequence[float]) -> None:
    places = sorted((each.rank_score for each in candidates), reverse=True)
    # Equal scores: as they were.
    order = sorted(range(len(candidates)), key=lambda at: -scores[at])
    for place, at in zip(places, order, strict=True):
        candidates[at].rerank = scores[at]
        candidates[at].rank_score = place
