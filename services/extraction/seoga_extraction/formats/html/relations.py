"""What a page says of its own life: meta elements, link relations, and the links of the sentences
that name what replaced it (a paragraph's text alone would lose where they lead)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from seoga_extraction.format import one_line

if TYPE_CHECKING:
    from lxml.html import HtmlElement

# Statements stand at the top of a page; further down a link like this may be about anything.
_ANCHORS = 40
_REMARKS = 24
_LONGEST = 300
# Names without case, spaces, hyphens and underscores.
_META = {
    **dict.fromkeys(("status", "docstatus", "documentstatus", "상태"), "status"),
    **dict.fromkeys(("supersededby", "replacedby", "obsoletedby", "dcterms.isreplacedby"), "by"),
    **dict.fromkeys(("대체문서", "후속문서"), "by"),
    **dict.fromkeys(("supersedes", "replaces", "obsoletes", "dcterms.replaces"), "of"),
    **dict.fromkeys(("date", "dc.date", "dcterms.date", "dcterms.issued"), "date"),
    **dict.fromkeys(("supersededon", "retiredon"), "until"),
}
_JOINTS = re.compile(r"[\s_-]+")
_REL = {"successor-version": "by", "predecessor-version": "of"}
_ONE = {"status": "status", "date": "date", "until": "superseded-on"}
_SEVERAL = {"by": "superseded-by", "of": "supersedes"}
_BY = re.compile(r"(?:superseded|replaced|obsoleted) by\W{0,40}$", re.IGNORECASE)
_OF = re.compile(r"(?:supersedes|replaces|obsoletes)\W{0,40}$", re.IGNORECASE)
_OPENING = re.compile(
    r"\W{0,20}(?:status\W{1,10})?(?:this \w{1,12} (?:is|was|has been) )?"
    r"(?:superseded|supersedes|replaced|replaces|obsoleted|obsoletes)\b",
    re.IGNORECASE,
)


def relations(root: HtmlElement) -> dict[str, Any]:
    """Metadata under the names that front matter uses; lists for what may be several."""
    out: dict[str, Any] = {}
    for kind, text in (*_of_head(root), *_of_links(root)):
        if kind in _ONE:
            out.setdefault(_ONE[kind], text)
        else:
            out.setdefault(_SEVERAL[kind], []).append(text)
    return out


def remarks(root: HtmlElement) -> list[str]:
    """The lines of the comments above the page, in its head, and before the text of its body."""
    lines = (line.strip() for one in _comments(root) for line in one.split("\n", _REMARKS))
    return [line[:_LONGEST] for line in islice(filter(None, lines), _REMARKS)]


def _comments(root: HtmlElement) -> Iterator[str]:
    from lxml.etree import Comment

    above = (one for one in root.itersiblings(preceding=True) if one.tag is Comment)
    yield from reversed([one.text or "" for one in islice(above, _REMARKS)])
    for head in root.iterchildren("head"):
        yield from (one.text or "" for one in head.iterchildren(Comment))
    body = root.find("body")
    if body is None or (body.text or "").strip():
        return
    for one in body:
        if one.tag is Comment:
            yield one.text or ""
        if one.tag is not Comment or (one.tail or "").strip():
            return


def _of_head(root: HtmlElement) -> Iterator[tuple[str, str]]:
    for one in root.iterfind("head/meta"):
        kind = _META.get(_JOINTS.sub("", one.get("name", "").lower()))
        text = one_line(one.get("content", ""))
        if kind and text:
            yield kind, text
    for one in root.iterfind("head/link"):
        kind, text = _REL.get(one.get("rel", "").lower()), one_line(one.get("href", ""))
        if kind and text:
            yield kind, text


def _of_links(root: HtmlElement) -> Iterator[tuple[str, str]]:
    for anchor in islice(root.iter("a"), _ANCHORS):
        target, parent = one_line(anchor.get("href", "")), anchor.getparent()
        if not target or parent is None:
            continue
        before = one_line(_cell_before(parent) or _before(parent, anchor))
        if not _OPENING.match(before):
            continue
        if _BY.search(before):
            yield "by", target
        elif _OF.search(before):
            yield "of", target


def _cell_before(parent: HtmlElement) -> str:
    """What the cell, or the term, in front of a link's says; "" outside of tables and lists."""
    name = parent.getprevious() if parent.tag in ("td", "dd") else None
    return name.text_content()[:100] if name is not None and name.tag in ("th", "td", "dt") else ""


def _before(parent: HtmlElement, anchor: HtmlElement) -> str:
    """The text of a paragraph up to a link in it, and no more of it than a sentence."""
    text = parent.text or ""
    for one in parent:
        if one is anchor or len(text) > 400:
            break
        text += f"{one.text or ''}{one.tail or ''}"
    return text[:400]
