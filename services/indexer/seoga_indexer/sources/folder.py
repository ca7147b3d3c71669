"""The folder source: a walk that never leaves its root and never stops at one bad entry."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from pathspec import GitIgnoreSpec

from seoga.errors import Reason
from seoga.models import Item, Source
from seoga_indexer.source import SHUT, Means, Problem, SourceUnavailable
from seoga_indexer.sources._rules import IGNORE_FILE, SKIPPED, Ignore, rules_of, stored_name

TYPE = "folder"

_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}

_Inode = tuple[int, int]
# Sorts a folder as "name/", which is the order of whole paths; the raw name settles equal ones.
_Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder on the way down: its path ("" or ending in "/"), its rules, the folders above."""

    local: Path
    path: str
    ignores: tuple[Ignore, ...]
    above: tuple[_Inode, ...]


def connect(source: Source, _: Means) -> FolderConnector:
    """The connector of a folder source."""
    return FolderConnector(source)


class FolderConnector:
    """Lists the files below `source.path`, with the names of one folder a level in memory."""

    remote = False

    def __init__(self, source: Source) -> None:
        self._label = source.label
        self._root = Path(source.path)
        self._include = GitIgnoreSpec.from_lines(source.include) if source.include else None
        self._exclude = GitIgnoreSpec.from_lines(source.exclude) if source.exclude else None
        self._linked: set[_Inode] = set()

    def items(self) -> Iterator[Item | Problem]:
        """See Connector. Links are followed inside the root only, and each linked folder once."""
        self._linked.clear()
        try:
            self._real_root = self._root.resolve(strict=True)
            top = _Folder(self._real_root, "", (), (_inode(self._real_root.stat()),))
            first = self._entries(top)
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

    def _entries(self, folder: _Folder) -> Iterator[Item | Problem | _Folder]:
        """Reads the folder at once (OSError comes from here), gives its entries one by one."""
        with os.scandir(folder.local) as found:
            entries = sorted(
                (_sort_key(entry), entry) for entry in found if not _skipped(entry.name)
            )
        rules, bad = _read_ignore(folder)
        below = replace(folder, ignores=(*folder.ignores, *rules))
        return chain(bad, self._walk(below, entries))

    def _walk(
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
                        "another entry has the same name in another Unicode form",
                        keep=False,
                    )
                elif not self._ignored(path, folder):
                    yield from self._entry(folder, path, entry)
            except OSError as error:
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
                yield Problem(
                    path.rstrip("/"), Reason.UNREADABLE, "a link back to a folder above it"
                )
            elif entry.is_symlink() and not self._inside(local):
                yield _leaves(path)
            elif not entry.is_symlink() or self._first_time(inode):
                yield _Folder(local, path, folder.ignores, (*folder.above, inode))
        elif entry.is_symlink() and not self._inside(local):
            yield _leaves(path)
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


def _read_ignore(folder: _Folder) -> tuple[tuple[Ignore, ...], list[Problem]]:
    """The rules of a folder's own file, and what is wrong with lines of it (those do nothing)."""
    file = folder.local / IGNORE_FILE
    # Anything else of that name (a pipe, say) could block for ever.
    if not file.is_file():
        return (), []
    text = file.read_text(encoding="utf-8-sig", errors="replace")
    return rules_of(text, folder.path)


def _leaves(path: str) -> Problem:
    return Problem(
        path.rstrip("/"), Reason.UNSUPPORTED, "a link that leaves the source", keep=False
    )


def _inode(now: os.stat_result) -> _Inode:
    return (now.st_dev, now.st_ino)


def _why(error: OSError) -> tuple[Reason, str]:
    gone = isinstance(error, FileNotFoundError)
    return (Reason.VANISHED if gone else Reason.UNREADABLE), error.strerror or str(error)
