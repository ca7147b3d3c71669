"""One suite, two adapters: the engine in this process, and the client of the real service."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import httpx
import numpy as np
import pytest
import uvicorn

from seoga.contracts.embedding import (
    MOST_EXCERPTS,
    MOST_PASSAGES,
    Context,
    Embedding,
    EmbeddingClient,
    Excerpt,
    Passage,
    PassageVectors,
    routes,
)
from seoga.errors import (
    ConfigError,
    EmbeddingFailed,
    ProviderFault,
    ServiceUnavailable,
)
from seoga.models import ContextSpec, EmbeddingSpec, RerankSpec
from seoga.service import build_app
from seoga.settings import settings
from seoga_embedding.engine import EmbeddingEngine
from seoga_embedding.fake.app import create

SPECS = [EmbeddingSpec(), EmbeddingSpec(provider="hashing")]
PASSAGES = [
    Passage("안녕하세요. **Hello** [world](https://example.org).", "장 > 절", "문맥"),
    Passage(""),
    Passage("a\0b \ud800 😀"),
    Passage("|---|"),
]


@pytest.fixture(scope="module")
def engine() -> Iterator[EmbeddingEngine]:
    engine = EmbeddingEngine(settings().model_copy(update={"embed_processes": 1}))
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def client(engine: EmbeddingEngine) -> Iterator[EmbeddingClient]:
    app = build_app("embedding", routes=[routes(engine)], ready=engine.ready)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    deadline = time.monotonic() + 20
    while not server.started:
        assert time.monotonic() < deadline
        threading.Event().wait(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    client = EmbeddingClient(f"http://127.0.0.1:{port}/")
    yield client
    client.close()
    server.should_exit = True
    thread.join(20)


@pytest.fixture(params=["engine", "client"])
def port(request: pytest.FixtureRequest) -> Embedding:
    found: Embedding = request.getfixturevalue(request.param)
    return found


@pytest.mark.parametrize("spec", SPECS)
def test_the_card_says_what_the_vectors_are(port: Embedding, spec: EmbeddingSpec) -> None:
    card = port.card(spec)
    assert card.provider == spec.provider
    assert port.embed_query("x", spec).shape == (card.dimension,)
    texts = ["휴가 규정", "annual leave", ""]
    together = port.embed_queries(texts, spec)
    for one, text in zip(together, texts, strict=True):
        assert one @ port.embed_query(text, spec) == pytest.approx(1, abs=1e-4)
    assert port.embed_queries([], spec) == []
    assert 0 < card.threshold < 1


@pytest.mark.parametrize("spec", SPECS)
def test_results_come_in_order_and_an_error_is_of_its_passage_alone(
    port: Embedding, spec: EmbeddingSpec
) -> None:
    first, empty, odd, marks = port.embed_passages(PASSAGES, spec)
    assert isinstance(first, PassageVectors)
    assert first.penalties[-1] == np.float32(0.05)
    assert isinstance(empty, EmbeddingFailed)
    assert empty.fault is ProviderFault.BAD_OUTPUT
    assert isinstance(odd, PassageVectors)
    assert isinstance(marks, PassageVectors)


@pytest.mark.parametrize("text", ["", "질문", "\ud800\0", "가" * 50_000])
def test_any_query_has_a_unit_vector(port: Embedding, text: str) -> None:
    assert np.linalg.norm(port.embed_query(text, SPECS[0])) == pytest.approx(1, abs=1e-5)


def test_a_wrong_config_is_the_same_error_on_both_sides(port: Embedding) -> None:
    with pytest.raises(ConfigError, match="unknown") as caught:
        port.card(EmbeddingSpec(provider="opneai"))
    assert "builtin" in caught.value.hint
    with pytest.raises(ConfigError, match=r"embedding\.baseUrl"):
        port.embed_query("x", EmbeddingSpec(provider="azure", model="d"))
    with pytest.raises(ConfigError):
        port.embed_passages(PASSAGES, EmbeddingSpec(model="no-such-model"))


def test_more_passages_than_a_request_holds_all_come_back(port: Embedding) -> None:
    count = MOST_PASSAGES + 3
    results = port.embed_passages([Passage(f"p{n}") for n in range(count)], SPECS[1])
    assert len(results) == count
    assert all(isinstance(result, PassageVectors) for result in results)


@pytest.mark.parametrize("spec", SPECS)
def test_both_sides_give_the_same_numbers(
    engine: EmbeddingEngine, client: EmbeddingClient, spec: EmbeddingSpec
) -> None:
    assert engine.card(spec) == client.card(spec)
    assert np.array_equal(engine.embed_query("질문", spec), client.embed_query("질문", spec))
    here, there = engine.embed_passages(PASSAGES, spec), client.embed_passages(PASSAGES, spec)
    for one, two in zip(here, there, strict=True):
        if isinstance(one, PassageVectors):
            assert isinstance(two, PassageVectors)
            assert np.array_equal(one.vectors, two.vectors)
            assert np.array_equal(one.penalties, two.penalties)
        else:
            assert isinstance(two, EmbeddingFailed)
            assert (two.message, two.fault) == (one.message, one.fault)


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    """The address of a provider: the fake."""
    server = uvicorn.Server(uvicorn.Config(create(), port=0, log_level="critical"))
    thread = threading.Thread(target=server.run)
    thread.start()
    deadline = time.monotonic() + 20
    while not server.started:
        assert time.monotonic() < deadline
        threading.Event().wait(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(20)


def test_a_provider_behind_the_service_gives_the_same(port: Embedding, provider: str) -> None:
    httpx.put(f"{provider}/fake/rules", json={"refuse": ["bad"]})
    spec = EmbeddingSpec("openai", "text-embedding-3-small", provider)
    one, wrong, two = port.embed_passages([Passage("one"), Passage("bad"), Passage("two")], spec)
    for found in (one, two):
        assert isinstance(found, PassageVectors)
        assert found.vectors.shape == (1, 1536)
        assert found.tokens > 0
    assert isinstance(wrong, EmbeddingFailed)
    assert wrong.fault is ProviderFault.REJECTED
    assert port.card(spec).price > 0


def test_contexts_and_their_errors_cross_the_service(port: Embedding, provider: str) -> None:
    httpx.put(f"{provider}/fake/rules", json={})
    spec = ContextSpec("openai", f"model-{id(port)}", provider)
    asked = [
        Excerpt(f"문단 {n} \ud800", title="제목", heading="장") for n in range(MOST_EXCERPTS + 2)
    ]
    results = port.contextualize(asked, spec)
    assert len(results) == len(asked)
    assert isinstance(results[0], Context)
    for number, result in enumerate(results):
        assert isinstance(result, Context)
        assert f"문단 {number}" in result.text
        assert result.tokens_in > 0
    httpx.put(f"{provider}/fake/rules", json={"answer": "no context here"})
    (raw,) = port.contextualize([Excerpt("other")], spec)
    assert isinstance(raw, EmbeddingFailed)
    assert raw.fault is ProviderFault.BAD_OUTPUT
    assert not raw.final
    port.contextualize([Excerpt("other")], spec)
    (given_up,) = port.contextualize([Excerpt("other")], spec)
    assert isinstance(given_up, EmbeddingFailed)
    assert given_up.final
    forecast = port.forecast_contexts([*asked[:1], Excerpt("other"), Excerpt("more")], spec)
    assert list(forecast.asked) == [2]
    assert [tuple(one)[:2] for one in forecast.kept] == [(0, results[0].text)]
    with pytest.raises(ConfigError, match="contextualizer"):
        port.contextualize([Excerpt("x")], ContextSpec("nobody", "m"))


def test_texts_are_scored_for_a_query(port: Embedding, provider: str) -> None:
    texts = ["창문을 닫는다 \ud800", "연차 휴가는 십오일", "other"]
    spec = RerankSpec("tei", base_url=provider)
    scores = port.rerank("연차 휴가 \ud800", texts, spec)
    assert max(scores) == scores[1]
    assert port.rerank("q", [], spec) == []
    with pytest.raises(ConfigError, match="reranker"):
        port.rerank("q", texts, RerankSpec("nobody"))
    httpx.post(f"{provider}/fake/faults", json=[{"kind": "status", "status": 500}])
    with pytest.raises(EmbeddingFailed) as failed:
        port.rerank("q", texts, spec)
    assert failed.value.fault is ProviderFault.OUTAGE


def test_a_service_that_is_not_there_is_said_to_be_unavailable(free_port: int) -> None:
    client = EmbeddingClient(f"http://127.0.0.1:{free_port}")
    with pytest.raises(ServiceUnavailable):
        client.embed_query("x", SPECS[0])
    client.close()
