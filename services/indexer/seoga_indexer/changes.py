"""What changed: a pure merge of what a source lists now with what the index knows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import IntEnum, StrEnum
from typing import NamedTuple

from seoga.errors import SeogaError
from seoga.models import Item
from seoga.storage.records import KnownFile
from seoga_indexer.source import Problem

# A file can be rewritten within one tick of its file system's clock: a young stamp proves nothing.
RACY_NS = 2_000_000_000
GUARD_SHARE, GUARD_COUNT = 0.20, 10


class Verdict(StrEnum):
    """What the diff says of one path. SUSPECT: only a hash can tell; REDO: whatever the hash."""

    ADDED = "added"
    SUSPECT = "suspect"
    REDO = "redo"
    UNCHANGED = "unchanged"
    GONE = "gone"
    PROBLEM = "problem"


class Depth(IntEnum):
    """From which stage on a known file is done again."""

    NOTHING = 0
    CHUNK = 1
    EXTRACT = 2


class Change(NamedTuple):
    """One step of the merge: `item` where the source lists it, `known` where the index has it;
    `depth` with the verdict REDO."""

    verdict: Verdict
    item: Item | None = None
    known: KnownFile | None = None
    problem: Problem | None = None
    depth: Depth = Depth.NOTHING


Redo = Callable[[KnownFile], Depth]


def _leave(_: KnownFile) -> Depth:
    return Depth.NOTHING


def changes(
    listed: Iterable[Item | Problem], known: Iterable[KnownFile], redo: Redo = _leave
) -> Iterator[Change]:
    """Merges two streams that are ordered by path; `redo` says which known files are done again.

    Known files below a problem are neither changed nor gone. Raises SeogaError when `listed` is
    out of order, so that a faulty connector can never look like a deletion.
    """
    rest = _Rest(known)
    last = ""
    for entry in listed:
        if isinstance(entry, Problem) and not entry.keep:
            yield Change(Verdict.PROBLEM, problem=entry)
            continue
        key = entry.path + ("/" if isinstance(entry, Problem) and entry.subtree else "")
        if last and key <= last:
            raise SeogaError(f"the source lists {entry.path!r} after {last!r}: out of order")
        last = key
        yield from (Change(Verdict.GONE, known=gone) for gone in rest.before(key))
        if isinstance(entry, Item):
            match = rest.take(entry.path)
            yield _compared(entry, match, redo)
        else:
            yield Change(Verdict.PROBLEM, problem=entry)
            rest.skip(entry)
    yield from (Change(Verdict.GONE, known=gone) for gone in rest.all())


def _compared(item: Item, known: KnownFile | None, redo: Redo) -> Change:
    if known is None:
        return Change(Verdict.ADDED, item)
    if depth := redo(known) if known.hash else Depth.EXTRACT:
        return Change(Verdict.REDO, item, known, depth=depth)
    same = unchanged(item, known)
    return Change(Verdict.UNCHANGED if same else Verdict.SUSPECT, item, known)


def unchanged(item: Item, known: KnownFile) -> bool:
    """Whether the stamp alone proves that the content is the known one."""
    if item.version:
        return item.version == known.version
    same = item.size == known.size and item.mtime_ns == known.mtime_ns
    return same and known.mtime_ns < known.scanned_ns - RACY_NS


def guard(known: int, gone: int, listed: int) -> str:
    """Why the deletions of a source must not be believed; "" when they may. Counts of files."""
    if known and not listed:
        return f"the source is empty but had {known:,} files: is its disk or share mounted?"
    if gone > GUARD_COUNT and gone > GUARD_SHARE * known:
        return f"{gone:,} of {known:,} files are gone at once"
    return ""


class _Rest:
    """The known files still to come, one looked at ahead."""

    def __init__(self, known: Iterable[KnownFile]) -> None:
        self._known = iter(known)
        self._next = next(self._known, None)

    def _advance(self) -> KnownFile | None:
        taken, self._next = self._next, next(self._known, None)
        return taken

    def _while(self, wanted: Callable[[str], bool]) -> Iterator[KnownFile]:
        while self._next is not None and wanted(self._next.path):
            if taken := self._advance():
                yield taken

    def before(self, key: str) -> Iterator[KnownFile]:
        return self._while(lambda path: path < key)

    def take(self, path: str) -> KnownFile | None:
        return next(self._while(lambda found: found == path), None)

    def skip(self, problem: Problem) -> None:
        below = problem.path + "/"
        if problem.subtree:
            for _ in self._while(lambda path: path.startswith(below)):
                pass
        else:
            self.take(problem.path)

    def all(self) -> Iterator[KnownFile]:
        return self._while(lambda _: True)
