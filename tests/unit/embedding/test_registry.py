"""Providers are found by their file, and a wrong name never reaches another one."""

from __future__ import annotations

import pytest

from seoga.errors import ConfigError
from seoga.models import EmbeddingSpec
from seoga_embedding.models import KNOWN, known_row
from seoga_embedding.provider import RemoteInfo
from seoga_embedding.registry import MODELS, find_model, open_provider, providers


def test_every_provider_file_declares_itself_and_knows_its_default_model() -> None:
    found = providers()
    remote = {"openai", "azure", "ollama", "gemini", "anthropic", "cross-encoder", "tei"}
    assert {"builtin", "hashing", *remote} == set(found)
    for name, info in found.items():
        if isinstance(info, RemoteInfo) and info.dialect is None:
            assert (info.chat is None) != (info.cross_encoder is None)
        elif isinstance(info, RemoteInfo):
            assert not info.default_model or known_row(info.default_model)
        else:
            assert info.default_model in {row.model for row in MODELS[name]}


@pytest.mark.parametrize("name", ["opneai", "Builtin", "http://localhost", "anthropic"])
def test_an_unknown_provider_is_refused_and_the_allowed_ones_are_named(name: str) -> None:
    with pytest.raises(ConfigError, match=r"embedding\.provider") as caught:
        open_provider(EmbeddingSpec(provider=name))
    assert "builtin" in caught.value.hint
    assert "ollama" in caught.value.hint
    assert "anthropic" not in caught.value.hint


def test_no_provider_means_no_embeddings() -> None:
    with pytest.raises(ConfigError, match="no embeddings"):
        open_provider(EmbeddingSpec(provider=""))


def test_an_unknown_model_or_dimension_of_this_process_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"embedding\.model"):
        find_model(EmbeddingSpec(model="nomic-embed-text"))
    with pytest.raises(ConfigError, match=r"embedding\.dimension"):
        find_model(EmbeddingSpec(dimension=768))
    assert find_model(EmbeddingSpec(dimension=512)).dimension == 512


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("bge-m3", "bge-m3"),
        ("bge-m3:latest", "bge-m3"),
        ("BAAI/bge-m3", "bge-m3"),
        ("text-embedding-bge-m3", "bge-m3"),
        ("intfloat/multilingual-e5-large", "multilingual-e5-large"),
        ("models/gemini-embedding-001", "gemini-embedding-001"),
        ("text-embedding-nomic-embed-text@q8_0", "nomic-embed-text"),
        ("text-embedding-3-small", "text-embedding-3-small"),
        ("my-bge-m3-tuned", None),
        ("", None),
    ],
)
def test_a_model_is_known_by_the_names_that_servers_give_it(name: str, known: str | None) -> None:
    row = known_row(name)
    assert (row.model if row else None) == known


def test_the_specified_values_stand_in_the_registry() -> None:
    assert KNOWN["bge-m3"].threshold == 0.55
    assert KNOWN["nomic-embed-text"].query_prefix == "search_query: "
    assert KNOWN["nomic-embed-text"].document_prefix == "search_document: "
    assert KNOWN["gemini-embedding-2"].dimension == 3072
    assert {768, 1536} <= set(KNOWN["gemini-embedding-2"].sizes)
    assert [providers()[name].default_model for name in ("ollama", "openai", "gemini")] == [
        "bge-m3",
        "text-embedding-3-small",
        "gemini-embedding-2",
    ]


@pytest.mark.parametrize("row", KNOWN.values(), ids=KNOWN)
def test_every_row_is_one_that_a_model_can_have(row: object) -> None:
    assert isinstance(row, type(KNOWN["bge-m3"]))
    assert 0 < row.threshold < 1
    assert row.dimension > 0
    assert all(0 < size < row.dimension for size in row.sizes)
    # What is cut into one window must be readable in one go, Hangul included.
    assert row.window + row.heading_chars + len(row.document_prefix) <= row.max_tokens
