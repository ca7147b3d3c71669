"""Listings in the order of their paths, whatever order a server gives them in."""

from __future__ import annotations

import heapq
import json
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from seoga.errors import Reason
from seoga.models import Item
from seoga_indexer.source import Problem

# Entries in memory; a longer listing is sorted in pieces that lie in temporary files.
MOST = 50_000

_Row = tuple[str, str, int, int, str, str]


def ordered(
    label: str, entries: Iterable[Item | Problem], most: int = MOST
) -> Iterator[Item | Problem]:
    """All entries by path (code points), after the last one has been listed: what `entries` raises
    comes before anything is given. A path that comes twice is a problem the second time."""
    with tempfile.TemporaryDirectory(prefix="seoga-listing-") as held:
        rows: list[_Row] = []
        pieces: list[Iterable[_Row]] = []
        for entry in entries:
            rows.append(_row(entry))
            if len(rows) >= most:
                pieces.append(_written(sorted(rows), Path(held) / str(len(pieces))))
                rows = []
        last = ""
        for row in heapq.merge(*pieces, sorted(rows)):
            found = _entry(label, row)
            if isinstance(found, Item) and row[0] == last:
                found = _twice(found.path)
            last = row[0]
            yield found


def _twice(path: str) -> Problem:
    detail = "another entry has the same name in another Unicode form: rename one"
    return Problem(path, Reason.UNREADABLE, detail, keep=False)


def _row(entry: Item | Problem) -> _Row:
    if isinstance(entry, Item):
        return entry.path, "", entry.size, entry.mtime_ns, entry.version, entry.url
    # As changes() compares them: all below a path comes after the path with its slash.
    path = entry.path + ("/" if entry.subtree else "")
    return path, str(entry.reason), int(entry.keep), 0, entry.detail, ""


def _entry(label: str, row: _Row) -> Item | Problem:
    path, reason, size, mtime_ns, text, url = row
    if not reason:
        return Item(label, path, size, mtime_ns, text, url)
    subtree = path.endswith("/")
    return Problem(path.rstrip("/"), Reason(reason), text, subtree=subtree, keep=bool(size))


def _written(rows: list[_Row], piece: Path) -> Iterable[_Row]:
    with piece.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return _read(piece)


def _read(piece: Path) -> Iterator[_Row]:
    with piece.open(encoding="utf-8") as file:
        for line in file:
            path, reason, size, mtime_ns, text, url = json.loads(line)
            yield path, reason, size, mtime_ns, text, url
