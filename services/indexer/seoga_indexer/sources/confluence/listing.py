"""What a space or a query holds: ids, versions and addresses, no content."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from seoga import logs
from seoga.models import Item
from seoga_indexer.source import SourceUnavailable
from seoga_indexer.sources._reading import dig, moment_ns, part
from seoga_indexer.sources._rest import Denied, Missing, Rest
from seoga_indexer.sources.confluence.comments import Comments, listed
from seoga_indexer.sources.confluence.paged import results
from seoga_indexer.sources.confluence.pages import FOLDERS, Pages
from seoga_indexer.sources.confluence.server import Server

# More are not given where anything is expanded; the second API of Cloud gives 250.
_LIMIT, _LIMIT_V2 = "100", "250"
_EXPAND = "version,children.attachment.version"
# A query is not to be joined with another: the first comments stand beside each page.
_EXPAND_CQL = f"{_EXPAND},container,children.comment.version"

_Json = dict[str, Any]

log = logs.get("indexer")


class Listing:
    """Lists one source. Every method raises SourceUnavailable when it cannot be complete."""

    def __init__(
        self,
        rest: Rest,
        server: Server,
        options: Mapping[str, Any],
        pages: Pages,
        comments: Comments,
    ) -> None:
        self._rest, self._server, self._pages, self._comments = rest, server, pages, comments
        self._space = str(options.get("space", ""))
        self._cql = str(options.get("cql", ""))

    def items(self, label: str) -> Iterator[Item]:
        """Each page, blog post and attachment, once each, in the order of the server."""
        seen: set[str] = set()
        if self._space:
            self._learn_comments()
        for path, content in self._contents():
            if path not in seen:
                seen.add(path)
                yield self._item(label, path, content)

    def _item(self, label: str, path: str, content: _Json) -> Item:
        version = content.get("version")
        number = dig(version, "number")
        if number is None:
            raise SourceUnavailable(f"{self._rest.host} lists {path} without a version")
        links = dig(content, "_links") or {}
        attached = path.count("/") > 1
        # A new comment is no new version of its page; a reader of the index would miss it.
        mark = "" if attached else self._comments.mark(_id(content))
        link = links.get("download") or content.get("downloadLink") if attached else None
        return Item(
            label,
            path,
            int(dig(content, "extensions", "fileSize") or content.get("fileSize") or 0),
            moment_ns(dig(version, "when") or dig(version, "createdAt")),
            f"{number}+{mark}" if mark else str(number),
            self._server.shown(str(link or links.get("webui") or "")),
        )

    def _learn_comments(self) -> None:
        try:
            self._comments.learn(listed(self._rest, self._space))
        except (Missing, Denied) as error:
            log.warning("new comments are not seen before their page changes", why=error.message)

    def _contents(self) -> Iterator[tuple[str, _Json]]:
        if self._cql:
            yield from self._searched(self._cql)
        elif self._server.cloud:
            try:
                space = self._space_id()
            except Missing:
                # An older server behind an address like that of Cloud.
                yield from self._of_space()
            else:
                yield from self._of_cloud_space(space)
        else:
            yield from self._of_space()

    def _searched(self, cql: str) -> Iterator[tuple[str, _Json]]:
        params = {"cql": cql, "limit": _LIMIT, "expand": _EXPAND_CQL}
        for content in self._all("/rest/api/content/search", params):
            kind = content.get("type")
            if kind in FOLDERS:
                self._comments.learn_page(_id(content), dig(content, "children", "comment") or {})
                yield from self._with_attachments(FOLDERS[kind], content)
            elif kind == "attachment" and (found := self._attachment_found(content)):
                yield found

    def _attachment_found(self, content: _Json) -> tuple[str, _Json] | None:
        container = content.get("container")
        holder = FOLDERS.get(str(dig(container, "type") or "page"))
        if holder is None or not dig(container, "id"):
            return None
        return _attached(f"{holder}/{_id(container)}", content), content

    def _of_space(self) -> Iterator[tuple[str, _Json]]:
        """Data Center: from its database, not from its search index."""
        for kind, folder in FOLDERS.items():
            params = {
                "spaceKey": self._space, "type": kind, "status": "current",
                "start": "0", "limit": _LIMIT, "expand": _EXPAND,
            }  # fmt: skip
            for content in self._all("/rest/api/content", params):
                yield from self._with_attachments(folder, content)

    def _with_attachments(self, folder: str, content: _Json) -> Iterator[tuple[str, _Json]]:
        path = f"{folder}/{_id(content)}"
        yield path, content
        first = dig(content, "children", "attachment")
        if isinstance(first, dict) and isinstance(first.get("results"), list):
            for attachment in first["results"]:
                yield _attached(path, attachment), attachment
            if not dig(first, "_links", "next"):
                return
        params = {"start": "0", "limit": _LIMIT, "expand": "version"}
        for attachment in self._all(f"/rest/api/content/{_id(content)}/child/attachment", params):
            yield _attached(path, attachment), attachment

    def _space_id(self) -> str:
        answer = self._rest.json("/api/v2/spaces", {"keys": self._space, "limit": "1"})
        results = answer.get("results")
        if not isinstance(results, list) or not results:
            raise SourceUnavailable(
                f"{self._rest.host} has no space {self._space!r}",
                "Is `space` its key, and may the key see it?",
            )
        return _id(results[0])

    def _of_cloud_space(self, space: str) -> Iterator[tuple[str, _Json]]:
        listed: list[str] = []
        for folder in FOLDERS.values():
            params = {"limit": _LIMIT_V2, "status": "current"}
            for content in self._all(f"/api/v2/spaces/{space}/{folder}", params):
                self._pages.learn(content)
                path = f"{folder}/{_id(content)}"
                listed.append(path)
                yield path, content
        yield from self._cloud_attachments(listed)

    def _cloud_attachments(self, listed: list[str]) -> Iterator[tuple[str, _Json]]:
        """One search for all of them; a server without it is asked page by page."""
        key = self._space.replace("\\", "\\\\").replace('"', '\\"')
        params = {
            "cql": f'space = "{key}" and type = attachment',
            "limit": _LIMIT,
            "expand": "version,container",
        }
        try:
            for content in self._all("/rest/api/content/search", params):
                if found := self._attachment_found(content):
                    yield found
        except Missing:
            for path in listed:
                for attachment in self._all(f"/api/v2/{path}/attachments", {"limit": _LIMIT_V2}):
                    yield _attached(path, attachment), attachment

    def _all(self, path: str, params: Mapping[str, str]) -> Iterator[_Json]:
        return results(self._rest, path, params)


def _id(content: Any) -> str:
    found = part(dig(content, "id") or "")
    if found == "_":
        raise SourceUnavailable("Confluence lists something without an id")
    return found


def _attached(path: str, attachment: _Json) -> str:
    return f"{path}/{_id(attachment)}/{part(attachment.get('title', ''))}"
