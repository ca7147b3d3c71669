"""The tools that ask for work, with every engine in this process."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from seoga.kb import Kb, load_kb
from seoga.settings import settings
from seoga.wiring import Stack
from seoga_gateway.server import build_server

DEADLINE_S = 60


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "휴가.md").write_text("# 휴가\n\n연차 휴가는 15일이다.\n", encoding="utf-8")
    (folder / "login.md").write_text("# Login\n\nUse the blue card.\n", encoding="utf-8")
    return folder


@pytest.fixture
def kb(base_path: Path, documents: Path) -> Kb:
    """Without vectors: they are another test's matter."""
    folder = base_path / "handbook"
    folder.mkdir()
    config = {"id": "handbook", "sourcePaths": [str(documents)], "embedding": {"provider": ""}}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return load_kb(folder)


@asynccontextmanager
async def connected() -> AsyncIterator[Client]:
    stack = Stack(settings())
    try:
        async with Client(build_server(stack)) as client:
            yield client
    finally:
        await anyio.to_thread.run_sync(stack.close)


async def ask(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, {"kb_id": "handbook", **arguments})
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return dict(result.structured_content)


async def reindexed(client: Client, **arguments: Any) -> dict[str, Any]:
    """Asks for a run, waits for its end, and returns what the index says then."""
    started = time.monotonic()
    answer = await ask(client, "start_reindex", **arguments)
    assert time.monotonic() - started < 1
    assert answer["status"] == "queued"
    with anyio.fail_after(DEADLINE_S):
        while (info := await ask(client, "get_index_info"))["queue"]["status"] != "idle":
            await anyio.sleep(0.05)
    return info


def test_what_is_old_is_told_in_words_until_a_run_has_made_it_anew(kb: Kb) -> None:
    async def session() -> None:
        async with connected() as client:
            assert (await reindexed(client))["stale"] == []
            file = kb.folder / "config.json"
            config = json.loads(file.read_text(encoding="utf-8"))
            config |= {"chunking": {"targetChars": 300}, "embedding": {"provider": "hashing"}}
            file.write_text(json.dumps(config), encoding="utf-8")
            assert (await ask(client, "get_index_info"))["stale"] == [
                "cut by another version or size of the chunker (2 files);"
                " the next run makes that anew"
            ]
            assert (await reindexed(client))["stale"] == []
            file.write_text(json.dumps(config | {"embedding": {"provider": "builtin"}}))
            assert (await ask(client, "get_index_info"))["stale"] == [
                "vectors are of hashing, configured is 'builtin'"
            ]

    anyio.run(session)


def test_an_index_whose_tables_are_still_being_made_is_told_as_none(kb: Kb) -> None:
    async def session() -> dict[str, Any]:
        async with connected() as client:
            return await ask(client, "get_index_info")

    before = anyio.run(session)
    kb.db_path.touch()
    assert anyio.run(session) == before


def test_a_run_is_asked_for_followed_and_searched(kb: Kb, documents: Path) -> None:
    async def session() -> None:
        async with connected() as client:
            before = await ask(client, "check_changes")
            assert before["counts"]["added"] == 2
            assert not before["is_clean"]
            info = await reindexed(client)
            assert info["last_run"]["status"] == "done"
            assert info["files"]["Ready"] == 2
            assert (await ask(client, "check_changes"))["is_clean"]
            found = await ask(client, "search_documents", query="연차 휴가")
            assert found["results"][0]["document"].endswith("휴가.md")

            (documents / "휴가.md").unlink()
            (documents / "login.md").write_text("# Login\n\nUse the green card.\n")
            changes = await ask(client, "check_changes")
            label = documents.name
            assert changes["deleted"] == [f"{label}/휴가.md"]
            assert changes["modified"] == [f"{label}/login.md"]
            await reindexed(client)
            assert not (await ask(client, "search_documents", query="연차 휴가"))["results"]
            found = await ask(client, "search_documents", query="green card")
            assert "green card" in found["results"][0]["text"]

    anyio.run(session)


def test_a_deferred_request_waits_and_can_be_taken_back(kb: Kb) -> None:
    async def session() -> None:
        async with connected() as client:
            await ask(client, "start_reindex", deferred=True, force=True)
            queue = (await ask(client, "get_index_info"))["queue"]
            assert (queue["status"], queue["deferred"], queue["force"]) == ("deferred", True, True)
            again = await ask(client, "start_reindex", deferred=True, partial_mode="embedding")
            assert again["status"] == "already_queued"
            taken = await ask(client, "cancel_reindex")
            assert (taken["removed"], taken["stopping"]) == (1, False)
            assert (await ask(client, "get_index_info"))["queue"]["status"] == "idle"

    anyio.run(session)


def test_a_long_comparison_tells_that_it_goes_on(kb: Kb, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seoga_gateway.tool.PROGRESS_EVERY_S", 0.001)
    # Long enough for a tick: a small folder is compared in one breath.
    for number in range(5000):
        (Path(kb.sources()[0].path) / f"more-{number}.md").write_text("x", encoding="utf-8")
    told: list[float] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        told.append(progress)
        assert message is not None
        assert message.startswith("comparing")

    async def session() -> None:
        async with connected() as client:
            await client.call_tool(
                "check_changes", {"kb_id": "handbook"}, progress_callback=on_progress
            )

    anyio.run(session)
    assert told
    assert told == sorted(told)
