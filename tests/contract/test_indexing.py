"""One suite, two adapters: the engine in this process, and the client of the real service."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn
from fastapi import FastAPI

from seoga.contracts.indexing import Indexing, IndexingClient
from seoga.errors import ConfigError, InvalidArgument, NotFound, ServiceUnavailable
from seoga.kb import list_kbs
from seoga.settings import Settings
from seoga.wiring import Stack
from seoga_indexer import app as service
from seoga_indexer.engine import IndexingEngine

DEADLINE_S = 60


@pytest.fixture
def docs(base_path: Path, tmp_path: Path) -> Path:
    """A KB named `kb` over a folder of one file, without vectors, and one that is broken."""
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "휴가.md").write_text("연차 휴가는 15일이다.", encoding="utf-8")
    for kb_id, text in {
        "kb": json.dumps({"id": "kb", "sourcePaths": [str(folder)], "embedding": {"provider": ""}}),
        "broken": "{",
    }.items():
        (base_path / kb_id).mkdir()
        (base_path / kb_id / "config.json").write_text(text, encoding="utf-8")
    return folder


def serve(app: FastAPI) -> tuple[uvicorn.Server, threading.Thread]:
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    deadline = time.monotonic() + DEADLINE_S
    while not server.started:
        assert time.monotonic() < deadline
        threading.Event().wait(0.01)
    return server, thread


@pytest.fixture(params=["engine", "client"])
def indexing(request: pytest.FixtureRequest, docs: Path, base_path: Path) -> Iterator[Indexing]:
    """The port, either way; the service works its queue itself."""
    if request.param == "engine":
        stack = Stack(Settings(base_path=base_path))
        engine = IndexingEngine(stack)
        yield engine
        engine.close()
        stack.close()
        return
    server, thread = serve(service.create())
    port = server.servers[0].sockets[0].getsockname()[1]
    client = IndexingClient(f"http://127.0.0.1:{port}")
    yield client
    client.close()
    server.should_exit = True
    thread.join()


def test_what_was_queued_gets_done(indexing: Indexing) -> None:
    before = indexing.check_changes("kb")
    assert before.added == ("docs/휴가.md",)
    assert not before.is_clean
    queued = indexing.enqueue("kb")
    assert queued.kb_id == "kb"
    assert queued.status == "queued"
    with pytest.raises(NotFound):
        indexing.stale("nowhere")
    deadline = time.monotonic() + DEADLINE_S
    while not (now := indexing.check_changes("kb")).is_clean:
        assert time.monotonic() < deadline, now
        threading.Event().wait(0.05)
    assert indexing.stale("kb") == {}
    assert now.counts["unchanged"] == 1


def test_a_deferred_request_can_be_taken_back(indexing: Indexing) -> None:
    indexing.enqueue("kb", scope="embedding", deferred=True)
    assert indexing.enqueue("kb", scope="full", deferred=True).status == "upgraded"
    assert indexing.cancel("kb") == {"kb_id": "kb", "removed": 1, "stopping": False}
    assert indexing.cancel("kb")["removed"] == 0


def test_a_knowledge_base_is_made_of_a_folder_and_removed(
    indexing: Indexing, tmp_path: Path, base_path: Path
) -> None:
    folder = tmp_path / "새 폴더"
    folder.mkdir()
    made = indexing.create_kb(str(folder), "New")
    assert (made["name"], made["created"]) == ("New", True)
    assert indexing.create_kb(str(folder))["created"] is False
    assert made["kb_id"] in {kb.id for kb in list_kbs(base_path).kbs}
    assert indexing.delete_kb(made["kb_id"]) == {"kb_id": made["kb_id"], "deleted": True}
    assert made["kb_id"] not in {kb.id for kb in list_kbs(base_path).kbs}
    with pytest.raises(NotFound):
        indexing.delete_kb(made["kb_id"])
    for path in ("relative", str(tmp_path / "nowhere")):
        with pytest.raises(InvalidArgument):
            indexing.create_kb(path)


def test_errors_are_the_same_on_both_sides(indexing: Indexing) -> None:
    with pytest.raises(NotFound, match="nowhere"):
        indexing.enqueue("nowhere")
    with pytest.raises(InvalidArgument, match="scope"):
        indexing.enqueue("kb", scope="everything")
    with pytest.raises(ConfigError, match=r"config\.json"):
        indexing.check_changes("broken")


@pytest.mark.parametrize("kb_id", ["../kb", "a/b", "", "..", "kb\0", "kb?x=1", "한글"])
def test_a_hostile_id_never_names_a_kb(indexing: Indexing, kb_id: str) -> None:
    for call in (indexing.enqueue, indexing.cancel, indexing.check_changes, indexing.delete_kb):
        with pytest.raises((InvalidArgument, NotFound, ServiceUnavailable)):
            call(kb_id)


def test_a_service_that_is_not_there_is_named(free_port: int) -> None:
    client = IndexingClient(f"http://127.0.0.1:{free_port}")
    with pytest.raises(ServiceUnavailable, match="indexer"):
        client.enqueue("kb")
    client.close()
