"""Providers are found by their file, and a wrong name never reaches another one."""

from __future__ import annotations

import pytest

from seoga.errors import ConfigError, MissingDependency
from seoga.models import EmbeddingSpec
from seoga_embedding.registry import DECLARED, MODELS, find_model, open_provider, providers


def test_every_provider_file_declares_itself_and_has_its_default_model() -> None:
    assert {"builtin", "hashing"} <= set(providers())
    for name, info in providers().items():
        assert info.default_model in {row.model for row in MODELS[name]}


@pytest.mark.parametrize("name", ["opneai", "Builtin", "http://localhost", "builtin "])
def test_an_unknown_provider_is_refused_and_the_allowed_ones_are_named(name: str) -> None:
    with pytest.raises(ConfigError, match=r"embedding\.provider") as caught:
        open_provider(EmbeddingSpec(provider=name))
    assert "builtin" in caught.value.hint


@pytest.mark.parametrize("name", DECLARED)
def test_a_provider_that_is_not_built_says_so(name: str) -> None:
    with pytest.raises(MissingDependency, match="not available in this version"):
        open_provider(EmbeddingSpec(provider=name))


def test_no_provider_means_no_embeddings() -> None:
    with pytest.raises(ConfigError, match="no embeddings"):
        open_provider(EmbeddingSpec(provider=""))


def test_an_unknown_model_or_dimension_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"embedding\.model"):
        find_model(EmbeddingSpec(model="nomic-embed-text"))
    with pytest.raises(ConfigError, match=r"embedding\.dimension"):
        find_model(EmbeddingSpec(dimension=768))
    assert find_model(EmbeddingSpec(dimension=512)).dimension == 512
