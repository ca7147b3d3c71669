"""HWPX (OWPML, KS X 6101): sections in the order of their numbers, read from the XML itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice

from seoga.errors import ExtractionFailed
from seoga.models import DocumentInfo, Section
from seoga_extraction.enclosed import Enclosed
from seoga_extraction.format import Archive, Format, Input, Parsed, corrupt, one_line
from seoga_extraction.formats._hancom.chart import chart_table
from seoga_extraction.formats._hancom.model import Table
from seoga_extraction.formats._hancom.story import TITLE_WITHIN, Story, title_of
from seoga_extraction.formats.hwpx.body import Body
from seoga_extraction.formats.hwpx.header import local, styles_of

_SECTION = re.compile(r"^contents/section(\d+)\.xml$", re.IGNORECASE)
_HEADER = re.compile(r"^contents/header\.xml$", re.IGNORECASE)
_META = {
    "creator": "author",
    "subject": "subject",
    "description": "description",
    "keyword": "keywords",
    "CreatedDate": "created",
    "ModifiedDate": "modified",
}


def parse(source: Input) -> Parsed:
    """Tracked changes as accepted; headers and footers once, at the end."""
    archive = source.archive
    source.unseal("The HWPX document")
    names = [name for name in archive.names if _SECTION.match(name)]
    if not names:
        raise corrupt("The HWPX file has no section part.")
    title, meta = _properties(archive)
    sections = _sections(archive, sorted(names, key=_order))
    first = list(islice(sections, TITLE_WITHIN))
    yield DocumentInfo("hwpx", title_of(title, first), meta)
    yield from chain(first, sections)
    yield from Enclosed(source).rest(alone=not first)
    source.tell_cuts()


def _sections(archive: Archive, names: list[str]) -> Iterator[Section]:
    header = next((name for name in archive.names if _HEADER.match(name)), "")
    styles = styles_of(archive.xml(header))

    def chart(name: str) -> Table | None:
        try:
            root = archive.xml(name)
        except ExtractionFailed:
            return None
        return None if root is None else chart_table(root)

    story, body = Story(styles), Body(styles, chart)
    for name in names:
        root = archive.xml(name)
        if root is not None:
            yield from story.sections(body.paragraphs(root))
    yield from story.margins()


def _order(name: str) -> int:
    found = _SECTION.match(name)
    return int(found[1]) if found else 0


def _properties(archive: Archive) -> tuple[str, dict[str, str]]:
    """Title and other properties; a broken or absent package file costs only them."""
    try:
        root = archive.xml("Contents/content.hpf")
    except ExtractionFailed:
        root = None
    title, meta = "", {}
    for one in () if root is None else root.iter():
        words = one_line(one.text or "")
        if local(one) == "title":
            title = title or words
        elif local(one) == "meta" and words and (name := _META.get(str(one.get("name")))):
            meta[name] = words
    return title, meta


def sniff(source: Input) -> bool:
    """A zip file with a part of HWPX, or one that says it is HWPX."""
    if not source.is_zip:
        return False
    return b"application/hwp+zip" in source.head[:200] or any(
        _SECTION.match(name) or _HEADER.match(name) for name in source.archive.names
    )


FORMAT = Format(
    "hwpx",
    parse,
    extensions=(".hwpx", ".hwtx"),
    sniff=sniff,
    needs=("lxml", "cryptography"),
    version="3",
    nests=True,
)
