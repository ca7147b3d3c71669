"""The fake provider on loopback, and engines that reach it over real HTTP."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from seoga.contracts.embedding import Passage, PassageVectors
from seoga.errors import EmbeddingFailed
from seoga.models import EmbeddingSpec
from seoga.settings import Settings
from seoga_embedding.engine import EmbeddingEngine
from seoga_embedding.fake.app import create
from seoga_embedding.fake.rules import Desk
from seoga_embedding.remote import gate

KEY = "test-key-0123456789"


@dataclass(frozen=True, slots=True)
class Fake:
    """A running fake provider."""

    url: str
    desk: Desk

    def rules(self, **rules: Any) -> None:
        httpx.put(f"{self.url}/fake/rules", json=rules).raise_for_status()

    def faults(self, *faults: dict[str, Any]) -> None:
        httpx.post(f"{self.url}/fake/faults", json=list(faults)).raise_for_status()

    def calls(self, path: str = "") -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = httpx.get(f"{self.url}/fake/calls").json()
        return [call for call in found if path in call["path"]]


@pytest.fixture(scope="session")
def fake_server() -> Iterator[Fake]:
    desk = Desk()
    server = uvicorn.Server(uvicorn.Config(create(desk), port=0, log_level="critical"))
    thread = threading.Thread(target=server.run)
    thread.start()
    deadline = time.monotonic() + 20
    while not server.started:
        assert time.monotonic() < deadline
        threading.Event().wait(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield Fake(f"http://127.0.0.1:{port}", desk)
    server.should_exit = True
    thread.join(20)


@pytest.fixture
def fake(fake_server: Fake) -> Fake:
    """The fake as it is at its start."""
    httpx.delete(f"{fake_server.url}/fake").raise_for_status()
    return fake_server


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses between tries take no time."""
    monkeypatch.setattr(gate, "FIRST_PAUSE_S", 0.001)


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key of every provider in the environment."""
    for name in ("OPENAI", "AZURE", "GEMINI", "ANTHROPIC"):
        monkeypatch.setenv(f"{name}_API_KEY", KEY)


@pytest.fixture
def start(tmp_path: Path, quick: None, keys: None) -> Iterator[Callable[[], EmbeddingEngine]]:
    """Starts an engine; all of a test share one base path."""
    engines: list[EmbeddingEngine] = []

    def new(**changes: Any) -> EmbeddingEngine:
        engines.append(EmbeddingEngine(Settings(base_path=tmp_path / "base", **changes)))
        return engines[-1]

    yield new
    for engine in engines:
        engine.close()


@pytest.fixture
def engine(start: Callable[[], EmbeddingEngine]) -> EmbeddingEngine:
    """An engine that nobody used yet."""
    return start()


@pytest.fixture
def spec_of(fake: Fake) -> Callable[..., EmbeddingSpec]:
    """What a KB's config says of a provider at the fake."""

    def spec(provider: str, model: str = "", **changes: Any) -> EmbeddingSpec:
        base = {"gemini": "/v1beta"}.get(provider, "")
        model = model or {"azure": "text-embedding-3-small"}.get(provider, "")
        url = changes.pop("base_url", fake.url + base)
        return EmbeddingSpec(provider, model, url, **changes)

    return spec


def passages(count: int) -> list[Passage]:
    return [Passage(f"passage number {n}") for n in range(count)]


def good(results: list[PassageVectors | EmbeddingFailed]) -> list[PassageVectors]:
    return [result for result in results if isinstance(result, PassageVectors)]


def bad(results: list[PassageVectors | EmbeddingFailed]) -> list[EmbeddingFailed]:
    return [result for result in results if isinstance(result, EmbeddingFailed)]


@pytest.fixture(autouse=True)
def no_network_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """A circuit that a test opens stays open for the test."""
    monkeypatch.setattr(gate, "OPEN_S", 30.0)


class Recorder:
    """In the place of a module's logger: keeps what is said."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, dict[str, Any]]] = []

    def warning(self, event: str, **facts: Any) -> None:
        self.lines.append((event, facts))
