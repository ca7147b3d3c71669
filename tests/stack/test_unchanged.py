"""A run over an index to which nothing is new asks no provider for anything that is paid."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from seoga.kb import Kb, load_kb
from seoga.settings import settings
from seoga.wiring import Stack

MODELS = {"known": "text-embedding-3-small", "unknown": "nobody-knows-it"}


@pytest.fixture
def fake(fake_provider: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    for name in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{name}_API_KEY", "any")
    httpx.delete(f"{fake_provider}/fake").raise_for_status()
    yield fake_provider
    httpx.delete(f"{fake_provider}/fake").raise_for_status()


@pytest.fixture
def make(fake: str, base_path: Path, tmp_path: Path) -> Callable[[str], Kb]:
    docs = tmp_path / "docs"
    docs.mkdir()
    for number in range(3):
        (docs / f"{number}.md").write_text(f"# Title {number}\n\nAnnual leave {number}.\n")

    def new(model: str) -> Kb:
        folder = base_path / "kb"
        folder.mkdir(exist_ok=True)
        llm = {"provider": "anthropic", "model": "claude-haiku-4-5", "baseUrl": fake}
        config = {
            "id": "kb",
            "sourcePaths": [str(docs)],
            "embedding": {"provider": "openai", "model": model, "baseUrl": fake},
            "contextualizer": llm,
        }
        (folder / "config.json").write_text(json.dumps(config))
        return load_kb(folder)

    return new


def run(kb: Kb, fake: str) -> list[str]:
    """The paths that a run asked for, with services of its own."""
    before = len(httpx.get(f"{fake}/fake/calls").json())
    stack = Stack(settings())
    try:
        engine: Any = stack.indexing
        assert engine.run_kb(kb).warnings == ()
    finally:
        stack.close()
    return [call["path"] for call in httpx.get(f"{fake}/fake/calls").json()[before:]]


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_an_unchanged_index_makes_no_call_and_an_edit_one_of_each_kind(
    make: Callable[[str], Kb], fake: str, tmp_path: Path, model: str
) -> None:
    kb = make(model)
    assert len(run(kb, fake)) > 3
    for _ in range(2):
        assert run(kb, fake) == []
    (tmp_path / "docs" / "0.md").write_text("# Title 0\n\nSick leave.\n")
    assert sorted(run(kb, fake)) == ["/v1/embeddings", "/v1/messages"]
    assert run(kb, fake) == []
