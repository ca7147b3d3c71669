"""What changed: a pure merge of what a source lists now with what the index knows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from itertools import dropwhile
from typing import NamedTuple

from seoga.errors import SeogaError
from seoga.models import Item
from seoga.storage.records import KnownFile
from seoga_indexer.source import Enter, Leave, Problem

# A file can be rewritten within one tick of its file system's clock: a young stamp proves nothing.
RACY_NS = 2_000_000_000
GUARD_SHARE, GUARD_COUNT = 0.20, 10
# No name of a file system is as long as this.
_LAST = "\U0010ffff" * 64


class Verdict(StrEnum):
    """What the diff says of one path. SUSPECT: only a hash can tell; REDO: whatever the hash.
    STANDING: the files of a folder are as they were; SETTLED: they were all found so."""

    ADDED = "added"
    SUSPECT = "suspect"
    REDO = "redo"
    UNCHANGED = "unchanged"
    GONE = "gone"
    PROBLEM = "problem"
    STANDING = "standing"
    SETTLED = "settled"


class Depth(IntEnum):
    """From which stage on a known file is done again."""

    NOTHING = 0
    CHUNK = 1
    EXTRACT = 2


class Folder(NamedTuple):
    """A folder ("" or ending in "/") with the number of files in it, and the digest of what it
    held where it is to be remembered."""

    path: str
    files: int
    digest: bytes = b""


class Change(NamedTuple):
    """One step of the merge: `item` where the source lists it, `known` where the index has it;
    `depth` with the verdict REDO, `folder` with STANDING and SETTLED."""

    verdict: Verdict
    item: Item | None = None
    known: KnownFile | None = None
    problem: Problem | None = None
    depth: Depth = Depth.NOTHING
    folder: Folder | None = None


Listed = Item | Problem | Enter | Leave
Seek = Callable[[str], Iterable[KnownFile]]
Redo = Callable[[KnownFile], Depth]


def _leave(_: KnownFile) -> Depth:
    return Depth.NOTHING


def changes(
    listed: Iterable[Listed],
    known: Iterable[KnownFile],
    redo: Redo = _leave,
    seek: Seek | None = None,
) -> Iterator[Change]:
    """Merges two streams that are ordered by path; `redo` says which known files are done again,
    `seek` gives the known files from a path on (without it, those in between are read).

    Known files below a problem are neither changed nor gone. Raises SeogaError when `listed` is
    out of order, so that a faulty connector can never look like a deletion.
    """
    merge = _Merge(_Rest(known, seek), redo)
    for entry in listed:
        if isinstance(entry, Item):
            yield from merge.up_to(entry.path, entry.path)
            yield merge.item(entry)
        else:
            yield from merge.step(entry)
    yield from merge.end()


@dataclass(slots=True)
class _Level:
    """A folder on the way down. `passed`: known files in it are as they were; `settled`: nothing
    but unchanged files was found in it."""

    passed: bool = False
    settled: bool = True
    files: int = 0


class _Merge:
    """Where the two streams stand."""

    def __init__(self, rest: _Rest, redo: Redo) -> None:
        self._rest, self._redo = rest, redo
        self._levels = [_Level()]
        self._last = ""

    def item(self, item: Item) -> Change:
        """What became of an item; what comes before it was dealt with."""
        change = _compared(item, self._rest.take(item.path), self._redo)
        level = self._levels[-1]
        level.files += 1
        if change.verdict is not Verdict.UNCHANGED:
            level.settled = False
        return change

    def step(self, entry: Enter | Leave | Problem) -> Iterator[Change]:
        """The changes that any other entry of the listing brings."""
        if isinstance(entry, Enter):
            return self._enter(entry)
        return self._leave(entry) if isinstance(entry, Leave) else self._problem(entry)

    def end(self) -> Iterator[Change]:
        """What is known and was not listed to the end."""
        return map(_gone, self._rest.all())

    def up_to(self, key: str, name: str) -> Iterable[Change]:
        """What is known before `key` and was not listed. Raises SeogaError out of order."""
        if self._last and key <= self._last:
            raise SeogaError(f"the source lists {name!r} after {self._last!r}: out of order")
        self._last = key
        return self._between(key)

    def _between(self, key: str) -> Iterable[Change]:
        level = self._levels[-1]
        if level.passed:
            self._rest.pass_to(key)
            return ()
        if not self._rest.has_before(key):
            return ()
        level.settled = False
        return map(_gone, self._rest.before(key))

    def _problem(self, entry: Problem) -> Iterator[Change]:
        self._levels[-1].settled = False
        if entry.keep:
            yield from self.up_to(entry.path + ("/" if entry.subtree else ""), entry.path)
            self._rest.skip(entry)
        yield Change(Verdict.PROBLEM, problem=entry)

    def _enter(self, entry: Enter) -> Iterator[Change]:
        if entry.path:
            yield from self.up_to(entry.path, entry.path)
        self._levels.append(_Level(passed=entry.files is not None))
        if entry.files is not None:
            yield Change(Verdict.STANDING, folder=Folder(entry.path, entry.files))

    def _leave(self, entry: Leave) -> Iterator[Change]:
        yield from self._between(_after(entry.path))
        level = self._levels.pop()
        if entry.digest and level.settled and not level.passed:
            yield Change(Verdict.SETTLED, folder=Folder(entry.path, level.files, entry.digest))


def _after(folder: str) -> str:
    """What sorts after all paths below a folder ("0" follows "/"); after any path, for the root."""
    return folder[:-1] + "0" if folder else _LAST


def _gone(known: KnownFile) -> Change:
    return Change(Verdict.GONE, known=known)


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
    """The known files still to come, one looked at ahead. None is read before it is asked for."""

    def __init__(self, known: Iterable[KnownFile], seek: Seek | None) -> None:
        self._known = iter(known)
        self._seek = seek
        self._next: KnownFile | None = None
        # From where on they are to be read, where that has not been done yet.
        self._start: str | None = ""

    def _peek(self) -> KnownFile | None:
        if self._start is not None:
            start, self._start = self._start, None
            if start and self._seek is not None:
                self._known = iter(self._seek(start))
            elif start:
                self._known = dropwhile(lambda known: known.path < start, self._known)
            self._next = next(self._known, None)
        return self._next

    def _while(self, wanted: Callable[[str], bool]) -> Iterator[KnownFile]:
        while (found := self._peek()) is not None and wanted(found.path):
            self._next = next(self._known, None)
            yield found

    def has_before(self, key: str) -> bool:
        found = self._peek()
        return found is not None and found.path < key

    def before(self, key: str) -> Iterator[KnownFile]:
        return self._while(lambda path: path < key)

    def pass_to(self, key: str) -> None:
        """Nothing before `key` is of interest."""
        if self._start is not None:
            self._start = max(self._start, key)
        elif self._next is not None and self._next.path < key:
            self._start = key

    def take(self, path: str) -> KnownFile | None:
        found = self._peek()
        if found is None or found.path != path:
            return None
        self._next = next(self._known, None)
        return found

    def skip(self, problem: Problem) -> None:
        below = problem.path + "/"
        if problem.subtree:
            for _ in self._while(lambda path: path.startswith(below)):
                pass
        else:
            self.take(problem.path)

    def all(self) -> Iterator[KnownFile]:
        return self._while(lambda _: True)
