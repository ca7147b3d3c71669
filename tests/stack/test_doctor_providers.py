"""`doctor` asks every provider that a knowledge base names, in Hangul, NFD and Latin."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from seoga.cli.doctor import Check
from seoga.cli.providers import provider_checks
from seoga.settings import settings
from seoga.wiring import Stack

Configure = Callable[..., None]


@pytest.fixture
def fake(fake_provider: str) -> Iterator[str]:
    httpx.delete(f"{fake_provider}/fake").raise_for_status()
    yield fake_provider
    httpx.delete(f"{fake_provider}/fake").raise_for_status()


@pytest.fixture
def configure(base_path: Path, tmp_path: Path) -> Configure:
    def new(kb_id: str, **keys: Any) -> None:
        folder = base_path / kb_id
        folder.mkdir()
        config = {"id": kb_id, "sourcePaths": [str(tmp_path)], **keys}
        (folder / "config.json").write_text(json.dumps(config))

    return new


def found() -> dict[str, Check]:
    stack = Stack(settings())
    try:
        return {check.name: check for check in provider_checks(stack)}
    finally:
        stack.close()


def ollama(fake: str, model: str = "bge-m3") -> dict[str, str]:
    return {"provider": "ollama", "model": model, "baseUrl": fake}


def test_a_model_that_is_there_is_named_with_version_and_digest(
    fake: str, configure: Configure
) -> None:
    configure("one", name="One", embedding=ollama(fake))
    configure("two", name="Two", embedding=ollama(fake))
    check = found()["embedding of One and 1 more"]
    assert check.status == "ok"
    assert "version 0.9.0, digest 0123456789ab, 1024 dimensions" in check.detail
    asked = [
        call["body"]["input"]
        for call in httpx.get(f"{fake}/fake/calls").json()
        if call["path"] == "/api/embed"
    ]
    assert any("연차" in text for texts in asked for text in texts)


def test_an_ollama_that_is_too_old_or_lacks_the_model_is_said_with_the_way_out(
    fake: str, configure: Configure
) -> None:
    configure("kb", name="Kb", embedding=ollama(fake))
    httpx.put(f"{fake}/fake/rules", json={"version": "0.3.14"})
    check = found()["embedding of Kb"]
    assert (check.status, check.hint) == ("fail", "0.4.0 or newer is needed: update it.")
    assert "0.3.14" in check.detail
    httpx.put(f"{fake}/fake/rules", json={"models": ["other:latest"]})
    check = found()["embedding of Kb"]
    assert (check.status, check.hint) == ("fail", "ollama pull bge-m3")


def test_a_model_that_reads_no_hangul_fails_though_it_reads_english(
    fake: str, configure: Configure
) -> None:
    httpx.put(f"{fake}/fake/rules", json={"blind": True})
    configure("kb", name="Kb", embedding=ollama(fake))
    check = found()["embedding of Kb"]
    assert check.status == "fail"
    assert "does not read Hangul" in check.detail
    assert "several languages" in check.hint


def test_keys_and_llms_are_checked_too(
    fake: str, configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "any")
    llm = {"provider": "anthropic", "model": "claude-haiku-4-5", "baseUrl": fake}
    configure("kb", name="Kb", embedding={"provider": "openai"}, contextualizer=llm)
    checks = found()
    assert "OPENAI_API_KEY is not set" in checks["embedding of Kb"].detail
    assert checks["contexts of Kb"].status == "ok"
    httpx.post(f"{fake}/fake/faults", json=[{"status": 401, "times": 9}])
    assert found()["contexts of Kb"].status == "fail"


def test_knowledge_bases_of_the_builtin_model_alone_ask_nobody(
    fake: str, configure: Configure
) -> None:
    configure("kb")
    assert found() == {}
    assert httpx.get(f"{fake}/fake/calls").json() == []
