"""Runs whose contexts come through a batch API: found by words meanwhile, collected later, and
paid once when a run is killed between sending and collecting."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from seoga.kb import Kb, load_kb
from seoga.search.engine import search
from seoga.search.request import SearchRequest
from seoga.settings import settings
from seoga.wiring import Stack

SEOGA = Path(sys.executable).with_name("seoga")
ANSWER = "CONTEXT: Zebra rules.\nKEYWORDS: 얼룩말, zebra"


@pytest.fixture
def fake(fake_provider: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "any")
    monkeypatch.setenv("SEOGA_LEASE_SECONDS", "2")
    settings.cache_clear()
    httpx.delete(f"{fake_provider}/fake").raise_for_status()
    yield fake_provider
    httpx.delete(f"{fake_provider}/fake").raise_for_status()


@pytest.fixture
def make(fake: str, base_path: Path, tmp_path: Path) -> Callable[..., Kb]:
    docs = tmp_path / "docs"
    docs.mkdir()
    for number in range(3):
        (docs / f"{number}.md").write_text(f"# Title {number}\n\nAnnual leave {number}.\n")

    def new(**changes: Any) -> Kb:
        folder = base_path / "kb"
        folder.mkdir(exist_ok=True)
        llm = {"provider": "anthropic", "model": "claude-haiku-4-5", "baseUrl": fake, "batch": True}
        config = {
            "id": "kb",
            "sourcePaths": [str(docs)],
            "embedding": {"provider": "hashing"},
            "contextualizer": llm | changes,
        }
        (folder / "config.json").write_text(json.dumps(config))
        return load_kb(folder)

    return new


def rules(fake: str, **changes: Any) -> None:
    httpx.put(f"{fake}/fake/rules", json={"answer": ANSWER, **changes}).raise_for_status()


def sent(fake: str) -> int:
    calls = httpx.get(f"{fake}/fake/calls").json()
    return sum(1 for call in calls if call["method"] == "POST")


def run(kb: Kb) -> Any:
    stack = Stack(settings())
    try:
        engine: Any = stack.indexing
        return engine.run_kb(kb)
    finally:
        stack.close()


def found(kb: Kb, word: str) -> int:
    stack = Stack(settings())
    try:
        return len(search([kb], SearchRequest(word, mode="bm25"), stack.embedding).hits)
    finally:
        stack.close()


def test_a_run_ends_while_its_batch_is_under_way_and_the_next_one_collects(
    fake: str, make: Callable[..., Kb]
) -> None:
    rules(fake, batches="held")
    kb = make()
    result = run(kb)
    assert result.degraded == 3
    assert any("3 passages wait for their context" in warning for warning in result.warnings)
    assert (found(kb, "annual leave"), found(kb, "얼룩말")) == (3, 0)
    assert run(kb).degraded == 3
    assert sent(fake) == 1
    rules(fake)
    result = run(kb)
    assert (result.degraded, result.warnings) == (0, ())
    assert found(kb, "얼룩말") == 3
    assert sent(fake) == 1


def test_a_run_that_may_wait_brings_the_contexts_itself(fake: str, make: Callable[..., Kb]) -> None:
    rules(fake)
    kb = make(batchWaitMinutes=2)
    result = run(kb)
    assert (result.indexed, result.degraded, result.warnings) == (3, 0, ())
    assert found(kb, "얼룩말") == 3


def test_a_run_killed_between_sending_and_collecting_pays_once(
    fake: str, make: Callable[..., Kb], tmp_path: Path
) -> None:
    rules(fake, batches="held")
    kb = make(batchWaitMinutes=10)
    log = (tmp_path / "log").open("wb")
    process = subprocess.Popen(
        [SEOGA, "exec", "--path", str(kb.folder), "--base-path", str(kb.folder.parent)],
        env=dict(os.environ),
        stdout=log,
        stderr=log,
    )
    try:
        deadline = time.monotonic() + 60
        while not sent(fake):
            assert time.monotonic() < deadline, (tmp_path / "log").read_text()
            assert process.poll() is None, (tmp_path / "log").read_text()
            threading.Event().wait(0.05)
    finally:
        process.kill()
        process.wait(20)
        log.close()
    rules(fake)
    # Its lease runs out in two seconds.
    threading.Event().wait(2.5)
    result = run(make())
    assert (result.degraded, result.warnings) == (0, ())
    assert found(kb, "얼룩말") == 3
    assert sent(fake) == 1


def test_a_provider_without_a_batch_api_is_said_and_costs_no_document(
    fake: str, make: Callable[..., Kb]
) -> None:
    kb = make(provider="ollama", model="q")
    result = run(kb)
    assert any("no batch API" in warning for warning in result.warnings)
    assert found(kb, "annual leave") == 3
    assert result.exit_code == 0
