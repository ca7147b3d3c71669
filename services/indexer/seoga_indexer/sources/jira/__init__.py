"""The Jira source: the issues of a JQL query, each one document, and their attachments."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pathspec import GitIgnoreSpec

from seoga.models import Item, Source
from seoga_indexer.source import Means, Problem
from seoga_indexer.sources._login import login_of
from seoga_indexer.sources._ordered import ordered
from seoga_indexer.sources._reading import reading
from seoga_indexer.sources._rest import Rest
from seoga_indexer.sources._spool import spooled, sweep
from seoga_indexer.sources.jira.server import Server

TYPE = "jira"


def connect(source: Source, means: Means) -> JiraConnector:
    """The connector of a Jira source."""
    return JiraConnector(source, means)


class JiraConnector:
    """The path of an issue is its key (`ABC-12`), that of an attachment goes on with its id and
    name; the version of an issue is when it was updated. An issue that moves to another project
    has another key, and so is another document."""

    remote = True

    def __init__(self, source: Source, means: Means) -> None:
        self._source, self._means = source, means
        self._include = GitIgnoreSpec.from_lines(source.include) if source.include else None
        self._exclude = GitIgnoreSpec.from_lines(source.exclude) if source.exclude else None
        self._spool = means.cache / "items"
        self._opened: Server | None = None

    def items(self) -> Iterator[Item | Problem]:
        """See Connector. Nothing is given before the listing is complete."""
        found = self._server().items(str(self._source.options.get("jql", "")), self._source.label)
        yield from ordered(self._source.label, (one for one in found if self._wanted(one.path)))

    def refresh(self, item: Item) -> Item:
        """See Connector: as it was listed."""
        return item

    @contextmanager
    def open(self, item: Item) -> Iterator[Path]:
        """See Connector."""
        with spooled(self._spool, item.path) as local:
            with reading(item.path):
                server = self._server()
                with local.open("wb") as file:
                    if "/" in item.path:
                        server.rest.file(item.url, file, self._means.max_bytes)
                    else:
                        file.write(server.issue(item.path))
            yield local

    def close(self) -> None:
        """See Connector."""
        if self._opened is not None:
            self._opened.rest.close()

    def _wanted(self, path: str) -> bool:
        if self._exclude is not None and self._exclude.match_file(path):
            return False
        return self._include is None or self._include.match_file(path)

    def _server(self) -> Server:
        if self._opened is None:
            sweep(self._spool)
            login = login_of(self._source, self._means)
            rest = Rest(str(self._source.options.get("baseUrl", "")), login)
            self._opened = Server(rest, login.user)
        return self._opened
