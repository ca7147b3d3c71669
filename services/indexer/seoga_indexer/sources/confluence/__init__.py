"""The Confluence source: pages, blog posts and attachments of a space or of a CQL query."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec

from seoga.models import Item, Source
from seoga_indexer.source import Means, Problem
from seoga_indexer.sources._login import login_of
from seoga_indexer.sources._ordered import ordered
from seoga_indexer.sources._reading import reading
from seoga_indexer.sources._rest import Rest
from seoga_indexer.sources._spool import spooled, sweep
from seoga_indexer.sources.confluence.listing import Listing
from seoga_indexer.sources.confluence.pages import Pages
from seoga_indexer.sources.confluence.server import Server

TYPE = "confluence"


def connect(source: Source, means: Means) -> ConfluenceConnector:
    """The connector of a Confluence source."""
    return ConfluenceConnector(source, means)


@dataclass(frozen=True, slots=True)
class _Opened:
    """What asks the server for one source."""

    rest: Rest
    listing: Listing
    pages: Pages


class ConfluenceConnector:
    """The path of an item is made of ids (`pages/<id>`, `pages/<id>/<attachment id>/<name>`), so
    that new titles and other parents are no new documents; its version is Confluence's own."""

    remote = True

    def __init__(self, source: Source, means: Means) -> None:
        self._source, self._means = source, means
        self._include = GitIgnoreSpec.from_lines(source.include) if source.include else None
        self._exclude = GitIgnoreSpec.from_lines(source.exclude) if source.exclude else None
        self._spool = means.cache / "items"
        self._opened: _Opened | None = None

    def items(self) -> Iterator[Item | Problem]:
        """See Connector. Nothing is given before the listing is complete."""
        listing = self._server().listing
        found = listing.items(self._source.label)
        yield from ordered(self._source.label, (one for one in found if self._wanted(one.path)))

    def refresh(self, item: Item) -> Item:
        """See Connector: as it was listed."""
        return item

    @contextmanager
    def open(self, item: Item) -> Iterator[Path]:
        """See Connector."""
        with spooled(self._spool, item.path) as local:
            with reading(item.path):
                now = self._server()
                with local.open("wb") as file:
                    if item.path.count("/") == 1:
                        file.write(now.pages.page(item.path))
                    else:
                        now.rest.file(item.url, file, self._means.max_bytes)
            yield local

    def close(self) -> None:
        """See Connector."""
        if self._opened is not None:
            self._opened.rest.close()

    def _wanted(self, path: str) -> bool:
        if self._exclude is not None and self._exclude.match_file(path):
            return False
        return self._include is None or self._include.match_file(path)

    def _server(self) -> _Opened:
        if self._opened is None:
            sweep(self._spool)
            login = login_of(self._source, self._means)
            server = Server(str(self._source.options.get("baseUrl", "")))
            rest = Rest(server.base, login)
            pages = Pages(rest, server)
            listing = Listing(rest, server, self._source.options, pages)
            self._opened = _Opened(rest, listing, pages)
        return self._opened
