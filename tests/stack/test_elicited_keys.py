"""A person is asked for a key that is missing: real clients, a provider that wants it."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult

from seoga.kb import load_kb
from seoga.settings import settings
from seoga.wiring import Stack

KEY = "sk-elicited-0123456789-marked"
WRONG = "sk-mistyped-0123456789-marked"
SEOGA = Path(sys.executable).with_name("seoga")


class Person:
    """Answers questions with these keys, one each, then declines; remembers what was asked."""

    def __init__(self, *keys: str) -> None:
        self.keys, self.asked = list(keys), list[str]()

    async def answer(self, _: Any, params: Any) -> ElicitResult:
        self.asked.append(params.message)
        if not self.keys:
            return ElicitResult(action="decline")
        return ElicitResult(action="accept", content={"api_key": self.keys.pop(0)})


@pytest.fixture
def fake(fake_provider: str) -> Iterator[str]:
    httpx.delete(f"{fake_provider}/fake").raise_for_status()
    httpx.put(f"{fake_provider}/fake/rules", json={"key": KEY}).raise_for_status()
    yield fake_provider
    httpx.delete(f"{fake_provider}/fake").raise_for_status()


@pytest.fixture
def indexed(fake: str, base_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A base path whose knowledge base was indexed with a key that is not there any more."""
    docs, folder = tmp_path / "docs", base_path / "kb"
    docs.mkdir()
    folder.mkdir()
    (docs / "leave.md").write_text("# Leave\n\nAnnual leave is fifteen days.\n")
    embedding = {"provider": "openai", "model": "text-embedding-3-small", "baseUrl": fake}
    embedding["apiKeyPreset"] = "OpenAI"
    config = {"id": "kb", "sourcePaths": [str(docs)], "embedding": embedding}
    (folder / "config.json").write_text(json.dumps(config))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    stack = Stack(settings())
    engine: Any = stack.indexing
    assert engine.run_kb(load_kb(folder)).deferred == 0
    stack.close()
    monkeypatch.delenv("OPENAI_API_KEY")
    httpx.delete(f"{fake}/fake")
    httpx.put(f"{fake}/fake/rules", json={"key": KEY})
    return base_path


def over_stdio(base: Path, log: Path, **environment: str) -> StdioServerParameters:
    return StdioServerParameters(
        command="/bin/sh",
        args=["-c", f'exec "{SEOGA}" serve --base-path "{base}" 2>>"{log}"'],
        env={**os.environ, **environment},
    )


def ask(
    target: Any, person: Person | None, queries: Sequence[str], mode: str = "auto"
) -> list[dict[str, Any]]:
    """The answers of one client that searches for these."""

    async def talk() -> list[dict[str, Any]]:
        callback = person.answer if person else None
        async with Client(target, mode=mode, elicitation_callback=callback) as client:
            found = []
            for query in queries:
                result = await client.call_tool("search_documents", {"query": query})
                assert result.structured_content is not None
                found.append(result.structured_content)
            return found

    return anyio.run(talk)


def everything_written(base: Path) -> bytes:
    """All that lies under the base path, databases as their rows too."""
    parts = [file.read_bytes() for file in base.rglob("*") if file.is_file()]
    for file in base.rglob("*.db"):
        conn = sqlite3.connect(file)
        parts += ["\n".join(conn.iterdump()).encode()]
        conn.close()
    return b"\n".join(parts)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_missing_key_is_asked_for_once_over_stdio(
    indexed: Path, tmp_path: Path, mode: str
) -> None:
    person, log = Person(KEY), tmp_path / "log"
    first, second = ask(over_stdio(indexed, log), person, ["annual leave", "holiday"], mode)
    assert len(person.asked) == 1
    assert "OPENAI_API_KEY" in person.asked[0]
    assert (first["mode"], second["mode"]) == ("hybrid", "hybrid")
    assert not first["warnings"]
    assert KEY not in json.dumps([first, second]) + log.read_text()
    assert KEY.encode() not in everything_written(indexed)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_after_a_refusal_a_person_is_asked_twice_at_most(
    indexed: Path, tmp_path: Path, mode: str, fake: str
) -> None:
    person, log = Person(WRONG, WRONG + "2", WRONG + "3", WRONG + "4"), tmp_path / "log"
    (found,) = ask(over_stdio(indexed, log), person, ["annual leave"], mode)
    # The first question is for the missing key, two come after its refusal.
    assert len(person.asked) == 3
    assert all("refused" in question for question in person.asked[1:])
    assert found["mode"] == "bm25"
    assert any("Keyword search only" in warning for warning in found["warnings"])
    assert "sk-mistyped" not in json.dumps(found) + log.read_text() + " ".join(person.asked)
    assert b"sk-mistyped" not in everything_written(indexed)
    assert "sk-mistyped" not in httpx.get(f"{fake}/fake/calls").text


