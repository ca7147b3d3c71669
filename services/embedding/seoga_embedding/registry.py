"""Providers found in `providers/`, and what is known of each model."""

from __future__ import annotations

from functools import cache
from typing import Final

from seoga.errors import ConfigError, MissingDependency
from seoga.models import EmbeddingSpec
from seoga.registry import discover
from seoga_embedding.provider import ModelRow, Provider, ProviderInfo

# A KB's config may name these; what they need is not built yet, and nothing may stand in for them.
DECLARED: Final = ("openai", "azure", "ollama", "gemini")

MODELS: Final[dict[str, tuple[ModelRow, ...]]] = {
    # The threshold is measured: see the README, "The threshold".
    "builtin": (
        ModelRow(
            "use-multilingual-3",
            dimension=512,
            threshold=0.35,
            window=200,
            heading_chars=80,
            heading_penalty=0.05,
        ),
    ),
    "hashing": (
        ModelRow(
            "ngrams-256",
            dimension=256,
            threshold=0.15,
            window=200,
            heading_chars=80,
            heading_penalty=0.05,
        ),
    ),
}


@cache
def providers() -> dict[str, ProviderInfo]:
    """The declarations of this installation, by name."""
    found: list[ProviderInfo] = [
        module.PROVIDER for module in discover("seoga_embedding.providers")
    ]
    return {info.name: info for info in found}


def find_provider(spec: EmbeddingSpec) -> ProviderInfo:
    """The declaration that `spec` names. Raises ConfigError, or MissingDependency for one that is
    not built yet."""
    if info := providers().get(spec.provider):
        return info
    if spec.provider in DECLARED:
        raise MissingDependency(
            f"embedding.provider: {spec.provider!r} is not available in this version.",
            f"Use one of: {', '.join(providers())}.",
        )
    if not spec.provider:
        raise ConfigError(
            "embedding.provider is empty: this knowledge base has no embeddings.",
            "Search it by keyword, or set the provider to builtin.",
        )
    raise ConfigError(
        f"embedding.provider: {spec.provider!r} is unknown.",
        f"Allowed: {', '.join([*providers(), *DECLARED])}.",
    )


def find_model(spec: EmbeddingSpec) -> ModelRow:
    """The row of the model that `spec` names. Raises ConfigError for an unknown model or a wrong
    dimension."""
    info = find_provider(spec)
    rows = {row.model: row for row in MODELS[info.name]}
    name = spec.model or info.default_model
    row = rows.get(name)
    if row is None:
        raise ConfigError(
            f"embedding.model: {info.name} has no model {name!r}.", f"Allowed: {', '.join(rows)}."
        )
    if spec.dimension not in (0, row.dimension):
        raise ConfigError(
            f"embedding.dimension: {name} gives {row.dimension} numbers, not {spec.dimension}.",
            f"Use 0 or {row.dimension}.",
        )
    return row


def open_provider(spec: EmbeddingSpec) -> tuple[Provider, ModelRow]:
    """The provider of `spec`, opened but with nothing loaded, and its model's row."""
    row = find_model(spec)
    return find_provider(spec).open(spec, row), row
