"""What a snippet shows and marks, and what of a query names one thing."""

from __future__ import annotations

import pytest

from seoga.search.query import analyse
from seoga.search.snippets import Marker


def test_a_snippet_shows_the_best_part_with_its_words_marked() -> None:
    text = "처음은 관계없는 말 " * 40 + "여기에 **중요한** 배포 일정이 있습니다 " + "끝 " * 200
    shown = Marker({"배포": 2.0, "일정": 2.0}).snippet(text)
    assert "**배포** **일정이**" in shown
    assert "중요한" in shown
    assert "**중요한**" not in shown
    assert len(shown) < 300
    assert Marker({}).snippet("  ") == ""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[MySQL for orders](0001-use-mysql.md).", "[MySQL for **orders**](0001-use-mysql.md)."),
        ("see [[orders|the list]], (orders)", "see [[**orders**|the list]], (**orders**)"),
        ("`orders`: <b>orders</b>", "`**orders**`: <b>**orders**</b>"),
        ("the C++, of err_token.", "the **C++**, of **err_token**."),
    ],
)
def test_marks_in_a_snippet_hold_words_and_no_markup(text: str, shown: str) -> None:
    assert Marker({"order": 2.0, "c++": 1.0, "err_token": 1.0}).snippet(text) == shown


def test_where_an_identifier_stands_whole_its_parts_are_no_marks_elsewhere() -> None:
    weights = {"pn-00437": 9.0, "pn": 2.0, "00437": 3.0}
    marker = Marker(weights, {"pn-00437": frozenset({"pn", "00437"})})
    assert marker.snippet("PN-00436 old, PN-00437 new, PN 1") == (
        "PN-00436 old, **PN-00437** new, PN 1"
    )
    assert marker.snippet("the PN list") == "the **PN** list"


@pytest.mark.parametrize(
    ("query", "whole"),
    [
        ("v3.4.1", {"v3.4.1", "3.4.1"}),
        ("olivia@hanbit.example", {"olivia@hanbit.example"}),
        ("550e8400-e29b-41d4-a716-446655440000", {"550e8400-e29b-41d4-a716-446655440000"}),
        ("https://hanbit.example/ops/runbook-9", {"runbook-9"}),
        ("docs/setup.py", {"docs/setup.py", "setup.py"}),
        ("python3.11", {"python3.11"}),
    ],
)
def test_a_part_of_an_identifier_names_nothing(query: str, whole: set[str]) -> None:
    assert analyse(query).identifiers == whole
