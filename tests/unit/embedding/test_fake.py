"""The fake provider's manners: what it says of bad requests, and what it counts."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from seoga_embedding.fake.rules import Desk

from .conftest import Fake

OPENAI = "/v1/embeddings"
BAD = {
    OPENAI: ("type", "invalid_request_error"),
    "/v1/chat/completions": ("type", "invalid_request_error"),
    "/openai/deployments/x/embeddings": ("type", "invalid_request_error"),
    "/v1beta/models/gemini-embedding-001:batchEmbedContents": ("status", "INVALID_ARGUMENT"),
    "/v1/messages": ("type", "invalid_request_error"),
    "/v1/batches": ("type", "invalid_request_error"),
    "/api/embed": None,
    "/api/chat": None,
}


def tally(fake: Fake) -> dict[str, Any]:
    found: dict[str, Any] = httpx.get(f"{fake.url}/fake/tally").json()
    return found


@pytest.mark.parametrize("path", BAD)
@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b'{"model": ',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"model": "m", "input": NaN}',
        b"[]",
        b'"text"',
        b"7",
        b'{"model": 3, "input": 7}',
        b'{"model": "m", "input": [[1, 2]]}',
    ],
)
def test_what_cannot_be_read_is_refused_in_the_form_of_the_provider(
    fake: Fake, path: str, body: bytes
) -> None:
    answer = httpx.post(fake.url + path, content=body)
    assert answer.status_code == 400
    error = answer.json()["error"]
    if (form := BAD[path]) is None:
        assert isinstance(error, str)
    else:
        assert error["message"]
        assert error[form[0]] == form[1]
    assert tally(fake)["counts"] == {"400": 1, "texts": 0}


def test_calls_to_nobody_are_not_counted(fake: Fake) -> None:
    for path in ("/favicon.ico", "/v1/models", "/v2/embeddings", "/v1/embeddings/", "/fakes"):
        assert httpx.get(fake.url + path).status_code == 404
        assert httpx.post(fake.url + path, content=b"{").status_code == 404
    assert fake.calls() == []
    found = tally(fake)
    assert (found["counts"], found["most_at_once"], found["span_s"]) == ({}, 0, 0.0)
    fake.faults({"kind": "status", "status": 503, "times": 1})
    assert httpx.get(f"{fake.url}/favicon.ico").status_code == 404
    asked = {"model": "m", "input": ["a"]}
    assert httpx.post(fake.url + OPENAI, json=asked).status_code == 503
    assert httpx.post(fake.url + OPENAI, json=asked).is_success
    assert tally(fake)["counts"] == {"503": 1, "ok": 1, "texts": 1}


def test_what_was_under_way_is_not_counted_after_a_new_start() -> None:
    desk = Desk()
    call = {"path": OPENAI}
    desk.record(call)
    before = desk.era
    desk.reset()
    desk.record(call)
    desk.leave("ok", 1, before)
    assert desk.tally()["counts"] == {}
    desk.leave("ok", 1, desk.era)
    assert desk.tally()["counts"] == {"ok": 1, "texts": 1}


def test_half_a_surrogate_pair_does_not_spoil_the_record(fake: Fake) -> None:
    sent = b'{"model": "m", "input": ["\\ud800"]}'
    httpx.post(fake.url + OPENAI, content=sent)
    assert fake.calls()[0]["body"]["input"] == ["\ud800"]


def test_a_vector_that_is_not_finite_is_null_as_json_has_it(fake: Fake) -> None:
    fake.rules(nan="poison")
    asked = {"model": "m", "input": ["poison", "plain"]}
    bad, good = httpx.post(fake.url + OPENAI, json=asked).json()["data"]
    assert set(bad["embedding"]) == {None}
    assert all(isinstance(one, float) for one in good["embedding"])
