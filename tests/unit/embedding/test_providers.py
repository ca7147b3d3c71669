"""What each provider is sent, field by field, over real HTTP; and what is made of its answers."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from seoga.contracts.embedding import Passage
from seoga.errors import ConfigError, EmbeddingFailed, MissingDependency, ProviderFault
from seoga.models import EmbeddingSpec
from seoga_embedding.engine import EmbeddingEngine
from seoga_embedding.fake.rules import mark
from seoga_embedding.remote import remotes

from .conftest import KEY, Fake, Recorder, good, passages

Spec = Callable[..., EmbeddingSpec]
PROVIDERS = ("openai", "azure", "ollama", "gemini")


def sent(fake: Fake, path: str) -> dict[str, Any]:
    (call,) = fake.calls(path)
    return call


def test_openai_is_sent_what_its_reference_says(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec
) -> None:
    fake.rules(key=KEY)
    engine.embed_passages([Passage("one"), Passage("two is longer")], spec_of("openai"))
    call = sent(fake, "/v1/embeddings")
    assert call["method"] == "POST"
    assert call["path"] == "/v1/embeddings"
    assert call["query"] == {}
    assert call["headers"]["authorization"] == mark(f"Bearer {KEY}")
    assert call["headers"]["content-type"] == "application/json"
    assert call["body"] == {
        "model": "text-embedding-3-small",
        "input": ["one", "two is longer"],
        "encoding_format": "base64",
        "dimensions": 1536,
    }


@pytest.mark.parametrize(
    ("server", "asked"),
    [
        ("gives", ["base64", "base64"]),
        ("ignores", ["base64", "float"]),
        ("refuses", ["base64", "float", "float"]),
        ("wide", ["base64", "float", "float"]),
    ],
)
def test_a_server_that_gives_no_base64_is_asked_for_numbers_after_one_try(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec, server: str, asked: list[str]
) -> None:
    (plain,) = good(engine.embed_passages([Passage("one")], spec_of("azure", dimension=1536)))
    fake.rules(base64=server)
    for _ in range(2):
        (told,) = good(engine.embed_passages([Passage("one")], spec_of("openai")))
        assert np.allclose(told.vectors, plain.vectors, atol=1e-6)
    calls = fake.calls("/v1/embeddings")
    assert [call["body"]["encoding_format"] for call in calls] == asked


def test_a_refusal_that_has_another_reason_is_no_reason_to_ask_for_numbers(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec
) -> None:
    fake.faults({"status": 400, "message": "This text is not allowed.", "times": 9})
    with pytest.raises(EmbeddingFailed):
        engine.embed_query("one", spec_of("openai"))
    assert {call["body"]["encoding_format"] for call in fake.calls("/v1/embeddings")} == {"base64"}


def test_azure_is_sent_what_its_reference_says(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec
) -> None:
    fake.rules(key=KEY)
    engine.embed_passages([Passage("one")], spec_of("azure", dimension=512))
    call = sent(fake, "/openai/deployments/text-embedding-3-small/embeddings")
    assert call["query"] == {"api-version": "2024-10-21"}
    assert call["headers"]["api-key"] == mark(KEY)
    assert "authorization" not in call["headers"]
    assert call["body"] == {"input": ["one"], "encoding_format": "base64", "dimensions": 512}


def test_ollama_is_sent_what_its_reference_says(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec
) -> None:
    spec = spec_of("ollama", "nomic-embed-text", keep_alive="-1", num_ctx=4096)
    engine.embed_passages([Passage("one")], spec)
    call = sent(fake, "/api/embed")
    assert call["body"] == {
        "model": "nomic-embed-text",
        "input": ["search_document: one"],
        "truncate": False,
        "keep_alive": -1,
        "options": {"num_ctx": 2048},
    }
    assert "authorization" not in call["headers"]


def test_gemini_is_sent_what_its_reference_says(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec
) -> None:
    fake.rules(key=KEY)
    spec = spec_of("gemini", "gemini-embedding-001", dimension=768)
    engine.embed_passages([Passage("one"), Passage("two is longer")], spec)
    call = sent(fake, ":batchEmbedContents")
    assert call["path"] == "/v1beta/models/gemini-embedding-001:batchEmbedContents"
    assert call["query"] == {}
    assert call["headers"]["x-goog-api-key"] == mark(KEY)
    assert call["body"]["requests"][0] == {
        "model": "models/gemini-embedding-001",
        "content": {"parts": [{"text": "one"}]},
        "taskType": "RETRIEVAL_DOCUMENT",
        "outputDimensionality": 768,
    }
    engine.embed_query("where?", spec)
    assert sent(fake, ":embedContent")["body"]["taskType"] == "RETRIEVAL_QUERY"


def test_the_newer_gemini_model_is_told_the_role_by_a_prefix(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec
) -> None:
    engine.embed_passages([Passage("one")], spec_of("gemini"))
    engine.embed_query("where?", spec_of("gemini"))
    texts = [call["body"]["content"]["parts"][0]["text"] for call in fake.calls(":embedContent")]
    assert texts == ["title: none | text: one", "task: search result | query: where?"]


def test_a_query_never_has_the_prefix_of_a_document(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec
) -> None:
    engine.embed_query("where?", spec_of("ollama", "nomic-embed-text:latest"))
    assert sent(fake, "/api/embed")["body"]["input"] == ["search_query: where?"]


@pytest.mark.parametrize(
    ("base", "path"),
    [
        ("", "/v1/embeddings"),
        ("/", "/v1/embeddings"),
        ("/v1", "/v1/embeddings"),
        ("/v1/", "/v1/embeddings"),
        ("/openai/v1", "/openai/v1/embeddings"),
        ("/gateway/openai/", "/gateway/openai/v1/embeddings"),
        ("/v1/embeddings", "/v1/embeddings"),
    ],
)
def test_a_base_address_may_carry_a_path_or_the_version(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec, base: str, path: str
) -> None:
    engine.embed_query("x", spec_of("openai", base_url=fake.url + base))
    assert sent(fake, "/embeddings")["path"] == path


@pytest.mark.parametrize(
    ("base", "path", "query"),
    [
        (
            "?api-version=2025-01-01",
            "/openai/deployments/d1/embeddings",
            {"api-version": "2025-01-01"},
        ),
        ("/openai", "/openai/deployments/d1/embeddings", {"api-version": "2024-10-21"}),
        (
            "/openai/deployments/other",
            "/openai/deployments/other/embeddings",
            {"api-version": "2024-10-21"},
        ),
        ("/openai/v1/", "/openai/v1/embeddings", {}),
    ],
)
def test_an_azure_address_is_joined_in_all_its_forms(
    fake: Fake, engine: EmbeddingEngine, base: str, path: str, query: dict[str, str]
) -> None:
    engine.embed_query("x", EmbeddingSpec("azure", "d1", fake.url + base))
    call = fake.calls()[-1]
    assert (call["path"], call["query"]) == (path, query)
    assert call["body"].get("model") == (None if query else "d1")


@pytest.mark.parametrize("end", ["/v1", "/api", "/"])
def test_an_ollama_address_copied_from_another_program_works(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec, end: str
) -> None:
    engine.embed_query("x", spec_of("ollama", base_url=fake.url + end))
    assert fake.calls("/api/embed")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_provider_gives_unit_vectors_in_the_order_of_the_passages(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec, provider: str
) -> None:
    spec = spec_of(provider)
    asked = [Passage(word * (7 - n)) for n, word in enumerate(["banana ", "apple ", "cherry "])]
    results = good(engine.embed_passages(asked, spec))
    card = engine.card(spec)
    for passage, result in zip(asked, results, strict=True):
        assert result.vectors.shape == (1, card.dimension)
        assert np.linalg.norm(result.vectors) == pytest.approx(1, abs=1e-5)
        (alone,) = good(engine.embed_passages([passage], spec))
        assert np.allclose(alone.vectors, result.vectors, atol=1e-6)
    apple = engine.embed_query("apple", spec)
    assert int(np.argmax([result.vectors[0] @ apple for result in results])) == 1


def test_vectors_below_full_size_are_normalised_here(
    engine: EmbeddingEngine, spec_of: Spec
) -> None:
    spec = spec_of("gemini", "gemini-embedding-001", dimension=768)
    (result,) = good(engine.embed_passages([Passage("one")], spec))
    assert result.vectors.shape == (1, 768)
    assert np.linalg.norm(result.vectors) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("provider", ["openai", "azure", "ollama"])
def test_the_tokens_that_a_provider_counts_are_shared_out(
    engine: EmbeddingEngine, spec_of: Spec, provider: str
) -> None:
    short, long = good(
        engine.embed_passages([Passage("one"), Passage("two " * 50)], spec_of(provider))
    )
    assert 0 < short.tokens < long.tokens


def test_a_model_that_is_not_pulled_is_named_with_the_command(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec
) -> None:
    fake.rules(models=["bge-m3:latest"])
    with pytest.raises(MissingDependency, match="nomic-embed-text") as caught:
        engine.card(spec_of("ollama", "nomic-embed-text"))
    assert caught.value.hint == "ollama pull nomic-embed-text"
    with pytest.raises(MissingDependency) as caught:
        engine.embed_passages(passages(3), spec_of("ollama", "nomic-embed-text"))
    assert caught.value.hint == "ollama pull nomic-embed-text"
    assert engine.card(spec_of("ollama", "bge-m3")).digest == "0123456789ab"


def test_another_build_of_a_model_is_another_identity(
    fake: Fake, start: Callable[[], EmbeddingEngine], spec_of: Spec
) -> None:
    before = start().card(spec_of("ollama")).key
    fake.rules(digest="feedfacefeedface")
    assert start().card(spec_of("ollama")).key != before


def test_an_unknown_model_works_and_its_size_is_asked_once(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec
) -> None:
    spec = spec_of("openai", "acme/embedder-9")
    card = engine.card(spec)
    assert (card.dimension, card.verified, card.prefix) == (256, False, "")
    engine.embed_passages(passages(3), spec)
    engine.card(spec)
    assert len(fake.calls("/v1/embeddings")) == 2
    assert all("dimensions" not in call["body"] for call in fake.calls("/v1/embeddings"))


def test_the_size_of_an_unknown_model_outlives_the_process_until_another_comes(
    fake: Fake, start: Callable[[], EmbeddingEngine], spec_of: Spec
) -> None:
    spec = spec_of("openai", "acme/embedder-9")
    assert start().card(spec).dimension == 256
    assert start().card(spec).dimension == 256
    assert len(fake.calls("/v1/embeddings")) == 1
    assert start().card(spec_of("openai", "acme/other")).dimension == 256
    assert len(fake.calls("/v1/embeddings")) == 2
    fake.rules(dimension=64)
    engine = start()
    assert engine.card(spec).dimension == 256
    with pytest.raises(EmbeddingFailed, match="gave 64 numbers where 256 were asked for") as caught:
        engine.embed_passages(passages(3), spec)
    assert "the next run makes all vectors anew" in caught.value.hint
    for later in (engine, start()):
        assert later.card(spec).dimension == 64
        assert len(good(later.embed_passages(passages(3), spec))) == 3


def test_the_size_of_an_unknown_model_is_asked_of_each_build(
    fake: Fake, start: Callable[[], EmbeddingEngine], spec_of: Spec
) -> None:
    spec = spec_of("ollama", "acme-embedder")
    fake.rules(models=["acme-embedder:latest"], dimension=64)
    assert start().card(spec).dimension == 64
    fake.rules(models=["acme-embedder:latest"], dimension=32, digest="feedfacefeedface")
    assert start().card(spec).dimension == 32


def test_an_unknown_model_is_reported_once(
    engine: EmbeddingEngine, spec_of: Spec, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = Recorder()
    monkeypatch.setattr(remotes, "log", said)
    for size in (0, 7):
        engine.card(spec_of("openai", "acme/embedder-9", batch_size=size))
        engine.card(spec_of("openai", batch_size=size))
    ((event, facts),) = said.lines
    assert "unverified" in event
    assert facts["model"] == "acme/embedder-9"


def test_an_unknown_model_is_asked_for_another_size_only_where_it_must(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec
) -> None:
    assert engine.card(spec_of("openai", "acme/embedder-9", dimension=256)).dimension == 256
    engine.embed_query("x", spec_of("openai", "acme/embedder-9", dimension=256))
    assert all("dimensions" not in call["body"] for call in fake.calls())
    vector = engine.embed_query("x", spec_of("openai", "acme/embedder-9", dimension=64))
    assert vector.shape == (64,)
    assert fake.calls()[-1]["body"]["dimensions"] == 64


def test_a_size_that_a_model_cannot_give_is_refused_before_any_call(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec
) -> None:
    for spec in (
        spec_of("openai", dimension=4096),
        spec_of("ollama", "bge-m3", dimension=512),
        spec_of("gemini", dimension=5000),
    ):
        with pytest.raises(ConfigError, match=r"embedding\.dimension"):
            engine.card(spec)
    assert fake.calls() == []


@pytest.mark.parametrize("provider", ["openai", "azure", "gemini"])
def test_a_missing_key_is_said_before_any_call(
    engine: EmbeddingEngine, monkeypatch: pytest.MonkeyPatch, provider: str
) -> None:
    variable = f"{provider.upper()}_API_KEY"
    monkeypatch.delenv(variable)
    base = "http://127.0.0.1:9" if provider == "azure" else ""
    with pytest.raises(EmbeddingFailed, match=variable) as caught:
        engine.embed_query("x", EmbeddingSpec(provider, "m", base))
    assert caught.value.fault is ProviderFault.AUTH


def test_a_key_from_a_file_is_read_again_when_it_was_corrected(
    fake: Fake,
    engine: EmbeddingEngine,
    spec_of: Spec,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Any,
) -> None:
    fake.rules(key="right-key")
    secret = tmp_path / "secret"
    secret.write_text("wrong-key\n")
    monkeypatch.setenv("MY_TEAM_API_KEY_FILE", str(secret))
    spec = spec_of("openai", api_key_preset="my-team")
    with pytest.raises(EmbeddingFailed) as caught:
        engine.embed_query("x", spec)
    assert caught.value.fault is ProviderFault.AUTH
    secret.write_text("right-key\n")
    assert engine.embed_query("x", spec).shape == (1536,)
    secret.unlink()
    with pytest.raises(ConfigError, match="MY_TEAM_API_KEY_FILE"):
        engine.embed_query("y", spec)
    os.mkfifo(secret)
    with pytest.raises(ConfigError, match="MY_TEAM_API_KEY_FILE"):
        engine.embed_query("z", spec)


@pytest.mark.parametrize(
    "address",
    ["ftp://host", "host:8080", "http://", "http://h:99999", "http://u:p@h", "http://h?key=abc"],
)
def test_an_address_that_cannot_be_one_or_holds_a_key_is_refused(
    engine: EmbeddingEngine, address: str
) -> None:
    with pytest.raises(ConfigError, match=r"embedding\.baseUrl") as caught:
        engine.embed_query("x", EmbeddingSpec("openai", "", address))
    assert "abc" not in caught.value.message + caught.value.hint


def test_azure_needs_an_address_and_a_deployment(engine: EmbeddingEngine) -> None:
    with pytest.raises(ConfigError, match=r"embedding\.model is empty"):
        engine.embed_query("x", EmbeddingSpec("azure"))
    with pytest.raises(ConfigError, match=r"embedding\.baseUrl is empty"):
        engine.embed_query("x", EmbeddingSpec("azure", "d"))
