"""The HTTP face in this process: readiness and its hook."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

from seoga.errors import ConfigError, ServiceUnavailable
from seoga.settings import settings
from seoga.storage.database import open_writer
from seoga.storage.leases import Lease
from seoga.wiring import Stack
from seoga_gateway.app import create


def readiness(**options: Any) -> tuple[int, dict[str, Any]]:
    with TestClient(create(Stack(settings()), **options)) as client:
        answer = client.get("/ready")
        return answer.status_code, answer.json()


def test_no_knowledge_base_yet_is_ready_and_said(base_path) -> None:
    status, details = readiness()
    assert status == 200
    assert details["note"] == "There is no knowledge base yet."


def test_an_indexed_knowledge_base_is_ready(kb) -> None:
    assert readiness() == (
        200,
        {"ready": True, "service": "gateway", "knowledge_bases": 1},
    )


def test_the_other_services_are_told_of_and_hold_nothing_back(kb, monkeypatch, free_port) -> None:
    monkeypatch.setenv("SEOGA_EMBEDDING_URL", f"http://127.0.0.1:{free_port}")
    settings.cache_clear()
    status, details = readiness()
    assert status == 200
    assert details["services"] == {"embedding": "does not answer (ConnectError)"}


def test_an_address_that_others_could_reach_is_refused(base_path, monkeypatch) -> None:
    monkeypatch.setenv("SEOGA_HOST", "0.0.0.0")
    settings.cache_clear()
    with pytest.raises(ConfigError, match="no token"):
        create(Stack(settings()))
    monkeypatch.setenv("SEOGA_PUBLISHED", "127.0.0.1:8765")
    settings.cache_clear()
    create(Stack(settings()))


def test_knowledge_bases_without_any_index_are_not_ready(base_path, make_kb) -> None:
    make_kb(base_path)
    status, details = readiness()
    assert status == 503
    assert details["message"].endswith("nothing is indexed yet")


def test_one_broken_knowledge_base_does_not_stop_the_others(kb, base_path, make_kb) -> None:
    make_kb(base_path, "fresh")
    assert readiness()[1]["knowledge_bases"] == 1


def test_the_first_run_has_to_commit_something_first(base_path, make_kb) -> None:
    made = make_kb(base_path)
    open_writer(made.db_path).close()
    lease = Lease.acquire(made.db_path)
    try:
        assert readiness()[0] == 503
    finally:
        lease.release()
    assert readiness()[0] == 200


def test_a_hook_holds_readiness_back(kb) -> None:
    def indexing() -> dict[str, Any]:
        raise ServiceUnavailable("The first run is still reading: 3 of 9 files.")

    status, details = readiness(ready=indexing)
    assert status == 503
    assert "3 of 9 files" in details["message"]
    assert readiness(ready=lambda: {"first_run": "done"})[1]["first_run"] == "done"


@pytest.mark.parametrize("path", ["/mcp/", "/mcp/x", "/nothing"])
def test_other_paths_are_not_found(base_path, path) -> None:
    with TestClient(create(Stack(settings()))) as client:
        assert client.get(path, follow_redirects=False).status_code in (307, 404)
