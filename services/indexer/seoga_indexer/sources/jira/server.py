"""Jira's two forms: Cloud (API 3, searches by token) and Data Center (API 2, by offset)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlsplit

from seoga.models import Item
from seoga_indexer.source import SourceUnavailable
from seoga_indexer.sources._paging import Following, Step, pieces
from seoga_indexer.sources._reading import dig, moment_ns, part
from seoga_indexer.sources._rest import Missing, Rest
from seoga_indexer.sources.jira.issue import document

_CLOUD = (".atlassian.net", ".jira.com", "api.atlassian.com")
_LIMIT = 100
# A listing by offsets that changed under the reading is begun again so often.
_TIMES = 3
# In a URL; longer queries are sent as a body.
_LONG = 1500
_ORDER = re.compile(r"\s*\border\s+by\b[^\"']*$", re.IGNORECASE)
# By what never changes: an edit in between must not move an issue over the border of a page.
_BY = " ORDER BY created ASC, key ASC"
_FIELDS = ("updated", "attachment")

_Json = dict[str, Any]


class Server:
    """One Jira, asked through `rest`. Methods raise what Rest raises. Thread-safe once listed."""

    def __init__(self, rest: Rest, user: str, jql: str) -> None:
        self.rest, self._user, self._jql = rest, user, jql
        self._is_cloud: bool | None = None
        # By the keys of the listing: a moved issue has another key, and its old number.
        self._numbers: dict[str, str] = {}

    @property
    def cloud(self) -> bool:
        """Which form it is, as it says itself."""
        if self._is_cloud is None:
            self._is_cloud = self._found_out()
        return self._is_cloud

    def _found_out(self) -> bool:
        if (urlsplit(self.rest.base).hostname or "").endswith(_CLOUD):
            return True
        try:
            kind = self.rest.json("/rest/api/2/serverInfo").get("deploymentType")
        except Missing:
            # Accounts of Cloud are mail addresses.
            return "@" in self._user
        return kind == "Cloud"

    def document(self, path: str) -> bytes | None:
        """See Site: an issue; attachments are files."""
        return None if "/" in path else self.issue(path)

    def items(self, label: str) -> Iterator[Item]:
        """See Site: the issues of the query and their attachments."""
        query = _ORDER.sub("", self._jql) + _BY
        seen: set[str] = set()
        for item in self._by_token(query, label) if self.cloud else self._whole(query, label):
            if item.path not in seen:
                seen.add(item.path)
                yield item

    def _items(self, issue: _Json, label: str) -> Iterator[Item]:
        key, updated = part(issue.get("key") or ""), dig(issue, "fields", "updated")
        if key == "_" or not updated:
            raise SourceUnavailable(f"{self.rest.host} lists an issue without a key or a date")
        self._numbers[key] = str(issue.get("id") or "")
        page = f"{self.rest.base}/browse/{quote(key)}"
        yield Item(label, key, 0, moment_ns(updated), str(updated), page)
        attached = dig(issue, "fields", "attachment")
        for one in attached if isinstance(attached, list) else []:
            number, link = part(dig(one, "id") or ""), str(dig(one, "content") or "")
            if number == "_" or not link:
                continue
            made = str(dig(one, "created") or "")
            size = dig(one, "size")
            yield Item(
                label,
                f"{key}/{number}/{part(dig(one, 'filename') or '')}",
                size if isinstance(size, int) else 0,
                moment_ns(made),
                # An attachment never changes.
                made or number,
                self._below(link),
            )

    def _below(self, link: str) -> str:
        """A link of the server as an address below ours: it may know itself by another name."""
        path, ours = urlsplit(link).path, urlsplit(self.rest.base).path
        return self.rest.base + path.removeprefix(ours)

    def _by_token(self, query: str, label: str) -> Iterator[Item]:
        def following(answer: _Json) -> _Json | None:
            token = str(answer.get("nextPageToken") or "")
            return {"nextPageToken": token} if token and answer.get("isLast") is not True else None

        for answer in self._pieces("/rest/api/3/search/jql", query, following):
            for issue in self._issues(answer):
                yield from self._items(issue, label)

    def _whole(self, query: str, label: str) -> list[Item]:
        """All items by offsets, of one state of the query: what is deleted on the way moves the
        others over the border of a page."""
        for _ in range(_TIMES):
            found, total = self._by_offset(query, label)
            if len({item.path for item in found if "/" not in item.path}) == total:
                return found
        raise SourceUnavailable(
            f"{self.rest.host} changes while it is listed: its pages do not add up to its total",
            "The next run asks again.",
        )

    def _by_offset(self, query: str, label: str) -> tuple[list[Item], int]:
        found: list[Item] = []
        start = total = 0

        def following(answer: _Json) -> _Json | None:
            issues = self._issues(answer)
            return {"startAt": start} if issues and start < total else None

        for answer in self._pieces("/rest/api/2/search", query, following, {"startAt": 0}):
            issues, said = self._issues(answer), answer.get("total")
            if not isinstance(said, int):
                raise SourceUnavailable(f"{self.rest.host} answers a search without a total")
            found += [item for issue in issues for item in self._items(issue, label)]
            start, total = start + len(issues), said
        return found, total

    def _pieces(
        self, path: str, query: str, following: Following, first: Step | None = None
    ) -> Iterator[_Json]:
        def ask(step: Step) -> _Json:
            return self._search(path, query, {**(first or {}), **step})

        return pieces(ask, following, "issues", f"{self.rest.host}: its search")

    def _search(self, path: str, query: str, step: _Json) -> _Json:
        asked = {"jql": query, "maxResults": _LIMIT, **step}
        if len(query) > _LONG:
            return self.rest.json(path, body={**asked, "fields": list(_FIELDS)})
        params = {name: str(value) for name, value in asked.items()}
        return self.rest.json(path, {**params, "fields": ",".join(_FIELDS)})

    def _issues(self, answer: _Json) -> list[_Json]:
        issues = answer.get("issues")
        if not isinstance(issues, list) or not all(isinstance(one, dict) for one in issues):
            raise SourceUnavailable(f"{self.rest.host} answers a search without issues")
        return issues

    def issue(self, key: str) -> bytes:
        """An issue as an HTML document."""
        path = f"/rest/api/{3 if self.cloud else 2}/issue/{quote(key, safe='')}"
        issue = self.rest.json(path, {"fields": "*all", "expand": "names"})
        if not self._is(key, issue):
            given = str(issue.get("key") or "nothing")[:80]
            raise SourceUnavailable(f"{key} was asked for, and the server gave {given}")
        if not isinstance(issue.get("fields"), dict):
            raise SourceUnavailable(f"issue {key} comes without its fields")
        return document(issue, self._comments(path, dig(issue, "fields", "comment")))

    def _is(self, key: str, issue: _Json) -> bool:
        known, number = self._numbers.get(key), str(issue.get("id") or "")
        if known and number:
            return known == number
        return part(issue.get("key") or "") == key

    def _comments(self, path: str, first: Any) -> Iterator[_Json]:
        """All of them: an issue brings along only the first page of many."""
        count = 0

        def ask(step: Step) -> _Json:
            return self.rest.json(f"{path}/comment", step) if step else {**(first or {})}

        def following(answer: _Json) -> _Json | None:
            total, given = answer.get("total"), answer.get("comments")
            if not given or not isinstance(total, int) or count >= total:
                return None
            return {"startAt": str(count), "maxResults": str(_LIMIT), "orderBy": "created"}

        what = f"{self.rest.host}: its comments of {path}"
        for answer in pieces(ask, following, "comments", what):
            comments = answer.get("comments")
            comments = comments if isinstance(comments, list) else []
            count += len(comments)
            yield from (one for one in comments if isinstance(one, dict))