def test_a_mistyped_key_can_be_mended_and_a_refused_one_of_the_environment_too(
    indexed: Path, tmp_path: Path
) -> None:
    person = Person(WRONG, KEY)
    (found,) = ask(over_stdio(indexed, tmp_path / "log"), person, ["annual leave"])
    assert (found["mode"], len(person.asked)) == ("hybrid", 2)
    other = Person(WRONG, WRONG + "2", KEY)
    target = over_stdio(indexed, tmp_path / "log", OPENAI_API_KEY="sk-old-0123456789-marked")
    (found,) = ask(target, other, ["annual leave"])
    assert (found["mode"], len(other.asked)) == ("bm25", 2)


def test_who_declines_or_cannot_be_asked_searches_by_words(indexed: Path, tmp_path: Path) -> None:
    declines = Person()
    (found,) = ask(over_stdio(indexed, tmp_path / "log"), declines, ["annual leave"])
    assert (found["mode"], len(declines.asked), len(found["results"])) == ("bm25", 1, 1)
    (found,) = ask(over_stdio(indexed, tmp_path / "log"), None, ["annual leave"])
    assert (found["mode"], len(found["results"])) == ("bm25", 1)
    assert any("OPENAI_API_KEY is not set" in warning for warning in found["warnings"])


def test_callers_of_one_gateway_never_share_a_key(
    indexed: Path, start_service: Callable[..., str], fake: str
) -> None:
    embedding = start_service("embedding", SEOGA_BASE_PATH=str(indexed), SEOGA_WORKERS="1")
    gateway = start_service(
        "gateway",
        SEOGA_BASE_PATH=str(indexed),
        SEOGA_WORKERS="1",
        SEOGA_EMBEDDING_URL=embedding,
    )

    def caller(token: str, person: Person, queries: Sequence[str]) -> list[dict[str, Any]]:
        headers = {"authorization": f"Bearer {token}"} if token else {}

        async def talk() -> list[dict[str, Any]]:
            from mcp.shared._httpx_utils import create_mcp_http_client

            async with create_mcp_http_client(headers=headers) as http:
                transport = streamable_http_client(gateway + "/mcp", http_client=http)
                async with Client(transport, elicitation_callback=person.answer) as client:
                    found = []
                    for query in queries:
                        result = await client.call_tool("search_documents", {"query": query})
                        assert result.structured_content is not None
                        found.append(result.structured_content)
                    return found

        return anyio.run(talk)

    mine, yours, nobody = Person(KEY), Person(), Person(KEY)
    found = caller("mine", mine, ["annual leave", "days of leave"])
    assert ([one["mode"] for one in found], len(mine.asked)) == (["hybrid", "hybrid"], 1)
    # The same words: what another's key has made must not be answered either.
    found = caller("yours", yours, ["annual leave"])
    assert ([one["mode"] for one in found], len(yours.asked)) == (["bm25"], 1)
    # Without a token nobody is known again: a key serves one call.
    found = caller("", nobody, ["leave in days", "days and leave"])
    assert ([one["mode"] for one in found], len(nobody.asked)) == (["hybrid", "bm25"], 2)
    metrics = httpx.get(f"{gateway}/metrics").text + httpx.get(f"{embedding}/metrics").text
    assert KEY not in metrics
    assert KEY.encode() not in everything_written(indexed)
    calls = httpx.get(f"{fake}/fake/calls").json()
    assert calls
    assert all(KEY not in json.dumps(call) for call in calls)
