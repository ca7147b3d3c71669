"""Providers that are slow, dead or say "too fast" delay nobody who uses another one, in one process
and over the services; a question is answered before the documents that wait at its own."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from seoga.contracts.deadline import within
from seoga.contracts.embedding import Embedding, EmbeddingClient, Passage, PassageVectors
from seoga.contracts.stop import until
from seoga.errors import SeogaError
from seoga.models import EmbeddingSpec
from seoga.settings import Settings
from seoga_embedding.engine import EmbeddingEngine
from seoga_embedding.fake.app import create
from seoga_embedding.fake.rules import Desk, Fault, Rules

from .serving import serving
from .watched import Watched

MODEL = "text-embedding-3-small"
CALLS = 16
# More requests than a service has threads for all of them together.
WAITING = 90
SOON_S = 15
FILES = 12


def slow(desk: Desk, url: str) -> str:
    desk.rules = Rules(latency=60)
    return url


def too_fast(desk: Desk, url: str) -> str:
    desk.expect([Fault(status=429, retry_after="100", times=10**6)])
    return url


KINDS = pytest.mark.parametrize("trouble", [slow, too_fast])


@pytest.fixture
def bad() -> Iterator[tuple[Watched, str]]:
    desk = Watched()
    with serving(create(desk)) as url:
        yield desk, url


@pytest.fixture
def good() -> Iterator[str]:
    with serving(create()) as url:
        yield url


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "any")


def spec_at(url: str) -> EmbeddingSpec:
    return EmbeddingSpec("openai", MODEL, url, batch_size=1, dimension=256)


def texts(count: int) -> list[Passage]:
    return [Passage(f"passage {number} of {time.time_ns()}") for number in range(count)]


@pytest.fixture(params=["in this process", "over the service"])
def embedding(
    request: pytest.FixtureRequest, start_service: Any, base_path: Path
) -> Iterator[Embedding]:
    """The port in both of its forms."""
    made: Embedding
    if request.param == "in this process":
        made = EmbeddingEngine(Settings(base_path=base_path, provider_calls=CALLS))
    else:
        made = EmbeddingClient(start_service("embedding", SEOGA_PROVIDER_CALLS=str(CALLS)))
    with closing(made):
        yield made


@contextmanager
def waiting(embedding: Embedding, url: str, count: int) -> Iterator[list[threading.Thread]]:
    """So many requests that wait for a provider, until the block ends; then they are stopped."""
    stop = threading.Event()

    def ask() -> None:
        with until(stop), suppress(SeogaError):
            embedding.embed_passages(texts(4), spec_at(url))

    threads = [threading.Thread(target=ask, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    yield threads
    stop.set()
    deadline = time.monotonic() + SOON_S
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    assert not [thread for thread in threads if thread.is_alive()]


@KINDS
def test_those_who_wait_for_one_provider_take_no_place_from_another(
    embedding: Embedding, bad: tuple[Watched, str], good: str, trouble: Callable[..., str]
) -> None:
    desk, _ = bad
    url = trouble(*bad)
    with waiting(embedding, url, WAITING) as threads:
        desk.came.get(timeout=SOON_S)
        with within(SOON_S):
            assert embedding.embed_query("연차 휴가", spec_at(good)).shape == (256,)
        started = time.monotonic()
        answers = embedding.embed_passages(texts(100), spec_at(good))
        assert all(isinstance(one, PassageVectors) for one in answers)
        assert time.monotonic() - started < SOON_S
        assert all(thread.is_alive() for thread in threads)


def test_questions_that_wait_for_one_provider_keep_no_question_of_another_waiting(
    embedding: Embedding, bad: tuple[Watched, str], good: str
) -> None:
    desk, _ = bad
    url = slow(*bad)
    embedding.embed_query("the first connection", spec_at(good))
    stop = threading.Event()

    def ask(number: int) -> None:
        with until(stop), suppress(SeogaError):
            embedding.embed_query(f"question {number}", spec_at(url))

    threads = [threading.Thread(target=ask, args=(n,), daemon=True) for n in range(WAITING)]
    for thread in threads:
        thread.start()
    desk.came.get(timeout=SOON_S)
    with within(5):
        assert embedding.embed_query("휴가", spec_at(good)).shape == (256,)
    stop.set()
    for thread in threads:
        thread.join(SOON_S)
    assert not [thread for thread in threads if thread.is_alive()]


def test_a_question_is_answered_before_the_documents_that_wait_at_its_provider(
    embedding: Embedding, bad: tuple[Watched, str]
) -> None:
    desk, url = bad
    desk.rules = Rules(latency=0.3)
    embedding.embed_query("the provider is known", spec_at(url))
    # Minutes of documents: 90 requests of 4 calls and one of 1,000, 16 at once.
    with waiting(embedding, url, WAITING):
        stop = threading.Event()

        def ask() -> None:
            with until(stop), suppress(SeogaError):
                embedding.embed_passages(texts(1000), spec_at(url))

        thread = threading.Thread(target=ask, daemon=True)
        thread.start()
        deadline = time.monotonic() + SOON_S
        while desk.most_at_once < CALLS:
            assert time.monotonic() < deadline
            threading.Event().wait(0.01)
        for number in range(3):
            with within(3):
                embedding.embed_query(f"question {number}", spec_at(url))
        assert thread.is_alive()
        stop.set()
        thread.join(SOON_S)
        assert not thread.is_alive()


def test_a_service_lets_go_of_a_provider_for_one_who_has_left(
    start_service: Any, good: str
) -> None:
    service = start_service("embedding", SEOGA_PROVIDER_CALLS="2")
    with socket.create_server(("127.0.0.1", 0)) as provider:
        provider.settimeout(SOON_S)
        url = f"http://127.0.0.1:{provider.getsockname()[1]}"
        client = EmbeddingClient(service)
        with closing(client), waiting(client, url, 1):
            taken, _ = provider.accept()
            taken.settimeout(SOON_S)
            assert taken.recv(1 << 16)
            # Those behind it leave first: one who still waits has a right to the free place.
            provider.settimeout(1)
            with waiting(client, url, 7), pytest.raises(TimeoutError):
                provider.accept()
        with taken:
            # What was under way is broken off at the provider too ...
            while taken.recv(1 << 16):
                pass
        # ... and none of the seven that stood behind it is sent.
        provider.settimeout(3)
        with pytest.raises(TimeoutError):
            provider.accept()
