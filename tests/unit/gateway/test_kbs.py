"""Knowledge bases over plain HTTP: made, listed, removed, and only by this machine."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from seoga.kb import list_kbs
from seoga.settings import settings
from seoga.wiring import Stack
from seoga_gateway.app import create
from seoga_gateway.library import Library

URL = "http://127.0.0.1:8765"


@pytest.fixture
def stack() -> Iterator[Stack]:
    stack = Stack(settings())
    yield stack
    stack.close()


@pytest.fixture
def client(base_path: Path, stack: Stack) -> Iterator[TestClient]:
    with TestClient(create(stack), base_url=URL) as client:
        yield client


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "회의록"
    folder.mkdir()
    return folder


def made(client: TestClient, docs: Path) -> dict[str, Any]:
    answer = client.post("/v1/kbs", json={"path": str(docs), "name": "Minutes"})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_a_folder_becomes_a_knowledge_base_that_tools_see_at_once(
    client: TestClient, docs: Path, stack: Stack
) -> None:
    kb = made(client, docs)
    assert (kb["name"], kb["created"], kb["status"]) == ("Minutes", True, "queued")
    assert [one.kb.id for one in Library(stack).overview()[0]] == [kb["kb_id"]]
    assert [one["kb_id"] for one in client.get("/v1/kbs").json()["knowledge_bases"]] == [
        kb["kb_id"]
    ]
    deadline = time.monotonic() + 30
    while client.get("/v1/kbs").json()["knowledge_bases"][0]["status"] != "empty":
        assert time.monotonic() < deadline
    assert made(client, docs)["created"] is False


def test_a_removed_one_is_gone_at_once_and_its_documents_stay(
    client: TestClient, docs: Path, base_path: Path, stack: Stack
) -> None:
    (docs / "a.md").write_text("apple")
    kb = made(client, docs)
    answer = client.delete(f"/v1/kbs/{kb['kb_id']}")
    assert answer.json() == {"kb_id": kb["kb_id"], "deleted": True}
    assert list_kbs(base_path).kbs == ()
    assert Library(stack).overview()[0] == []
    assert (docs / "a.md").exists()
    assert client.delete(f"/v1/kbs/{kb['kb_id']}").status_code == 404


@pytest.mark.parametrize("path", ["relative", "", "/nonexistent", "../..", "/etc/passwd", "/a\0b"])
def test_what_is_no_folder_is_refused_and_makes_nothing(
    client: TestClient, base_path: Path, path: str
) -> None:
    answer = client.post("/v1/kbs", json={"path": path})
    assert answer.status_code == 400
    assert set(answer.json()) == {"code", "message", "hint"}
    assert list_kbs(base_path).kbs == ()


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:8765"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
    ],
)
def test_pages_of_other_hosts_can_do_nothing(
    client: TestClient, docs: Path, base_path: Path, headers: dict[str, str]
) -> None:
    for method, path in (("GET", "/v1/kbs"), ("POST", "/v1/kbs"), ("DELETE", "/v1/kbs/x")):
        answer = client.request(
            method, path, headers=headers, json={"path": str(docs)} if method == "POST" else None
        )
        assert answer.status_code == 403
    assert list_kbs(base_path).kbs == ()


def test_a_form_of_a_page_is_refused(client: TestClient, docs: Path, base_path: Path) -> None:
    body = json.dumps({"path": str(docs)})
    answer = client.post("/v1/kbs", content=body, headers={"Content-Type": "text/plain"})
    assert answer.status_code == 403
    assert list_kbs(base_path).kbs == ()


@pytest.mark.parametrize("kb_id", ["..", "a%2Fb", "%2e%2e", "x" * 200])
def test_a_hostile_id_is_refused(client: TestClient, kb_id: str) -> None:
    assert client.delete(f"/v1/kbs/{kb_id}").status_code in (400, 404, 405)


@pytest.mark.parametrize(
    "body", [b"x" * 100_000, b"", b"{", b'{"path": 5}', b'{"path": "/tmp", "zzz": 1}', b"\xff"]
)
def test_a_body_that_is_no_request_is_refused_in_the_form_of_all_errors(
    client: TestClient, base_path: Path, body: bytes
) -> None:
    answer = client.post("/v1/kbs", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert set(answer.json()) == {"code", "message", "hint"}
    assert answer.json()["hint"]
    assert list_kbs(base_path).kbs == ()


@pytest.mark.parametrize("path", ["/", "/proc", "/proc/self", "/etc", "/dev", "/usr"])
def test_folders_of_the_system_are_no_documents(client: TestClient, path: str) -> None:
    answer = client.post("/v1/kbs", json={"path": path})
    assert answer.status_code == 400
    assert f"{path} is a folder of the system" in answer.json()["message"]


def test_a_folder_that_holds_the_indexes_is_refused(
    client: TestClient, docs: Path, base_path: Path
) -> None:
    made(client, docs)
    answer = client.post("/v1/kbs", json={"path": str(base_path.parent)})
    assert answer.status_code == 400
    assert f"holds the base path {base_path}" in answer.json()["message"]


def test_the_indexes_themselves_are_no_documents(client: TestClient, base_path: Path) -> None:
    base_path.mkdir(parents=True, exist_ok=True)
    answer = client.post("/v1/kbs", json={"path": str(base_path)})
    assert answer.status_code == 400
    assert "among the indexes" in answer.json()["message"]
