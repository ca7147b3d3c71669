"""Hugging Face's Text Embeddings Inference with a cross-encoder: `/rerank`.

Protocol: its OpenAPI description, "rerank": query and texts in, a list of `index` and `score` out.
A server has one model. Texts that are too long are cut: the beginning of a passage tells enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from seoga_embedding.provider import Call, Endpoint, RemoteInfo
from seoga_embedding.providers._protocol import bearer
from seoga_embedding.providers.cross_encoder import placed


class TextEmbeddingsInference:
    """Speaks to one server."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    def rerank_call(self, query: str, texts: Sequence[str]) -> Call:
        """POST /rerank."""
        asked = {"query": query, "texts": list(texts), "raw_scores": False, "truncate": True}
        return Call("/rerank", asked, bearer(self._endpoint))

    def read_scores(self, body: Any, count: int) -> list[float]:
        """Placed by the index that each carries."""
        return placed(body, count, "score")


PROVIDER = RemoteInfo(
    name="tei",
    default_model="the server's own",
    default_url="http://localhost:8080",
    preset="Reranker",
    strip=("/rerank", "/v1"),
    cross_encoder=TextEmbeddingsInference,
    key_optional=True,
)
