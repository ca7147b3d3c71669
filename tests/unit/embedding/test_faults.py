"""What providers say when they fail, as they really say it, and what is made of it."""

from __future__ import annotations

import json
import time
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from seoga_embedding.remote.faults import Trouble, failure, reply_of, retry_after, safe

SAID = [
    json.loads(line)
    for line in (Path(__file__).parent / "provider_errors.jsonl").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize("said", SAID, ids=lambda said: f"{said['status']}-{said['trouble']}")
def test_an_error_is_classed_by_its_status_and_its_words(said: dict[str, Any]) -> None:
    reply = reply_of(said["status"], {}, said["body"])
    assert failure(reply, "").trouble is Trouble(said["trouble"])


def test_the_text_that_an_error_names_is_read() -> None:
    said = failure(reply_of(400, {}, '{"error":{"message":"Invalid \'input[17]\': too long"}}'), "")
    assert said.at == 17


def test_how_long_to_wait_is_read_in_all_its_forms() -> None:
    def asked(headers: dict[str, str], body: str = "") -> float | None:
        return retry_after(reply_of(429, headers, body))

    assert asked({"retry-after": "7"}) == 7
    assert asked({"retry-after-ms": "250", "retry-after": "9"}) == 0.25
    assert asked({"retry-after": formatdate(time.time() + 30, usegmt=True)}) == pytest.approx(
        30, abs=2
    )
    assert asked({"retry-after": formatdate(time.time() - 30, usegmt=True)}) == 0
    assert asked({}, '{"error":{"details":[{"retryDelay": "13s"}]}}') == 13
    assert asked({"retry-after": "soon"}) is None
    assert asked({}) is None


@pytest.mark.parametrize(
    "text",
    [
        "the key test-key-0123456789 is wrong",
        "Incorrect API key provided: sk-proj-abcdef***********wxyz.",
        "Authorization: Bearer abcdefghijklmnop",
        "AIzaSyA1234567890abcdefghijk is disabled",
        "gsk_abcdefghijklmnopqrstuv",
        "token 0123456789abcdef0123456789abcdef01234567",
    ],
)
def test_nothing_like_a_key_is_passed_on(text: str) -> None:
    shown = safe(text, "test-key-0123456789")
    assert "…" in shown
    for part in ("test-key", "abcdef", "AIza", "0123456789"):
        assert part not in shown


def test_what_is_said_of_a_refused_key_is_not_repeated_at_all() -> None:
    body = '{"error":{"message":"Incorrect key: hunter2","code":"invalid_api_key"}}'
    said = failure(reply_of(401, {}, body), "")
    assert said.message == "answered HTTP 401 invalid_api_key"


def test_a_long_answer_is_cut() -> None:
    assert len(safe("word " * 1000, "")) <= 201
