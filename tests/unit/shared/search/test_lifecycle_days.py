"""What is in force on a day, and today."""

from __future__ import annotations

import pytest

from seoga.errors import InvalidArgument
from seoga.search.lint import lint

from .conftest import Shelf
from .decisions import NEW, QUERY, new, old


def test_as_of_a_day_shows_what_was_in_force(shelf: Shelf) -> None:
    old(shelf, ("status", "superseded"), ("by", "new.md"), ("date", "2024-01-01"))
    new(shelf, ("status", "accepted"), ("date", "2026-03-01"))
    assert shelf.paths(QUERY, mode="bm25") == ["new.md"]
    before = shelf.search(QUERY, mode="bm25", as_of="2025-01-01")
    assert "new.md" not in [hit.path for hit in before.hits]
    assert shelf.paths(QUERY, mode="bm25", as_of="2026-03-01") == ["new.md"]
    with pytest.raises(InvalidArgument, match="as_of is 'yesterday'"):
        shelf.search(QUERY, as_of="yesterday")


def test_a_known_day_of_supersession_counts_for_as_of(shelf: Shelf) -> None:
    old(shelf, ("status", "deprecated"), ("until", "2026-03-01"))
    assert shelf.paths(QUERY, mode="bm25") == []
    assert shelf.paths(QUERY, mode="bm25", as_of="2026-02-28") == ["old.md"]


@pytest.mark.parametrize(("status", "shown"), [("rejected", []), ("retired", ["old.md"])])
def test_what_was_rejected_was_in_force_on_no_day_before(
    shelf: Shelf, status: str, shown: list[str]
) -> None:
    old(shelf, ("status", status), ("until", "2026-03-01"))
    assert shelf.paths(QUERY, mode="bm25", as_of="2020-01-01") == shown


def test_what_is_valid_until_a_day_is_shown_until_then(shelf: Shelf) -> None:
    old(shelf, ("status", "active"), ("ends", "2026-03-01"))
    assert shelf.paths(QUERY, mode="bm25", as_of="2026-03-01") == ["old.md"]
    answer = shelf.search(QUERY, mode="bm25", as_of="2026-03-02")
    assert (answer.hits, answer.retired[0].status, answer.retired[0].since) == (
        (),
        "expired",
        "2026-03-01",
    )
    (problem,) = [one for one in lint(shelf.kb).problems if one.kind == "expired"]
    assert "2026-03-01" in problem.message


@pytest.mark.parametrize("field", ["date", "created"])
def test_what_says_it_was_replaced_but_not_when_was_in_force_until_its_successor(
    shelf: Shelf, field: str
) -> None:
    old(shelf, ("status", "superseded"), ("by", "new.md"), (field, "2018-01-01"))
    states = [["status", "superseded"], [field, "2020-01-01"], ["by", "last.md"]]
    shelf.put("new.md", f"{NEW} The gateway signs nothing.", states=states)
    states = [["status", "accepted"], [field, "2022-01-01"], ["of", "new.md"]]
    shelf.put("last.md", "The gateway signs session cookies again.", states=states)
    for day, path in (
        ("2019-12-31", "old.md"),
        ("2020-01-01", "new.md"),
        ("2022-01-01", "last.md"),
    ):
        assert shelf.paths(QUERY, mode="bm25", as_of=day) == [path]
    assert shelf.paths(QUERY, mode="bm25", as_of="2017-01-01") == []


def test_a_document_younger_than_its_successor_goes_by_its_status(shelf: Shelf) -> None:
    old(shelf, ("status", "superseded"), ("by", "new.md"), ("date", "2024-01-01"))
    new(shelf, ("status", "accepted"), ("date", "2020-01-01"))
    assert shelf.paths(QUERY, mode="bm25", as_of="2024-06-01") == ["new.md"]


def test_what_was_never_in_force_is_in_force_on_no_day(shelf: Shelf) -> None:
    old(shelf, ("status", "rejected"), ("by", "new.md"), ("date", "2018-01-01"))
    new(shelf, ("status", "accepted"), ("date", "2020-01-01"))
    assert shelf.paths(QUERY, mode="bm25", as_of="2019-01-01") == []


def test_a_decision_of_a_day_to_come_speaks_from_that_day_on(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    old(shelf, ("status", "superseded"), ("by", "new.md"), ("date", "2018-01-01"))
    new(shelf, ("status", "accepted"), ("of", "old.md"), ("date", "2020-03-01"))
    monkeypatch.setattr("seoga.search.lifecycle.today", lambda: "2020-02-29")
    assert shelf.paths(QUERY, mode="bm25") == ["old.md"]
    assert shelf.paths(QUERY, mode="bm25", as_of="2020-03-01") == ["new.md"]
    # Nothing was written: midnight came.
    monkeypatch.setattr("seoga.search.lifecycle.today", lambda: "2020-03-01")
    assert shelf.paths(QUERY, mode="bm25") == ["new.md"]


def test_today_is_the_day_of_a_search_that_names_none(shelf: Shelf) -> None:
    old(shelf)
    new(shelf, ("status", "accepted"), ("of", "old.md"), ("date", "9999-01-01"))
    assert shelf.paths(QUERY, mode="bm25") == ["old.md"]
