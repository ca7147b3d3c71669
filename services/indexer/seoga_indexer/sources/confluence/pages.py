"""A page as a document: its storage format below its title, with what stands around it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from html import escape
from typing import Any

from seoga_indexer.source import SourceUnavailable
from seoga_indexer.sources._reading import dig, part
from seoga_indexer.sources._rest import Missing, Rest
from seoga_indexer.sources.confluence.comments import Comments
from seoga_indexer.sources.confluence.paged import dicts
from seoga_indexer.sources.confluence.server import Server

# The kinds that are documents, and where they stand in paths and in the second API.
FOLDERS = {"page": "pages", "blogpost": "blogposts"}
_EXPAND = "body.storage,version,ancestors,space,history,metadata.labels"
_MOST_KNOWN, _MOST_ABOVE = 100_000, 40
_PARENTS = {"page": "pages", "folder": "folders"}

_Json = dict[str, Any]


class Pages:
    """Reads single pages. Thread-safe."""

    def __init__(self, rest: Rest, server: Server, comments: Comments) -> None:
        self._rest, self._comments = rest, comments
        self._known: OrderedDict[str, tuple[str, str, str]] = OrderedDict()
        self._lock = threading.Lock()
        self._second = server.cloud

    def page(self, path: str) -> bytes:
        """HTML in UTF-8 of `pages/<id>` or `blogposts/<id>`. Raises what Rest raises."""
        if self._second:
            try:
                return self._cloud_page(path)
            except Missing:
                # Gone, or an older server behind an address like that of Cloud: the other API says.
                return self._old_page(path)
        return self._old_page(path)

    def _cloud_page(self, path: str) -> bytes:
        params = {"body-format": "storage", "include-labels": "true"}
        content = self._rest.json(f"/api/v2/{path}", params)
        _refuse_another(content, path.partition("/")[2])
        self.learn(content)
        labels = dig(content, "labels", "results")
        told = self._comments.html(path, second=True)
        return _html(content, list(self._above(content)), labels, ("", told))

    def _old_page(self, path: str) -> bytes:
        number = path.partition("/")[2]
        content = self._rest.json(f"/rest/api/content/{number}", {"expand": _EXPAND})
        _refuse_another(content, number)
        above = [str(one.get("title", "")) for one in dicts(content.get("ancestors"))]
        space = dig(content, "space", "name") or dig(content, "space", "key")
        author = dig(content, "version", "by", "displayName")
        author = author or dig(content, "history", "createdBy", "displayName")
        labels = dig(content, "metadata", "labels", "results")
        around = (str(author or ""), self._comments.html(path, second=False))
        return _html(content, [str(space), *above] if space else above, labels, around)

    def learn(self, content: _Json) -> None:
        """Keeps what a listing says of a page, for the trails of those below it."""
        known = (
            str(content.get("title", "")),
            str(content.get("parentType") or "page"),
            str(content.get("parentId") or ""),
        )
        with self._lock:
            self._known[str(content.get("id"))] = known
            while len(self._known) > _MOST_KNOWN:
                self._known.popitem(last=False)

    def _above(self, content: _Json) -> Iterator[str]:
        """The titles above a page of Cloud, the outermost first."""
        titles: list[str] = []
        kind, number = str(content.get("parentType") or "page"), str(content.get("parentId") or "")
        while number and len(titles) < _MOST_ABOVE and (found := self._parent(kind, number)):
            title, kind, number = found
            titles.append(title)
        return reversed(titles)

    def _parent(self, kind: str, number: str) -> tuple[str, str, str] | None:
        with self._lock:
            if number in self._known:
                return self._known[number]
        if kind not in _PARENTS or not number.isalnum():
            return None
        try:
            parent = self._rest.json(f"/api/v2/{_PARENTS[kind]}/{number}")
            _refuse_another(parent, number)
            self.learn(parent)
        except SourceUnavailable:
            # A parent that the key may not see must not cost the page.
            self.learn({"id": number})
        with self._lock:
            return self._known.get(number)


def _refuse_another(content: _Json, number: str) -> None:
    if part(given := content.get("id") or "nothing") != number:
        raise SourceUnavailable(f"{number} was asked for, and the server gave {given!s:.80}")


def _html(content: _Json, above: list[str], labels: Any, around: tuple[str, str]) -> bytes:
    """`around`: who wrote it, and the comments below it as HTML."""
    author, comments = around
    if content.get("status") in ("trashed", "deleted", "historical"):
        raise Missing(f"page {content.get('id')} is {content.get('status')}")
    title = str(content.get("title") or "")
    body = dig(content, "body", "storage", "value")
    if not isinstance(body, str):
        raise SourceUnavailable(f"page {content.get('id')} comes without its content")
    trail = [one for one in above if one]
    names = [str(one.get("name", "")) for one in dicts(labels)]
    meta = {"author": author, "keywords": ", ".join(names), "description": " / ".join(trail)}
    head = "".join(
        f'<meta name="{name}" content="{escape(text)}">' for name, text in meta.items() if text
    )
    crumbs = "".join(f"<li>{escape(one)}</li>" for one in trail)
    return (
        f'<!doctype html><html><head><meta charset="utf-8"><title>{escape(title)}</title>{head}'
        f'</head><body><div id="breadcrumb-section"><ol>{crumbs}</ol></div>'
        f"<h1>{escape(title)}</h1>"
        f'<div id="main-content" class="wiki-content">{body}</div>{comments}</body></html>'
    ).encode("utf-8", "replace")
