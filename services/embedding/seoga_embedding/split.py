"""From a passage of Markdown to short windows of plain text, one a vector. Linear, pure."""

from __future__ import annotations

import html
import re
from typing import Final

# Changes with every change of what a window holds: it is part of the identity of stored vectors.
SPLIT_VERSION: Final = 2

# Every repetition is bounded or cannot match its own follower: no input makes these backtrack far.
_DROPPED = re.compile(
    r"""
    ^[ \t]{0,16}(?:```|~~~)[^\n]*$        # code fences: the marks, not the code
    | ^[ \t]{0,16}\|?[ \t]{0,16}:?-{3,}[-:| \t]*$  # the rule under a table's header
    | ^[ \t]{0,16}[*_]{3,}[ \t]*$
    | <!--(?:[^-<]|-(?!->)|<(?!!--)){0,2000}-->
    | </?[A-Za-z][^<>\n]{0,300}>          # tags
    """,
    re.MULTILINE | re.VERBOSE,
)
_LINK = re.compile(r"!?\[([^\[\]\n]{0,400})\](?:\([^()\n]{0,600}\)|\[[^\[\]\n]{0,100}\])")
_LINE_START = re.compile(
    r"^[ \t]*(?:>[ \t]?)*(?:#{1,6}[ \t]+|[-*+][ \t]+(?:\[[ xX]\][ \t]+)?)?", re.M
)
_ANCHOR = re.compile(r"\{[#/][^{}\n]{0,200}\}")
_MARKS = re.compile(r"\*{1,3}|`+|~~|(?<!\w)_{1,2}(?=\w)|(?<=\w)_{1,2}(?!\w)")
_SPACE = re.compile(r"[^\S\n]+")
_LINES = re.compile(r"\s*\n\s*")

# Where a window may end, best first: lines and sentences, clauses, spaces.
_ENDS = (
    re.compile(r"\n|(?<=[.!?。！？…])[\"'”’)\]]*\s+|(?<=[。！？])"),
    re.compile(r"(?<=[,;:，、；：)\]])\s+|\s+(?=[(\[–—-])"),
    re.compile(r"\s+"),
)


def clean(text: str) -> str:
    """`text` without what no model reads: NUL, lone surrogates, control and zero-width ones."""
    text = text.encode("utf-8", "replace").decode("utf-8")
    return text.translate(_UNREAD)


_UNREAD = {code: " " for code in (*range(9), 11, 12, *range(14, 32), 127)} | {
    code: None for code in (0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF, 0xAD)
}


def plain(markdown: str) -> str:
    """The words of a Markdown passage, one line a paragraph, item or row; markup is gone."""
    text = _DROPPED.sub(" ", clean(markdown))
    text = _LINK.sub(r"\1", text)
    text = _LINE_START.sub("", text)
    text = _ANCHOR.sub(" ", text)
    text = _MARKS.sub("", text).replace("|", " ")
    text = _SPACE.sub(" ", html.unescape(text))
    return _LINES.sub("\n", text).strip()


def windows(text: str, limit: int) -> list[str]:
    """`text` in pieces of at most `limit` characters (0: one piece), cut where the sense breaks.

    A cut is the last sentence end in the second half of the window, else the last clause end,
    else the last space, else exactly at the limit.
    """
    if limit <= 0:
        return [text] if text else []
    out = []
    start = 0
    while start < len(text):
        end = _cut(text, start, limit)
        piece = " ".join(text[start:end].split())
        if piece:
            out.append(piece)
        start = end
    return out


def shorten(heading: str, limit: int) -> str:
    """At most `limit` characters of a heading path: its last parts, which say most, or a start."""
    while len(heading) > limit and " > " in heading:
        heading = heading.partition(" > ")[2]
    return heading[:limit].rstrip()


def _cut(text: str, start: int, limit: int) -> int:
    stop = start + limit
    if stop >= len(text):
        return len(text)
    least = start + limit // 2
    for pattern in _ENDS:
        last = 0
        for match in pattern.finditer(text, least, stop + 1):
            last = match.end()
        if last > least:
            return last
    return stop
