"""What `exec --estimate` says after a run was killed in the middle, against what the next run does:
contexts that were answered and not stored yet are new words, and need new vectors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from seoga.kb import load_kb
from seoga.settings import settings
from seoga.wiring import Stack
from seoga_embedding.fake.rules import Rules

from .watched import EMBEDDING, FILES, KEYS, LLM, SOON_S, Watched, folder_of_notes

SEOGA = Path(sys.executable).with_name("seoga")


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)


@pytest.fixture
def stack(base_path: Path) -> Iterator[Stack]:
    opened = Stack(settings())
    yield opened
    opened.close()


def configure(kb: Path, url: str, **keys: Any) -> None:
    config = {
        "id": "kb",
        "sourcePaths": [str(kb.parent.parent / "docs")],
        "embedding": EMBEDDING | {"baseUrl": url},
        "contextualizer": LLM | {"baseUrl": url},
    }
    (kb / "config.json").write_text(json.dumps(config | keys))


def says(desk: Watched, words: str, latency: float = 0.0) -> None:
    desk.reset()
    desk.rules = Rules(answer=f"CONTEXT: {words}\nKEYWORDS: one, two", latency=latency)


def killed_after(kb: Path, desk: Watched, calls: int) -> None:
    """A run that gets so many questions to an LLM and ends in the middle."""
    while not desk.came.empty():
        desk.came.get_nowait()
    process = subprocess.Popen([SEOGA, "exec", "--path", kb], env={**os.environ, **KEYS})
    try:
        while calls:
            calls -= "messages" in desk.came.get(timeout=SOON_S)
    finally:
        process.kill()
        process.wait(SOON_S)


def made(desk: Watched) -> tuple[int, int]:
    """Questions to the LLM, and texts that were embedded."""
    calls = desk.calls()
    texts = [text for one in calls if "embeddings" in one["path"] for text in one["body"]["input"]]
    return sum("messages" in one["path"] for one in calls), len(texts)


def test_after_a_kill_the_estimate_is_what_the_next_run_does(
    base_path: Path, url: str, desk: Watched, stack: Stack
) -> None:
    folder = folder_of_notes(base_path)
    engine: Any = stack.indexing
    configure(folder, url)
    says(desk, "What it said first.")
    engine.run_kb(load_kb(folder))
    configure(folder, url, systemPrompt="Other words.")
    says(desk, "What it says now.", latency=0.05)
    killed_after(folder, desk, 12)
    says(desk, "What it says now.")
    kb = load_kb(folder)
    before = engine.estimate_kb(kb)
    assert made(desk) == (0, 0)
    engine.run_kb(kb)
    asked, embedded = made(desk)
    # Most of the twelve were answered and are kept: their words are new all the same.
    assert FILES - 12 <= asked < embedded
    assert (before.contexts.asked, before.embedding.asked) == (asked, embedded)
