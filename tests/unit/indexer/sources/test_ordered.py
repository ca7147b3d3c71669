"""Listings in order whatever a server gives, with a bounded number of entries in memory."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from seoga.errors import Reason
from seoga.models import Item
from seoga_indexer.changes import Verdict, changes
from seoga_indexer.source import Problem
from seoga_indexer.sources._ordered import ordered
from seoga_indexer.sources._spool import spooled, sweep


def made(count: int) -> list[Item | Problem]:
    items: list[Item | Problem] = [
        Item("l", f"가/{number}", number, number, f"v{number}", f"u{number}")
        for number in range(count)
    ]
    gone = Problem("나", Reason.UNREADABLE, "shut", subtree=True)
    link = Problem("가/x", Reason.UNSUPPORTED, "a link", keep=False)
    return [*items, gone, link]


@pytest.mark.parametrize("most", [1, 3, 7, 1000])
def test_entries_come_by_path_and_as_they_were(most: int) -> None:
    entries = made(50)
    mixed = random.Random(most).sample(entries, len(entries))
    found = list(ordered("l", mixed, most))
    assert sorted(map(repr, found)) == sorted(map(repr, entries))
    # The merge with the index refuses what is out of order.
    assert {change.verdict for change in changes(found, ())} == {Verdict.ADDED, Verdict.PROBLEM}


def test_a_path_that_comes_twice_is_a_problem_the_second_time() -> None:
    twice = [Item("l", "a", 1, 1, "1"), Item("l", "a", 2, 2, "2")]
    first, second = ordered("l", twice, 1)
    assert isinstance(first, Item)
    assert isinstance(second, Problem)
    assert not second.keep


def test_a_listing_that_fails_gives_nothing() -> None:
    def failing() -> Iterator[Item]:
        yield Item("l", "a", 1, 1)
        raise ValueError("half-way")

    found = ordered("l", failing(), 1)
    with pytest.raises(ValueError, match="half-way"):
        next(found)


def test_files_of_killed_processes_are_swept_and_those_in_use_are_not(tmp_path: Path) -> None:
    import os

    old = tmp_path / "item-old.pdf"
    old.write_bytes(b"x")
    os.utime(old, (1, 1))
    with spooled(tmp_path, "a/보고서.PDF") as local:
        sweep(tmp_path)
        assert local.suffix == ".PDF"
        assert list(tmp_path.iterdir()) == [local]
    assert list(tmp_path.iterdir()) == []
