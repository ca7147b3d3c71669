"""A passage that an LLM fails at by itself, through whole runs: paid for three times, found by its
own words for good, and told by `status`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from seoga.cli.main import invoke
from seoga.kb import Kb, load_kb
from seoga.search.engine import search
from seoga.search.request import SearchRequest
from seoga.settings import settings
from seoga.wiring import Stack

LLM = {"provider": "anthropic", "model": "claude-haiku-4-5"}
POISON = {"status": 400, "message": "content_filter", "word": "poison", "times": 10**6}
HICCUP = {"status": 500, "word": "hiccup", "times": 10**6}


@pytest.fixture
def fake(fake_provider: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    for name in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{name}_API_KEY", "any")
    httpx.delete(f"{fake_provider}/fake").raise_for_status()
    yield fake_provider
    httpx.delete(f"{fake_provider}/fake").raise_for_status()


@pytest.fixture
def make(fake: str, base_path: Path, tmp_path: Path) -> Callable[..., Kb]:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# Bad\n\nThe word poison is in it.\n")
    (docs / "b.md").write_text("# Well\n\nIt speaks of leave.\n")

    def new(**keys: Any) -> Kb:
        folder = base_path / "kb"
        folder.mkdir(exist_ok=True)
        config = {
            "id": "kb",
            "sourcePaths": [str(docs)],
            "embedding": {"provider": "hashing"},
            "contextualizer": LLM | {"baseUrl": fake},
        }
        (folder / "config.json").write_text(json.dumps(config | keys))
        return load_kb(folder)

    return new


def run(kb: Kb, *faults: dict[str, Any], **options: Any) -> tuple[int, Any]:
    """A run in services of its own: the calls that it made, and its result."""
    fake = str(kb.config.contextualizer.base_url)
    httpx.delete(f"{fake}/fake")
    httpx.post(f"{fake}/fake/faults", json=faults or (POISON,)).raise_for_status()
    stack = Stack(settings())
    try:
        engine: Any = stack.indexing
        result = engine.run_kb(kb, **options)
    finally:
        stack.close()
    return len(httpx.get(f"{fake}/fake/calls").json()), result


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    capsys.readouterr()
    assert invoke([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def state(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found: dict[str, Any] = told(capsys, "status")["kbs"][0]
    return found


def test_three_runs_ask_and_the_next_ones_do_not(
    make: Callable[..., Kb], capsys: pytest.CaptureFixture[str]
) -> None:
    kb = make()
    for tries in (1, 2, 3):
        calls, result = run(kb)
        assert calls >= 1
        assert (result.degraded, result.exit_code) == (1, 0)
        now = state(capsys)
        assert now["stale"] == ({"contexts": 1} if tries < 3 else {})
    for options in ({}, {}, {"partial": "contextualization"}):
        calls, result = run(kb, **options)
        # Whoever asks for all contexts anew gets that of the other passage.
        assert calls == (1 if options else 0)
        assert result.warnings == ()
    now = state(capsys)
    (problem,) = now["problem_files"]
    assert (problem["document"], problem["reason"]) == ("docs/a.md", "no_context")
    assert problem["detail"].startswith("1 of 1 passages have no context for good: anthropic at")
    assert "content_filter" in problem["detail"]
    assert (now["stale"], now["index"]["chunks_given_up"]) == ({}, 1)
    assert not any("Versions are old" in hint for hint in now["hints"])
    assert any("seoga exec --force" in hint for hint in now["hints"])
    assert invoke(["status"]) == 0
    assert (
        "passages without a context for good, found by their own words: 1"
        in capsys.readouterr().out
    )


def test_it_is_found_by_its_own_words_and_counts_in_no_estimate(
    make: Callable[..., Kb], capsys: pytest.CaptureFixture[str]
) -> None:
    kb = make()
    for _ in range(3):
        run(kb)
    estimate = told(capsys, "exec", "--path", str(kb.folder), "--estimate")
    assert (estimate["files"], estimate["calls"], estimate["tokens"]) == (0, 0, 0)
    forced = told(capsys, "exec", "--path", str(kb.folder), "--estimate", "--force")
    assert forced["contexts"]["asked"] == 1
    stack = Stack(settings())
    try:
        found = search([kb], SearchRequest("poison", mode="bm25"), stack.embedding)
    finally:
        stack.close()
    assert [hit.path for hit in found.hits] == ["a.md"]


def test_force_another_model_and_another_text_ask_again(
    make: Callable[..., Kb], tmp_path: Path
) -> None:
    kb = make()
    for _ in range(3):
        run(kb)
    assert run(kb)[0] == 0
    assert run(kb, force=True)[0] >= 1
    assert [run(kb)[0] > 0 for _ in range(3)] == [True, True, False]
    llm = LLM | {"model": "own-llm", "baseUrl": kb.config.contextualizer.base_url}
    other = make(contextualizer=llm)
    # Both passages are new to it.
    assert run(other)[0] >= 2
    assert [run(other)[0] > 0 for _ in range(3)] == [True, True, False]
    (tmp_path / "docs" / "a.md").write_text("# Bad\n\nNothing is wrong with it now.\n")
    calls, result = run(other)
    assert (calls, result.degraded) == (1, 0)


def test_another_passage_that_failed_with_it_is_healed(
    make: Callable[..., Kb], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kb = make()
    (tmp_path / "docs" / "c.md").write_text("# Other\n\nThere is a hiccup here.\n")
    for _ in range(2):
        run(kb, POISON, HICCUP)
        assert {one["reason"] for one in state(capsys)["problem_files"]} == {"context"}
    assert run(kb)[0] >= 2
    now = state(capsys)
    assert [one["document"] for one in now["problem_files"]] == ["docs/a.md"]
    assert (now["index"]["chunks_given_up"], now["index"]["chunks_with_context"]) == (1, 2)
    assert run(kb)[0] == 0
