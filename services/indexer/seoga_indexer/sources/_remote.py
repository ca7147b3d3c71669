"""A connector to a server: what Confluence and Jira have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from seoga.models import Item, Source
from seoga_indexer.source import Means, Problem
from seoga_indexer.sources._login import Login, login_of
from seoga_indexer.sources._ordered import ordered
from seoga_indexer.sources._reading import reading, understood
from seoga_indexer.sources._rest import Rest
from seoga_indexer.sources._rules import patterns
from seoga_indexer.sources._spool import spooled, sweep


class Site(Protocol):
    """What a server holds of one source. Methods raise what Rest raises."""

    @property
    def rest(self) -> Rest:
        """How it is asked."""
        ...

    def items(self, label: str) -> Iterator[Item]:
        """Every item once, in any order."""
        ...

    def document(self, path: str) -> bytes | None:
        """The document of an item, as HTML; None where the item is a file at its own address."""
        ...


class RemoteConnector:
    """Implements Connector over a site, which `open_site` makes when it is first asked. Versions
    are the server's own, so that an item is refreshed by being listed."""

    remote = True

    def __init__(
        self, source: Source, means: Means, open_site: Callable[[Source, Login], Site]
    ) -> None:
        self._source, self._means, self._open_site = source, means, open_site
        self._include = patterns(source.include)
        self._exclude = patterns(source.exclude)
        self._spool = means.cache / "items"
        self._opened: Site | None = None

    def items(self) -> Iterator[Item | Problem]:
        """See Connector. Nothing is given before the listing is complete."""
        site = self._site()
        with understood(site.rest.host):
            found = site.items(self._source.label)
            yield from ordered(self._source.label, (one for one in found if self._wanted(one.path)))

    def refresh(self, item: Item) -> Item:
        """See Connector: as it was listed."""
        return item

    @contextmanager
    def open(self, item: Item) -> Iterator[Path]:
        """See Connector."""
        with spooled(self._spool, item.path) as local:
            with reading(item.path), local.open("wb") as file:
                site = self._site()
                with understood(site.rest.host):
                    document = site.document(item.path)
                if document is None:
                    site.rest.file(item.url, file, self._means.max_bytes)
                else:
                    file.write(document)
            yield local

    def close(self) -> None:
        """See Connector."""
        if self._opened is not None:
            self._opened.rest.close()

    def _wanted(self, path: str) -> bool:
        if self._exclude is not None and self._exclude.match_file(path):
            return False
        return self._include is None or self._include.match_file(path)

    def _site(self) -> Site:
        if self._opened is None:
            sweep(self._spool)
            self._opened = self._open_site(self._source, login_of(self._source, self._means))
        return self._opened
