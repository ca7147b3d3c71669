"""The folder source: a walk that never leaves its root and never stops at one bad entry."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from seoga.errors import Reason
from seoga.models import Item, Source
from seoga_indexer.source import SHUT, Enter, Leave, Means, Problem, SourceUnavailable, Standing
from seoga_indexer.sources._digest import digest_of, stamp_of
from seoga_indexer.sources._rules import (
    IGNORE_FILE,
    SKIPPED,
    Ignore,
    patterns,
    rules_of,
    stored_name,
)

TYPE = "folder"

_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}

_LEAVES = "a link that leaves the source"

_Inode = tuple[int, int]
_Found = Item | Problem | Enter | Leave
# Sorts a folder as "name/", which is the order of whole paths; the raw name settles equal ones.
_Key = tuple[str, str]
_Entries = list[os.DirEntry[str]]


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder on the way down: its path ("" or ending in "/"), its rules and a stamp of them, the
    folders above."""

    local: Path
    path: str
    ignores: tuple[Ignore, ...]
    above: tuple[_Inode, ...]
    stamp: bytes = b""


def connect(source: Source, _: Means) -> FolderConnector:
    """The connector of a folder source."""
    return FolderConnector(source)


class FolderConnector:
    """Lists the files below `source.path`, with the names of one folder a level in memory."""

    remote = False

    def __init__(self, source: Source) -> None:
        self._label = source.label
        self._root = Path(source.path)
        self._include = patterns(source.include)
        self._exclude = patterns(source.exclude)
        self._globs = (tuple(source.include), tuple(source.exclude))
        self._linked: set[_Inode] = set()
        self._standing: Standing | None = None

    def items(self) -> Iterator[Item | Problem]:
        """See Connector. Links are followed inside the root only, and each linked folder once."""
        for entry in self._walk(None):
            if isinstance(entry, Item | Problem):
                yield entry

    def walk(self, standing: Standing) -> Iterator[_Found]:
        """See Tree."""
        return self._walk(standing)

    def _walk(self, standing: Standing | None) -> Iterator[_Found]:
        self._linked.clear()
        self._standing = standing
        try:
            self._real_root = self._root.resolve(strict=True)
            above = (_inode(self._real_root.stat()),)
            stamp = (
                stamp_of(standing.stamp, SKIPPED.pattern, self._globs)
                if standing is not None
                else b""
            )
            first = self._entries(_Folder(self._real_root, "", (), above, stamp))
        except NotADirectoryError as error:
            raise SourceUnavailable(f"{self._root} is not a folder") from error
        except OSError as error:
            raise SourceUnavailable(
                f"the folder {self._root} cannot be read: {error.strerror}",
                "is the disk or network share mounted?",
            ) from error
        stack = [first]
        while stack:
            found = next(stack[-1], None)
            if found is None:
                stack.pop()
            elif isinstance(found, _Folder):
                try:
                    stack.append(self._entries(found))
                except OSError as error:
                    yield Problem(found.path.rstrip("/"), *_why(error), subtree=True)
            else:
                yield found
        if not self._real_root.is_dir():
            raise SourceUnavailable(
                f"the folder {self._root} vanished while it was read",
                "is it still mounted, under the same name?",
            )

    def refresh(self, item: Item) -> Item:
        """See Connector."""
        if not item.local:
            raise FileNotFoundError(item.path)
        now = os.stat(item.local)
        return item._replace(size=now.st_size, mtime_ns=now.st_mtime_ns)

    def open(self, item: Item) -> AbstractContextManager[Path]:
        """See Connector."""
        if not item.local:
            raise FileNotFoundError(item.path)
        return nullcontext(Path(item.local))

    def close(self) -> None:
        """See Connector."""

    def _stamp(self) -> bytes:
        if self._standing is None:
            return b""
        return stamp_of(self._standing.stamp, SKIPPED.pattern, self._globs)

    def _entries(self, folder: _Folder) -> Iterator[_Found | _Folder]:
        """Reads the folder at once (OSError comes from here), gives its entries one by one."""
        with os.scandir(folder.local) as found:
            entries = list(found)
        bad: Sequence[Problem] = ()
        if any(entry.name == IGNORE_FILE for entry in entries):
            folder, bad = _with_ignore(folder)
        standing, files, digest = self._standing, None, b""
        if standing is not None and (digest := digest_of(entries, folder.stamp)):
            files = standing.files(folder.path, digest)
        if files is not None:
            entries = [entry for entry in entries if entry.is_dir()]
        inside = self._listed(folder, _in_order(entries))
        return chain((Enter(folder.path, files),), bad, inside, (Leave(folder.path, digest),))

    def _listed(
        self, folder: _Folder, entries: list[tuple[_Key, os.DirEntry[str]]]
    ) -> Iterator[Item | Problem | _Folder]:
        last = ""
        for (name, _), entry in entries:
            path = folder.path + name
            try:
                if name == last:
                    yield Problem(
                        path.rstrip("/"),
                        Reason.UNREADABLE,
                        "another entry has the same name in another Unicode form: rename one",
                        keep=False,
                    )
                elif not self._ignored(path, folder):
                    yield from self._entry(folder, path, entry)
            except OSError as error:
                if error.errno == errno.ELOOP:
                    yield _link(path, "a link that leads to itself")
                else:
                    yield Problem(path.rstrip("/"), *_why(error), subtree=path.endswith("/"))
            last = name

    def _entry(
        self, folder: _Folder, path: str, entry: os.DirEntry[str]
    ) -> Iterator[Item | Problem | _Folder]:
        now = entry.stat()
        if stat.S_ISREG(now.st_mode) and not entry.is_symlink():
            # The way of nearly all: a Path of each would cost as much as the walk itself.
            yield self._file(path, now, entry)
            return
        local = Path(entry.path)
        if stat.S_ISDIR(now.st_mode):
            inode = _inode(now)
            if inode in folder.above:
                yield _link(path, "a link back to a folder above it")
            elif entry.is_symlink() and not self._inside(local):
                yield _link(path, _LEAVES)
            elif not entry.is_symlink() or self._first_time(inode):
                yield _Folder(local, path, folder.ignores, (*folder.above, inode), folder.stamp)
        elif entry.is_symlink() and not self._inside(local):
            yield _link(path, _LEAVES)
        elif stat.S_ISREG(now.st_mode):
            yield self._file(path, now, entry)
        else:
            what = _KINDS.get(stat.S_IFMT(now.st_mode), "no file")
            yield Problem(path, Reason.UNSUPPORTED, f"{what}, no file", keep=False)

    def _file(self, path: str, now: os.stat_result, entry: os.DirEntry[str]) -> Item:
        # Rights can change without size and time: such a file must not pass as unchanged.
        version = "" if _may_read(entry, now) else SHUT
        size, modified = now.st_size, now.st_mtime_ns
        return Item(self._label, path, size, modified, version, local=entry.path)

    def _ignored(self, path: str, folder: _Folder) -> bool:
        if self._exclude is not None and self._exclude.match_file(path):
            return True
        if any(rules.matches(path) for rules in folder.ignores):
            return True
        is_file = not path.endswith("/")
        return is_file and self._include is not None and not self._include.match_file(path)

    def _first_time(self, inode: _Inode) -> bool:
        # Once each: folders that link to one another would otherwise multiply without end.
        if inode in self._linked:
            return False
        self._linked.add(inode)
        return True

    def _inside(self, local: Path) -> bool:
        return local.resolve().is_relative_to(self._real_root)


