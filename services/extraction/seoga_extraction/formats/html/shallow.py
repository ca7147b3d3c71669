"""Pages nested deeper than parsers go: the tags below a limit are taken out, their text stays."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any

from seoga_extraction.formats.html.tree import DROPPED, INLINE, MAX_DEPTH

if TYPE_CHECKING:
    from lxml.html import HtmlElement

# Text straight inside these is no item, cell or body: they go with what they hold.
_HOLDERS = frozenset(("ul", "ol", "dl", "table", "ac:structured-macro", "ac:macro"))
_ROOM = 5
_VOID = frozenset(
    [
        "area",
        "base",
        "br",
        "col",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "param",
        "source",
        "track",
        "wbr",
        "embed",
    ]
)
# A second one of these closes the first.
_SIBLINGS = frozenset(("p", "li", "dt", "dd", "tr", "td", "th", "option"))
_RAW = frozenset(("script", "style", "textarea", "title", "noscript", "iframe"))
# No attribute may hold an angle bracket here: the price of time that grows with the page alone.
_TAG = re.compile(r"<!--|<(/?)([a-zA-Z][\w:.-]*)[^<>]*>")


@cache
def _deeper() -> Any:
    from lxml import etree

    return etree.XPath("boolean(" + "/*" * MAX_DEPTH + ")")


def is_deep(root: HtmlElement) -> bool:
    """Whether elements stand deeper than they can be walked."""
    return bool(_deeper()(root.getroottree()))


def shallow(text: str) -> str:
    """The page without the tags below the limit; what they held stands on lines of its own."""
    return _Flattening(text).result()


class _Flattening:
    """One pass over a page with the stack of its open elements."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._out: list[str] = []
        self._open: list[str] = []
        self._counts: Counter[str] = Counter()
        # How many elements were open when the first one was taken out.
        self._cut: int | None = None
        self._endless: set[str] = set()

    def result(self) -> str:
        """The text that is left."""
        at = 0
        while found := _TAG.search(self._text, at):
            self._out.append(self._text[at : found.start()])
            at = self._taken(found)
        self._out.append(self._text[at:])
        return "".join(self._out)

    def _taken(self, found: re.Match[str]) -> int:
        """Passes a tag or a comment on, or not; where to go on."""
        tag, name = found.group(), (found.group(2) or "").lower()
        if not name:
            return self._passed("-->", found.end())
        if found.group(1):
            self._close(name, tag)
        elif name in _VOID:
            self._out.append(tag)
        elif name in _RAW:
            end = self._passed(rf"</{name}\b[^<>]*>", found.end())
            if self._cut is None or name not in DROPPED:
                self._out.append(self._text[found.start() : end])
            return end
        else:
            self._begin(name, tag)
        return found.end()

    def _passed(self, mark: str, start: int) -> int:
        """The end of `mark`, or `start` where it never comes, which is asked once only."""
        if mark not in self._endless:
            if end := re.compile(mark, re.IGNORECASE).search(self._text, start):
                return end.end()
            self._endless.add(mark)
        return start

    def _begin(self, name: str, tag: str) -> None:
        if name in _SIBLINGS and self._open and self._open[-1] == name:
            self._pop()
        depth = len(self._open)
        if self._cut is None and depth >= MAX_DEPTH - _ROOM * (1 + (name in _HOLDERS)):
            self._cut = depth
        self._put(name, tag)
        self._open.append(name)
        self._counts[name] += 1

    def _close(self, name: str, tag: str) -> None:
        if self._counts[name]:
            while self._open[-1] != name:
                self._pop()
            self._put(name, tag)
            self._pop()
        elif self._cut is None:
            self._out.append(tag)

    def _put(self, name: str, tag: str) -> None:
        if self._cut is None or len(self._open) < self._cut:
            self._out.append(tag)
        elif name not in INLINE:
            self._out.append("<br>")

    def _pop(self) -> None:
        self._counts[self._open.pop()] -= 1
        if self._cut is not None and len(self._open) < self._cut:
            self._cut = None
