"""Comments at the foot of a page and on words in it, replies below what they answer.

A new comment is no new version of its page: a listing of the comments marks the pages, and those
without any are not asked for them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from html import escape

from xxhash import xxh3_64_hexdigest

from seoga import logs
from seoga_indexer.source import SourceUnavailable
from seoga_indexer.sources._paging import Json
from seoga_indexer.sources._reading import dig, part
from seoga_indexer.sources._rest import Denied, Missing, Rest
from seoga_indexer.sources.confluence.paged import dicts, results

_LIMIT, _LIMIT_V2 = "100", "250"
_EXPAND = "body.storage,version,history,extensions.inlineProperties,extensions.resolution"
_KINDS = ("footer-comments", "inline-comments")
# Nobody reads a page for more than so many; replies of replies of replies stand at the third.
MOST, _DEEPEST = 2000, 4

log = logs.get("indexer")


class Comments:
    """Reads the comments of single pages, and knows which pages have some. Used by one listing at
    a time; reading is thread-safe."""

    def __init__(self, rest: Rest) -> None:
        self._rest = rest
        # None: nobody could list them, so every page is asked.
        self._marks: dict[str, str] | None = None

    def learn(self, found: Iterable[Json]) -> None:
        """Takes the comments of a listing, each with its `container` and its version."""
        seen = defaultdict[str, list[str]](list)
        for comment in found:
            seen[str(dig(comment, "container", "id"))].append(_stamp(comment))
        self._marks = {page: _digest(stamps) for page, stamps in seen.items()}

    def learn_page(self, page: str, first: Json) -> None:
        """Takes what an expanded page says of its first comments."""
        self._marks = self._marks or {}
        self._marks.pop(page, None)
        if stamps := [_stamp(one) for one in dicts(first.get("results"))]:
            self._marks[page] = _digest(stamps)

    def mark(self, page: str) -> str:
        """What the version of a page says of its comments, "" where it has none."""
        return (self._marks or {}).get(page, "")

    def html(self, path: str, second: bool) -> str:
        """The comments of `pages/<id>` or `blogposts/<id>` as HTML, "" for none; `second`: by the
        second API of Cloud. Raises what Rest raises, but nothing for a key that may not see them.
        """
        number = path.partition("/")[2]
        if self._marks is not None and number not in self._marks:
            return ""
        found = self._of_cloud(path) if second else self._of_old(number)
        told: list[str] = []
        try:
            for comment, kind in found:
                told.append(_shown(comment, kind))
                if len(told) == MOST:
                    break
        except (Missing, Denied) as error:
            log.warning("comments cannot be read", page=path, error=error.message)
        inside = "".join(told)
        return f"<h2>Comments</h2>{inside}" if inside else ""

    def _of_old(self, number: str) -> Iterator[tuple[Json, str]]:
        params = {"depth": "all", "start": "0", "limit": _LIMIT, "expand": _EXPAND}
        for comment in results(self._rest, f"/rest/api/content/{number}/child/comment", params):
            yield comment, str(dig(comment, "extensions", "location") or "")

    def _of_cloud(self, path: str) -> Iterator[tuple[Json, str]]:
        for kind in _KINDS:
            yield from self._below(f"/api/v2/{path}/{kind}", kind, 1)

    def _below(self, path: str, kind: str, depth: int) -> Iterator[tuple[Json, str]]:
        for comment in results(self._rest, path, {"body-format": "storage", "limit": _LIMIT_V2}):
            yield comment, kind
            number = part(comment.get("id") or "")
            if depth < _DEEPEST and number != "_":
                # One that was deleted since takes its replies along.
                with suppress(Missing):
                    yield from self._below(f"/api/v2/{kind}/{number}/children", kind, depth + 1)


def listed(rest: Rest, space: str) -> Iterator[Json]:
    """All comments of a space, by its search. Raises what Rest raises."""
    key = space.replace("\\", "\\\\").replace('"', '\\"')
    params = {
        "cql": f'space = "{key}" and type = comment',
        "limit": _LIMIT,
        "expand": "version,container",
    }
    yield from results(rest, "/rest/api/content/search", params)


def _stamp(comment: Json) -> str:
    number = dig(comment, "version", "number")
    if not comment.get("id") or number is None:
        raise SourceUnavailable("Confluence lists a comment without id or version")
    return f"{comment['id']}.{number}"


def _digest(stamps: list[str]) -> str:
    return xxh3_64_hexdigest(" ".join(sorted(stamps)).encode())[:8]


def _shown(comment: Json, kind: str) -> str:
    """Who, when, on which words; then the comment, marked as one."""
    body = dig(comment, "body", "storage", "value")
    if not isinstance(body, str) or not body.strip():
        return ""
    who = dig(comment, "history", "createdBy", "displayName") or dig(
        comment, "version", "by", "displayName"
    )
    when = dig(comment, "history", "createdDate") or dig(comment, "version", "createdAt")
    when = when or dig(comment, "version", "when")
    head = ", ".join(filter(None, (str(who or ""), str(when or "")[:10]))) or "Comment"
    words = _words(comment)
    on = f" on “{words}”" if words and kind.startswith("inline") else ""
    done = " (resolved)" if _resolved(comment) else ""
    return (
        '<div itemscope itemtype="https://schema.org/Comment">'
        f"<p>{escape(head + on + done)}:</p>{body}</div>"
    )


def _words(comment: Json) -> str:
    found = dig(comment, "properties", "inlineOriginalSelection") or dig(
        comment, "extensions", "inlineProperties", "originalSelection"
    )
    return " ".join(str(found or "").split())[:300]


def _resolved(comment: Json) -> bool:
    status = comment.get("resolutionStatus") or dig(comment, "extensions", "resolution", "status")
    return str(status) == "resolved"
