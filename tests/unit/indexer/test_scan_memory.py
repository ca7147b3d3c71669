"""A scan holds one page of rows and one folder of names, however many files there are."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from seoga.models import FileState, Item
from seoga.storage.records import KnownFile
from seoga_indexer.changes import Depth, Verdict
from seoga_indexer.scan import SourceReport, scan_source

SECOND_NS = 10**9


class Endless:
    """A source that makes its items up as it goes."""

    remote = False

    def __init__(self, files: int) -> None:
        self.files = files

    def items(self) -> Iterator[Item]:
        for number in range(self.files):
            yield Item("docs", f"{number:08}.md", 1, number)

    def refresh(self, item: Item) -> Item:
        return item

    def open(self, item: Item) -> AbstractContextManager[Path]:
        return nullcontext(Path(item.path))

    def close(self) -> None:
        return

    def rows(self, label: str, start: str = "") -> Iterator[KnownFile]:
        for number in range(self.files):
            path, seen = f"{number:08}.md", number + 10 * SECOND_NS
            state = FileState.READY
            yield KnownFile(number, label, path, 1, number, seen, "", "hash", state, "", "", 1)


def peak(files: int) -> int:
    """Bytes that a scan of so many unchanged files holds at most."""
    source, report = Endless(files), SourceReport("docs")
    tracemalloc.start()
    try:
        found = scan_source(source, report, source.rows, lambda _: Depth.NOTHING)
        assert sum(change.verdict is Verdict.UNCHANGED for change in found) == files
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_scan_of_many_files_holds_as_much_as_one_of_few() -> None:
    peak(10)
    assert peak(20_000) - peak(1_000) < 64 * 1024
