"""What providers say when they fail, as they really say it, and what is made of it."""

from __future__ import annotations

import json
import time
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
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


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("key Zq8rT-4kP0w9 refused", "key … refused"),
        ("it begins with Zq8rT-4k", "it begins with …"),
        ("it ends in T-4kP0w9!", "it ends in …!"),
        ("between: 8rT-4kP0 and ZQ8RT-4KP0W", "between: … and …"),
        ("Zq8rT-4kP0w9Zq8rT-4kP0w9", "……"),
        ("only P0w9 and Zq8r", "only P0w9 and Zq8r"),
        ("", ""),
    ],
)
def test_no_part_of_a_key_that_tells_something_is_passed_on(said: str, shown: str) -> None:
    assert safe(said, "Zq8rT-4kP0w9") == shown


@pytest.mark.parametrize("user", ["", "a", "ab", "user:", "someone@example.org:"])
@pytest.mark.parametrize("encode", [b64encode, urlsafe_b64encode])
def test_a_key_in_base64_is_not_passed_on_whatever_stands_before_it(
    user: str, encode: Callable[[bytes], bytes]
) -> None:
    key = "Zq8?T~4kP0w9>xy~?"
    sent = encode(f"{user}{key}:more".encode()).decode()
    shown = safe(f"the header 'Authorization: Basic {sent}' is wrong", key)
    assert shown.startswith("the header 'Authorization: Basic ")
    assert "…" in shown
    left = shown.removesuffix("' is wrong").rpartition("Basic ")[2].replace("…", "")
    # What is left is of the user, of what follows, and of the bytes that they share with the key.
    assert len(left) <= len(sent) - len(encode(key.encode()).rstrip(b"=")) + 6


@pytest.mark.parametrize(
    "said",
    [
        "GET /v1?k=Zq8rT%2D4kP0w9%2B HTTP",
        "GET /v1?k=%5A%71%38%72%54%2d%34%6b%50%30%77%39%2b HTTP",
        "GET /v1?k=Zq8rT&#45;4kP0w9&#x2B; HTTP",
    ],
)
def test_a_key_in_codes_is_not_passed_on(said: str) -> None:
    assert safe(said, "Zq8rT-4kP0w9+") == "GET /v1?k=… HTTP"
    assert safe("100%25 of it, 7 % of &#9;that", "Zq8rT-4kP0w9+") == "100%25 of it, 7 % of &#9;that"


def test_of_a_masked_key_no_more_than_its_ends_is_passed_on() -> None:
    assert safe("key sk-ab...wxyz is wrong", "sk-abcdefghijklmnopqrstuvwxyz") == "key … is wrong"
    assert safe("key Zq8r****P0w9 is wrong", "Zq8rT-4kP0w9") == "key Zq8r****P0w9 is wrong"
    assert safe("key Zq8rT-4k***P0w9", "Zq8rT-4kP0w9") == "key …***P0w9"


def test_looking_for_a_key_in_a_long_answer_takes_no_long_time() -> None:
    started = time.process_time()
    for _ in range(20):
        safe("Zq8rT-4 %5A" * 2000, "Zq8rT-4kP0w9" * 10)
    assert time.process_time() - started < 2


def test_a_short_key_is_left_out_as_a_whole() -> None:
    assert safe("key hunter2, hunter", "hunter2") == "key …, hunter"


def test_what_is_said_of_a_refused_key_is_not_repeated_at_all() -> None:
    body = '{"error":{"message":"Incorrect key: hunter2","code":"invalid_api_key"}}'
    said = failure(reply_of(401, {}, body), "")
    assert said.message == "answered HTTP 401 invalid_api_key"


def test_a_long_answer_is_cut() -> None:
    assert len(safe("word " * 1000, "")) <= 201
