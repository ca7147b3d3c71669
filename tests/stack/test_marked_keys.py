"""After a run with everything that can go wrong, no key stands anywhere but in a header."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from seoga.errors import SeogaError
from seoga.kb import load_kb
from seoga.search.engine import search
from seoga.search.request import SearchRequest
from seoga.settings import settings
from seoga.wiring import Stack

MARK = "marked-0123456789-key"
KEYS = {"OPENAI_API_KEY": f"sk-{MARK}", "ANTHROPIC_API_KEY": f"sk-ant-{MARK}"}
FAILURES = (
    {"status": 400, "message": f"bad request with sk-{MARK}"},
    {"status": 500, "message": f"echo Bearer sk-{MARK}"},
    {"status": 401, "message": f"Incorrect API key provided: sk-ant-{MARK}"},
)


@pytest.fixture
def fake(fake_provider: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)
    httpx.delete(f"{fake_provider}/fake").raise_for_status()
    yield fake_provider
    httpx.delete(f"{fake_provider}/fake").raise_for_status()


def written(folder: Path) -> Iterator[tuple[str, str]]:
    """Every file, and the rows of every database."""
    for file in folder.rglob("*"):
        if file.is_file():
            yield str(file), file.read_bytes().decode("utf-8", "replace")
        if file.suffix == ".db":
            conn = sqlite3.connect(file)
            yield f"rows of {file}", "\n".join(conn.iterdump())
            conn.close()


@pytest.mark.parametrize("form", ["one process", "service"])
def test_a_marked_key_is_nowhere_after_a_run_with_every_failure(
    fake: str,
    tmp_path: Path,
    form: str,
    request: pytest.FixtureRequest,
    capfd: pytest.CaptureFixture[str],
) -> None:
    url, base_path = "", settings().base_path
    base_path.mkdir()
    if form == "service":
        start: Callable[..., str] = request.getfixturevalue("start_service")
        url = start("embedding", SEOGA_BASE_PATH=str(base_path), SEOGA_WORKERS="1")
    folder, docs = base_path / "kb", tmp_path / "docs"
    folder.mkdir()
    docs.mkdir()
    for number in range(6):
        (docs / f"{number}.md").write_text(f"# Title {number}\n\nAnnual leave {number}.\n")
    config = {
        "id": "kb",
        "sourcePaths": [str(docs)],
        "embedding": {"provider": "openai", "model": "text-embedding-3-small", "baseUrl": fake},
        "contextualizer": {"provider": "anthropic", "model": "claude-haiku-4-5", "baseUrl": fake},
    }
    config["embedding"]["apiKeyPreset"] = "OpenAI"
    (folder / "config.json").write_text(json.dumps(config))
    said: list[str] = []
    stack = Stack(settings().model_copy(update={"embedding_url": url}))
    try:
        engine: Any = stack.indexing
        for fault in ({}, *FAILURES):
            if fault:
                httpx.post(f"{fake}/fake/faults", json=[{**fault, "times": 2}])
            said += _round(engine, stack, folder)
    finally:
        stack.close()
    if url:
        said.append(httpx.get(f"{url}/metrics").text)
        said.append(httpx.get(f"{url}/ready").text)
    out = capfd.readouterr()
    calls = httpx.get(f"{fake}/fake/calls").json()
    assert any("authorization" in call["headers"] for call in calls)
    assert any("x-api-key" in call["headers"] for call in calls)
    logs = [text for _, text in written(tmp_path)]
    if url:
        logs += [file.read_text(errors="replace") for file in tmp_path.parent.glob("logs*/*.log")]
    for text in (*said, out.out, out.err, json.dumps(calls), *logs):
        assert MARK not in text
    for name, text in written(base_path):
        assert MARK not in text, name


def _round(engine: Any, stack: Stack, folder: Path) -> list[str]:
    """A run and a search; everything that they say."""
    kb = load_kb(folder)
    result = engine.run_kb(kb, force=True)
    said = [json.dumps(result.to_json()), *result.troubles]
    try:
        answer = search([kb], SearchRequest("annual leave", mode="vector"), stack.embedding)
        said += [str(answer)]
    except SeogaError as error:
        said += [error.message, error.hint]
    return said