def _may_read(entry: os.DirEntry[str], now: os.stat_result) -> bool:
    everybody = stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH
    return now.st_mode & everybody == everybody or os.access(entry.path, os.R_OK)


def _sort_key(entry: os.DirEntry[str]) -> _Key:
    try:
        is_dir = entry.is_dir()
    except OSError:
        is_dir = False
    return stored_name(entry.name) + ("/" if is_dir else ""), entry.name


def _skipped(name: str) -> bool:
    return name.startswith(".") or SKIPPED.match(name.lower()) is not None


def _in_order(entries: _Entries) -> list[tuple[_Key, os.DirEntry[str]]]:
    return sorted((_sort_key(entry), entry) for entry in entries if not _skipped(entry.name))


def _with_ignore(folder: _Folder) -> tuple[_Folder, list[Problem]]:
    """The folder with the rules of its own file, and what is wrong with lines of it (those do
    nothing)."""
    file = folder.local / IGNORE_FILE
    # Anything else of that name (a pipe, say) could block for ever.
    if not file.is_file():
        return folder, []
    text = file.read_text(encoding="utf-8-sig", errors="replace")
    rules, bad = rules_of(text, folder.path)
    stamp = stamp_of(folder.stamp, folder.path, text)
    return replace(folder, ignores=(*folder.ignores, *rules), stamp=stamp), bad


def _link(path: str, what: str) -> Problem:
    """Nothing that a person has to see to: no file stands there."""
    return Problem(path.rstrip("/"), Reason.UNSUPPORTED, what, keep=False)


def _inode(now: os.stat_result) -> _Inode:
    return (now.st_dev, now.st_ino)


def _why(error: OSError) -> tuple[Reason, str]:
    gone = isinstance(error, FileNotFoundError)
    return (Reason.VANISHED if gone else Reason.UNREADABLE), error.strerror or str(error)
