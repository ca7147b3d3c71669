"""Tags with thousands of attributes: the parser compares each with each, so they are cut first."""

from __future__ import annotations

import re

# Real tags have a handful, and generated ones some dozens.
MAX_ATTRIBUTES = 256
# A quote that is never closed is no quote.
_ONE = (
    r"[\s/]*+[^\s/>=][^\s/>=]*+(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s>]*+))?+"
    r"|[\s/]*+=[^\s/>=]*+"
)
_BEGIN = r"<[a-zA-Z][^\s/>]*+"
_CROWDED = re.compile(rf"{_BEGIN}(?:{_ONE}){{{MAX_ATTRIBUTES + 1}}}")
_TAG = re.compile(rf"<!--|({_BEGIN}(?:{_ONE}){{0,{MAX_ATTRIBUTES}}}+)((?:{_ONE})*+)")
_RAW = re.compile(r"<(script|style|textarea|title|noscript|iframe)\b", re.IGNORECASE)


def few_attributes(text: str) -> str:
    """The page with at most MAX_ATTRIBUTES attributes on each tag; its text is as it was."""
    if _CROWDED.search(text) is None:
        return text
    out: list[str] = []
    endless: set[str] = set()
    at = 0
    while found := _TAG.search(text, at):
        out.append(text[at : found.start()])
        kept = found.group(1) or found.group()
        out.append(kept)
        at = found.end()
        end = _behind(text, kept, at, endless)
        out.append(text[at:end])
        at = end
    out.append(text[at:])
    return "".join(out)


def _behind(text: str, tag: str, start: int, endless: set[str]) -> int:
    """Where what begins with this tag and holds no tags ends; `start` where it never does, which
    is asked once only."""
    raw = _RAW.match(tag)
    mark = "-->" if tag == "<!--" else rf"</{raw.group(1).lower()}\b" if raw else ""
    if not mark or mark in endless:
        return start
    if found := re.compile(mark, re.IGNORECASE).search(text, start):
        return found.start()
    endless.add(mark)
    return start
