"""Every message that is none gets one JSON-RPC error, over stdio and over HTTP."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from seoga.settings import settings
from seoga.wiring import Stack
from seoga_gateway.app import create
from seoga_gateway.refusing import refusal

SEOGA = Path(sys.executable).with_name("seoga")
LIST: dict[str, Any] = {"jsonrpc": "2.0", "id": 9, "method": "tools/list"}
WRONG: list[tuple[bytes, int, int | None]] = [
    (b"not json", -32700, None),
    (b'{"jsonrpc": "2.0", "id": 3, ', -32700, None),
    (b"[" * 100_000, -32700, None),
    (json.dumps([LIST]).encode(), -32600, None),
    (b"7", -32600, None),
    (b"{}", -32600, None),
    (json.dumps(LIST | {"id": 1.5}).encode(), -32600, None),
    (json.dumps(LIST | {"id": None}).encode(), -32600, None),
    (json.dumps(LIST | {"id": True}).encode(), -32600, None),
    (json.dumps(LIST | {"jsonrpc": "1.0"}).encode(), -32600, 9),
    (json.dumps(LIST | {"method": 7}).encode(), -32600, 9),
    (json.dumps({"jsonrpc": "2.0", "id": 9}).encode(), -32600, 9),
    (json.dumps(LIST | {"params": []}).encode(), -32602, 9),
    (json.dumps(LIST | {"params": "x" * 100_000}).encode(), -32602, 9),
]
RIGHT: list[dict[str, Any]] = [
    LIST,
    LIST | {"id": "nine", "params": {}},
    LIST | {"params": None},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 3, "result": {}},
    {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "x"}},
]


@pytest.mark.parametrize("message", RIGHT)
def test_what_is_a_message_is_not_refused(message: dict[str, Any]) -> None:
    assert refusal(json.dumps(message).encode()) is None


def check(answer: dict[str, Any], code: int, known: int | None) -> None:
    assert (answer["jsonrpc"], answer["id"]) == ("2.0", known)
    assert answer["error"]["code"] == code
    assert len(json.dumps(answer)) < 400


def test_over_http_each_is_a_bad_request(base_path: Path) -> None:
    headers = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
    app = create(Stack(settings()))
    with TestClient(app, base_url="http://127.0.0.1:8765") as client:
        for body, code, known in WRONG:
            answer = client.post("/mcp", content=body, headers=headers)
            assert answer.status_code == 400
            check(answer.json(), code, known)
        assert client.post("/mcp", json=RIGHT[3], headers=headers).status_code == 202
        endless = (b"[" * 100_000 for _ in range(60))
        assert client.post("/mcp", content=endless, headers=headers).status_code == 413


def test_over_stdio_each_is_answered_in_its_turn(base_path: Path) -> None:
    begin = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    first = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": begin}
    sent = [json.dumps(first).encode(), json.dumps(RIGHT[3]).encode(), b"", *(w[0] for w in WRONG)]
    done = subprocess.run(
        [SEOGA, "serve", "--base-path", base_path],
        input=b"\n".join(sent) + b"\n",
        capture_output=True,
        timeout=60,
        env=dict(os.environ),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    refused = [one for one in answers if one["id"] != 1]
    assert len(answers) == len(WRONG) + 1
    for answer, (_, code, known) in zip(refused, WRONG, strict=True):
        check(answer, code, known)
