"""The Confluence source: pages, blog posts and attachments of a space or of a CQL query.

The path of an item is made of ids (`pages/<id>`, `pages/<id>/<attachment id>/<name>`), so that new
titles and other parents are no new documents; its version is Confluence's own, with a mark of the
comments below the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from seoga.models import Item, Source
from seoga_indexer.source import Means
from seoga_indexer.sources._login import Login
from seoga_indexer.sources._remote import RemoteConnector
from seoga_indexer.sources._rest import Rest
from seoga_indexer.sources.confluence.comments import Comments
from seoga_indexer.sources.confluence.listing import Listing
from seoga_indexer.sources.confluence.pages import Pages
from seoga_indexer.sources.confluence.server import Server

TYPE = "confluence"


def connect(source: Source, means: Means) -> RemoteConnector:
    """The connector of a Confluence source."""
    return RemoteConnector(source, means, _open)


@dataclass(frozen=True, slots=True)
class _Wiki:
    """What asks the server for one source."""

    rest: Rest
    listing: Listing
    pages: Pages

    def items(self, label: str) -> Iterator[Item]:
        return self.listing.items(label)

    def document(self, path: str) -> bytes | None:
        return self.pages.page(path) if path.count("/") == 1 else None


def _open(source: Source, login: Login) -> _Wiki:
    server = Server(str(source.options.get("baseUrl", "")))
    rest = Rest(server.base, login)
    comments = Comments(rest)
    pages = Pages(rest, server, comments)
    return _Wiki(rest, Listing(rest, server, source.options, pages, comments), pages)
