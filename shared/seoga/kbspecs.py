"""From the keys of config.json to what the embedding service is asked for."""

from __future__ import annotations

from typing import Any

from seoga.kbconfig import KbConfig, ModelKeys
from seoga.models import ContextSpec, EmbeddingSpec, RerankSpec


def embedding(config: KbConfig) -> EmbeddingSpec:
    """Which model makes the vectors; provider "" means none."""
    asked = config.embedding
    return EmbeddingSpec(
        asked.provider, dimension=asked.dimension, batch_size=asked.batch_size, **_server(asked)
    )


def contexts(config: KbConfig) -> ContextSpec:
    """Which LLM gives context; provider "" means none (an empty model is off too)."""
    asked = config.contextualizer
    return ContextSpec(
        asked.provider if asked.model else "",
        prompt=config.system_prompt or "",
        batch=asked.batch,
        **_server(asked),
    )


def reranking(config: KbConfig) -> RerankSpec:
    """Which model puts the first hits in order; provider "" means none."""
    asked = config.reranker
    return RerankSpec(
        asked.provider,
        candidates=asked.candidates,
        timeout_s=asked.timeout_seconds,
        **_server(asked),
    )


def _server(asked: ModelKeys) -> dict[str, Any]:
    """What these keys share: the model and where it is served."""
    return {
        "model": asked.model,
        "base_url": asked.base_url or "",
        "api_key_preset": asked.api_key_preset or "",
        "keep_alive": asked.keep_alive,
        "num_ctx": asked.num_ctx,
    }
