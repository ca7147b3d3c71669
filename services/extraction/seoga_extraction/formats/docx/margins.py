"""Headers and footers of a Word document, each text once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from seoga.models import Section, SectionKind
from seoga_extraction.formats.docx.body import Body
from seoga_extraction.formats.docx.package import Package
from seoga_extraction.ooxml.package import attribute, child, descendants, local, related

if TYPE_CHECKING:
    from lxml.etree import _Element

_PAGES = re.compile(r"\b(?:page|seite|of|von)\b|페이지|쪽|[\W\d_]", re.IGNORECASE)


def margins(package: Package, body: Body, root: _Element) -> Iterator[Section]:
    """Headers and footers that are in use, each text once; a page number alone says nothing."""
    told: set[str] = set()
    for role, part in _in_use(package, root):
        hung: list[tuple[str, str]] = []
        text = body.flat(part, hung)
        if text not in told and _PAGES.sub("", text):
            told.add(text)
            yield Section(text, SectionKind.NOTE, meta={"note": role})


def _in_use(package: Package, root: _Element) -> Iterator[tuple[str, _Element]]:
    for section in descendants(root, "sectPr"):
        above = section.getparent()
        if above is not None and local(above) == "sectPrChange":
            continue
        first = child(section, "titlePg")
        for one in section:
            role = local(one).removesuffix("Reference")
            kind = attribute(one, "type")
            unused = (kind == "first" and (first is None or attribute(first, "val") == "0")) or (
                kind == "even" and not package.even_pages
            )
            if role not in ("header", "footer") or unused:
                continue
            if (part := package.related(related(one))) is not None:
                yield role, part
