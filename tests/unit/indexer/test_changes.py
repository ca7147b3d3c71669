"""The diff of a listing and an index, over streams."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seoga.errors import Reason, SeogaError
from seoga.models import FileState, Item
from seoga.storage.records import KnownFile
from seoga_indexer.changes import Verdict, changes, guard
from seoga_indexer.source import Problem

NOW = 1_800_000_000_000_000_000
OLD = NOW - 60_000_000_000


def item(path: str, size: int = 1, mtime: int = OLD) -> Item:
    return Item("docs", path, size, mtime)


def known(path: str, size: int = 1, mtime: int = OLD, **more: str) -> KnownFile:
    return KnownFile(
        id=hash(path),
        label="docs",
        path=path,
        size=size,
        mtime_ns=mtime,
        scanned_ns=NOW,
        version=more.get("version", ""),
        hash=more.get("hash", "h"),
        state=FileState.READY,
        stage="done",
        reason="",
        chunk_count=1,
    )


def verdicts(listed: list[Item | Problem], index: list[KnownFile]) -> dict[str, str]:
    out = {}
    for change in changes(listed, index):
        entry = change.item or change.known or change.problem
        assert entry is not None
        out[entry.path] = change.verdict.value
    return out


def test_added_changed_unchanged_and_gone_are_told_apart() -> None:
    found = verdicts(
        [item("a"), item("b"), item("c", size=2), item("d", mtime=OLD + 1)],
        [known("b"), known("c"), known("d"), known("e")],
    )
    assert found == {
        "a": "added",
        "b": "unchanged",
        "c": "suspect",
        "d": "suspect",
        "e": "gone",
    }


def test_a_stamp_within_two_seconds_of_its_scan_proves_nothing() -> None:
    young = NOW - 1_900_000_000
    assert verdicts([item("a", mtime=young)], [known("a", mtime=young)]) == {"a": "suspect"}
    old = NOW - 2_100_000_000
    assert verdicts([item("a", mtime=old)], [known("a", mtime=old)]) == {"a": "unchanged"}


def test_a_file_never_read_is_tried_again() -> None:
    assert verdicts([item("a")], [known("a", hash="")]) == {"a": "redo"}


def test_redo_takes_known_files_again() -> None:
    found = list(changes([item("a")], [known("a")], redo=lambda _: True))
    assert found[0].verdict is Verdict.REDO


def test_an_equal_version_is_unchanged_whatever_its_time() -> None:
    listed = Item("wiki", "a", 1, NOW, version="7")
    assert verdicts([listed], [known("a", version="7")]) == {"a": "unchanged"}
    assert verdicts([listed], [known("a", version="6")]) == {"a": "suspect"}


def test_nothing_below_a_folder_that_cannot_be_read_is_gone() -> None:
    shut = Problem("b", Reason.UNREADABLE, "", subtree=True)
    found = verdicts(
        [item("a"), shut, item("c")],
        [known("a"), known("b/1"), known("b/2"), known("b-1"), known("b.md"), known("d")],
    )
    assert found == {
        "a": "unchanged",
        "b-1": "gone",
        "b.md": "gone",
        "b": "problem",
        "c": "added",
        "d": "gone",
    }


def test_a_file_that_vanished_during_the_scan_keeps_its_row() -> None:
    listed: list[Item | Problem] = [Problem("a", Reason.VANISHED, "")]
    assert verdicts(listed, [known("a"), known("b")]) == {"a": "problem", "b": "gone"}


def test_a_file_that_became_a_link_out_of_the_source_is_gone() -> None:
    listed: list[Item | Problem] = [Problem("a", Reason.UNSUPPORTED, "", keep=False)]
    assert [change.verdict for change in changes(listed, [known("a")])] == ["problem", "gone"]


def test_a_listing_out_of_order_is_refused_before_anything_is_gone() -> None:
    steps = changes([item("b"), item("a")], [known("b"), known("c")])
    assert next(steps).verdict is Verdict.UNCHANGED
    with pytest.raises(SeogaError, match="out of order"):
        next(steps)


@given(st.sets(st.text("ab/-.가", min_size=1, max_size=4)), st.sets(st.text("ab/-.가", max_size=4)))
def test_every_path_gets_exactly_one_verdict(now: set[str], before: set[str]) -> None:
    found = list(changes(map(item, sorted(now)), map(known, sorted(before))))
    kinds = [(change.verdict, change.item or change.known) for change in found]
    names = [entry.path for _, entry in kinds if entry]
    assert sorted(names) == sorted(now | before)
    assert {e.path for v, e in kinds if e and v is Verdict.GONE} == before - now
    assert {e.path for v, e in kinds if e and v is Verdict.ADDED} == now - before


def test_the_merge_holds_only_one_known_file_ahead() -> None:
    taken = 0

    def rows() -> Iterator[KnownFile]:
        nonlocal taken
        for index in range(1000):
            taken += 1
            yield known(f"{index:04}")

    steps = changes((item(f"{index:04}") for index in range(1000)), rows())
    next(steps)
    assert taken <= 2


def test_the_guard_speaks_for_empty_roots_and_for_many_losses() -> None:
    assert "empty" in guard(known=3, gone=3, listed=0)
    assert "30 of 100" in guard(known=100, gone=30, listed=70)
    assert guard(known=100, gone=20, listed=80) == ""
    assert guard(known=20, gone=10, listed=10) == ""
    assert guard(known=0, gone=0, listed=0) == ""
