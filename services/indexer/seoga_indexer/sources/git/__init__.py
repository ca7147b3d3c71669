"""The git source: the tracked files at a branch of a checkout, or of a clone in the cache."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path, PurePosixPath

from seoga.models import Item, Source
from seoga_indexer.source import Means, Problem, SourceUnavailable
from seoga_indexer.sources._login import login_of
from seoga_indexer.sources._ordered import ordered
from seoga_indexer.sources._rules import IGNORE_FILE, SKIPPED, Ignore, patterns, rules_of
from seoga_indexer.sources._spool import spooled, sweep
from seoga_indexer.sources.git.clone import Clone
from seoga_indexer.sources.git.command import GitFailed
from seoga_indexer.sources.git.pointers import stored_apart
from seoga_indexer.sources.git.repository import Repository, checkout
from seoga_indexer.sources.git.tree import entries

TYPE = "git"
_RULES_BYTES = 1 << 20


def connect(source: Source, means: Means) -> GitConnector:
    """The connector of a git source."""
    return GitConnector(source, means)


class GitConnector:
    """Nothing is checked out and nothing of the repository is run: paths, ids and contents come
    from the objects of one commit. Not committed changes are not seen."""

    def __init__(self, source: Source, means: Means) -> None:
        self._source, self._means = source, means
        self._url = str(source.options.get("url", ""))
        self._branch = str(source.options.get("branch", ""))
        self.remote = bool(self._url)
        self._include = patterns(source.include)
        self._exclude = patterns(source.exclude)
        self._spool = means.cache / "items"
        self._opened: Repository | None = None
        self._clone: Clone | None = None
        self._lock = threading.Lock()

    def items(self) -> Iterator[Item | Problem]:
        """See Connector. One commit for the life of this connector."""
        now = self._repository()
        files: list[Item] = []
        try:
            found = ordered(self._source.label, self._listed(now, files))
            first = next(found, None)
            rules, bad = _ignores(now, files)
            yield from bad
            for entry in chain(() if first is None else (first,), found):
                if not _ignored(entry.path, rules):
                    yield entry
        except (GitFailed, OSError) as error:
            raise SourceUnavailable(
                f"{self._where} cannot be listed: {error}",
                "Is the repository whole? A partial clone lacks what it has not fetched.",
            ) from error

    def refresh(self, item: Item) -> Item:
        """See Connector: with the date of its last commit."""
        return item._replace(mtime_ns=self._known().dates.of(item.path))

    @contextmanager
    def open(self, item: Item) -> Iterator[Path]:
        """See Connector."""
        now = self._known()
        with spooled(self._spool, item.path) as local:
            with local.open("wb") as file:
                now.blobs.copy(item.version, file)
            yield stored_apart(local, now.common, self._means.max_bytes) or local

    def close(self) -> None:
        """See Connector."""
        if self._clone is not None:
            self._clone.close()
        if self._opened is not None:
            self._opened.close()

    @property
    def _where(self) -> str:
        return self._url or self._source.path

    def _listed(self, now: Repository, rules: list[Item]) -> Iterator[Item | Problem]:
        """What is wanted; the ignore files on the way go into `rules`."""
        for entry in entries(now.git, now.folder, now.tree, self._source.label):
            if PurePosixPath(entry.path).name == IGNORE_FILE and isinstance(entry, Item):
                rules.append(entry)
            elif self._wanted(entry.path):
                yield entry

    def _wanted(self, path: str) -> bool:
        if any(SKIPPED.match(part) for part in path.lower().split("/")):
            return False
        if self._exclude is not None and self._exclude.match_file(path):
            return False
        return self._include is None or self._include.match_file(path)

    def _repository(self) -> Repository:
        with self._lock:
            if self._opened is None:
                sweep(self._spool)
                self._opened = self._cloned() if self._url else checkout(self._source, self._means)
            return self._opened

    def _cloned(self) -> Repository:
        self._clone = self._clone or Clone(
            self._url, self._means, login_of(self._source, self._means)
        )
        return self._clone.repository(self._branch)

    def _known(self) -> Repository:
        # Items come from a listing of this connector, or the source was listed by another one.
        try:
            return self._repository()
        except SourceUnavailable as error:
            raise OSError(error.message) from error


def _ignores(now: Repository, files: list[Item]) -> tuple[list[Ignore], list[Problem]]:
    rules: list[Ignore] = []
    problems: list[Problem] = []
    for file in files:
        if file.size <= _RULES_BYTES:
            text = now.blobs.read(file.version).decode("utf-8-sig", "replace")
            found, bad = rules_of(text, file.path.removesuffix(IGNORE_FILE))
            rules += found
            problems += bad
    return rules, problems


def _ignored(path: str, rules: list[Ignore]) -> bool:
    return any(path.startswith(one.prefix) and one.matches(path) for one in rules)
