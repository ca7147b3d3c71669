"""A lone surrogate in a request is replaced, whatever stands around it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seoga_gateway.halves import without_halves

CHARACTERS = st.characters(categories=None)


@pytest.mark.parametrize(
    ("body", "read"),
    [
        (r'"\ud800"', "\ufffd"),
        (r'"a\uDC00b"', "a\ufffdb"),
        (r'"\ud83d\ude00"', "\U0001f600"),
        (r'"\ud83d\ud83d\ude00"', "\ufffd\U0001f600"),
        (r'"\\ud800"', r"\ud800"),
        (r'"\\\ud800"', "\\\ufffd"),
        (r'"\ud7ff\ue000"', "\ud7ff\ue000"),
    ],
)
def test_halves_are_replaced_and_pairs_stay(body: str, read: str) -> None:
    assert json.loads(without_halves(body.encode())) == read


@given(st.text(CHARACTERS))
def test_any_text_can_be_written_as_utf_8_afterwards_and_keeps_its_length(text: str) -> None:
    body = json.dumps({"query": text}).encode()
    cleaned = without_halves(body)
    assert len(cleaned) == len(body)
    read = json.loads(cleaned)["query"]
    assert read.encode("utf-8").decode("utf-8") == read
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert read == whole
