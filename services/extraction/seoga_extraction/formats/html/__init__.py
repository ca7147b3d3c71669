"""HTML: headings, paragraphs, lists, tables and code in reading order; only content."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from seoga.errors import ExtractionFailed, Reason
from seoga.models import REMARKS, DocumentInfo, Section
from seoga_extraction.format import Format, Input, Parsed, one_line
from seoga_extraction.formats.html import confluence, storage
from seoga_extraction.formats.html.attributes import few_attributes
from seoga_extraction.formats.html.frames import frames
from seoga_extraction.formats.html.relations import relations, remarks
from seoga_extraction.formats.html.shallow import is_deep, shallow
from seoga_extraction.formats.html.tree import MAX_DEPTH, inline
from seoga_extraction.formats.html.walker import Walker

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_START = re.compile(
    rb"^\s*(?:<\?xml[^>]*>\s*)?(?:(?><!--.*?-->)\s*)*<(?:!doctype\s+html|html[\s>])", re.I | re.S
)
_META = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w.:-]+)", re.I)
# Templates begin like pages but are programs.
_PROGRAMS = (".php", ".vue", ".svelte", ".jsp", ".asp", ".aspx", ".erb", ".ejs", ".hbs", ".twig")
_NAMED = {"description": "description", "author": "author", "keywords": "keywords"}


def parse(source: Input) -> Parsed:
    """The charset comes from the BOM, the bytes or the meta element, in that order."""
    from lxml import html

    declared = _META.search(source.head[:4096])
    text, charset = source.decoded(declared.group(1).decode("ascii") if declared else "")
    parser = html.HTMLParser(encoding="utf-8", huge_tree=True, no_network=True)
    stored = storage.is_storage(text)
    if stored:
        text = storage.readable(text)
    text = few_attributes(text)
    # Given as bytes: a str with an XML declaration inside is refused.
    root = _tree(text, parser)
    meta = {"charset": charset, **_meta(root), **relations(root)}
    if said := remarks(root):
        meta[REMARKS] = said
    frames(root, lambda inner: _tree(few_attributes(inner), parser))
    if is_deep(root):
        root = _tree(shallow(text), parser)
        frames(root, lambda inner: _tree(shallow(few_attributes(inner)), parser))
        meta["note"] = (
            f"Nested deeper than {MAX_DEPTH} elements; below that, text without structure."
        )
    exported = confluence.is_export(root)
    if stored or exported:
        storage.prepare(root)
    if exported:
        meta |= confluence.prepare(root)
        if labels := meta.get("keywords"):
            # What the page's labels were written as.
            meta["labels"] = labels.split(", ")
    yield DocumentInfo("html", _title(root), source.noted(meta))
    body = root.find("body")
    try:
        yield from _walked(root if body is None else body)
    except RecursionError as error:
        raise ExtractionFailed(
            "The page is nested too deep: what stands below that is left out.",
            "Save it with fewer elements inside each other.",
            Reason.TOO_LARGE,
        ) from error


def _walked(body: HtmlElement) -> Iterator[Section]:
    """The sections; of a page that shows nothing without its programs, what it says instead."""
    found = False
    for section in Walker().walk(body):
        found = True
        yield section
    if not found and (instead := list(body.iter("noscript"))):
        for one in instead:
            one.tag = "div"
        yield from Walker().walk(body)


def _meta(root: HtmlElement) -> dict[str, Any]:
    """What the page says of itself in its head."""
    out: dict[str, Any] = {}
    for one in root.iterfind("head/meta"):
        key, text = _NAMED.get(one.get("name", "").lower()), one_line(one.get("content", ""))
        if key and text:
            out.setdefault(key, text)
    return out


def _tree(text: str, parser: Any) -> HtmlElement:
    from lxml import etree, html

    try:
        return html.document_fromstring(text.encode("utf-8", "replace"), parser=parser)
    except etree.ParserError:
        # Nothing but comments or blanks.
        return html.document_fromstring("<html><body></body></html>")
    except etree.XMLSyntaxError as error:
        # The only way that this parser fails, and it does not say so.
        raise MemoryError(str(error)) from error


def _title(root: HtmlElement) -> str:
    title = one_line(root.findtext("head/title") or root.findtext(".//title") or "")
    if title:
        return title
    first = next(iter(root.iter("h1")), None)
    return one_line(inline(first)) if first is not None else ""


def sniff(source: Input) -> bool:
    """A doctype or an html element at the start."""
    return source.extension not in _PROGRAMS and _START.match(source.head) is not None


FORMAT = Format(
    "html",
    parse,
    extensions=(".html", ".htm", ".xhtml"),
    sniff=sniff,
    text=True,
    needs=("lxml",),
    version="10",
)
