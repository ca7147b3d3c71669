"""A knowledge base whose provider is slow, dead or says "too fast" delays no run and no query of
another one, with several queue workers, in one process and over the services; and its own run ends
when it is asked to."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

from seoga.errors import NotFound
from seoga.kb import find_kb
from seoga.search.engine import search
from seoga.search.request import SearchRequest
from seoga.settings import Settings, settings
from seoga.storage.database import open_reader
from seoga.storage.reading import runs
from seoga.wiring import Stack
from seoga_embedding.fake.app import create
from seoga_embedding.fake.rules import Fault, Rules

from ..silent import silent
from ..waiting import when
from .serving import serving
from .watched import Watched

SOON_S = 20
FILES = 12
BAD = ("bad-0", "bad-1")


@contextmanager
def slow(came: Queue[str]) -> Iterator[str]:
    """Answers a minute later."""
    desk = Watched()
    desk.came, desk.rules = came, Rules(latency=60)
    with serving(create(desk)) as url:
        yield url


@contextmanager
def too_fast(came: Queue[str]) -> Iterator[str]:
    """Wants everyone to wait for more than a minute."""
    desk = Watched()
    desk.came = came
    desk.expect([Fault(status=429, retry_after="100", times=10**6)])
    with serving(create(desk)) as url:
        yield url


@pytest.fixture(params=[slow, too_fast, silent], ids=lambda form: form.__name__)
def bad(request: pytest.FixtureRequest) -> Iterator[tuple[Queue[str], str]]:
    """The address of a provider that keeps everyone waiting, and when it was first asked."""
    came: Queue[str] = Queue()
    with request.param(came) as url:
        yield came, url


@pytest.fixture
def good() -> Iterator[str]:
    with serving(create()) as url:
        yield url


@pytest.fixture(params=["in this process", "over the services"])
def stack(
    request: pytest.FixtureRequest,
    start_service: Any,
    base_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Stack]:
    """Three knowledge bases at once."""
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    monkeypatch.setenv("SEOGA_QUERY_TIMEOUT_S", "2")
    settings.cache_clear()
    urls = {}
    if request.param == "over the services":
        embedding = start_service("embedding")
        told = {"SEOGA_EMBEDDING_URL": embedding, "SEOGA_QUEUE_WORKERS": "3"}
        indexer = start_service("indexer", SEOGA_BASE_PATH=str(base_path), **told)
        urls = {"embedding_url": embedding, "indexer_url": indexer}
    made = Stack(Settings(base_path=base_path, queue_workers=3, **urls))
    yield made
    made.close()


def write(base: Path, name: str, url: str) -> None:
    docs = base.parent / name
    docs.mkdir()
    for number in range(FILES):
        (docs / f"{number}.md").write_text(f"# {name} {number}\n\nAnnual leave of {number} days.")
    (base / name).mkdir()
    embedding = {"provider": "openai", "model": "text-embedding-3-small", "baseUrl": url}
    config = {"id": name, "sourcePaths": [str(docs)], "embedding": embedding}
    (base / name / "config.json").write_text(json.dumps(config))


def last_run(base: Path, name: str) -> str:
    """Its status; "" where there was none."""
    try:
        with closing(open_reader(find_kb(base, name).db_path)) as conn:
            return next((run["status"] for run in runs(conn, 1)), "")
    except NotFound:
        return ""


def timed(action: Callable[[], Any]) -> tuple[Any, float]:
    started = time.monotonic()
    return action(), time.monotonic() - started


@pytest.mark.slow
def test_a_provider_that_keeps_one_waiting_delays_no_other_and_no_stop(
    stack: Stack, base_path: Path, bad: tuple[Queue[str], str], good: str
) -> None:
    came, url = bad
    for name in BAD:
        write(base_path, name, url)
        stack.indexing.enqueue(name)
    came.get(timeout=60)
    write(base_path, "good", good)
    stack.indexing.enqueue("good")
    when(base_path, lambda: last_run(base_path, "good") == "done", SOON_S)
    assert [last_run(base_path, name) for name in BAD] == ["running"] * 2
    kbs = {name: find_kb(base_path, name) for name in (*BAD, "good")}
    request = SearchRequest("annual leave", mode="auto")

    answer, took = timed(lambda: search([kbs["good"]], request, stack.embedding))
    assert answer.hits
    assert not answer.warnings
    assert took < 2
    # Whoever asks the others has words alone, after the time that a question may take ...
    answer, _ = timed(lambda: search([kbs["bad-0"]], request, stack.embedding))
    assert answer.hits
    # ... and that takes nothing from the next question to this one.
    answer, took = timed(lambda: search([kbs["good"]], request, stack.embedding))
    assert not answer.warnings
    assert took < 2

    for name in BAD:
        stack.indexing.cancel(name)
    when(
        base_path,
        lambda: [last_run(base_path, name) for name in BAD] == ["cancelled"] * 2,
        SOON_S,
    )
