"""Servers with `/v1/rerank`: vLLM, LocalAI, llama.cpp, Infinity, and Jina or Cohere as a service.

Protocol: Cohere's API reference, "Rerank", as those servers took it over: query and documents in,
`results` with `index` and `relevance_score` out, best first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from seoga_embedding.provider import Call, Endpoint, RemoteInfo, UnusableAnswer
from seoga_embedding.providers._protocol import bearer
from seoga_embedding.providers.openai import versioned


class Reranking:
    """Speaks to one endpoint."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    def rerank_call(self, query: str, texts: Sequence[str]) -> Call:
        """POST …/v1/rerank."""
        asked = {
            "model": self._endpoint.model,
            "query": query,
            "documents": list(texts),
            "top_n": len(texts),
        }
        return Call(versioned(self._endpoint.url, "rerank"), asked, bearer(self._endpoint))

    def read_scores(self, body: Any, count: int) -> list[float]:
        """Placed by the index that each carries."""
        return placed(
            body.get("results") if isinstance(body, dict) else None, count, "relevance_score"
        )


def placed(found: Any, count: int, name: str) -> list[float]:
    """The scores of `count` texts from a list of `{index, <name>}`. Raises UnusableAnswer."""
    if not isinstance(found, list):
        raise UnusableAnswer("it holds no list of scores")
    scores: dict[int, float] = {}
    for entry in found:
        index, score = (entry.get("index"), entry.get(name)) if isinstance(entry, dict) else (0, 0)
        if not isinstance(index, int) or not 0 <= index < count:
            raise UnusableAnswer(f"it holds a score for text {index!r} of {count}")
        if not isinstance(score, int | float) or not math.isfinite(score):
            raise UnusableAnswer(f"the score of text {index} is no number")
        scores[index] = float(score)
    if len(scores) != count:
        raise UnusableAnswer(f"it holds {len(scores)} scores for {count} texts")
    return [scores[index] for index in range(count)]


PROVIDER = RemoteInfo(
    name="cross-encoder",
    default_model="BAAI/bge-reranker-v2-m3",
    default_url="http://localhost:8000/v1",
    preset="Reranker",
    cross_encoder=Reranking,
    key_optional=True,
    missing_model="Check {group}.model: the name under which your server has {model}.",
)
