"""reStructuredText: sections by their underlines, directives, tables, notes; line places.

Read line by line, not with docutils: nothing is included, run or looked up, broken markup costs
nothing, and every section keeps its lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from seoga.models import REMARKS, DocumentInfo, Section
from seoga_extraction.format import Format, Input, Parsed
from seoga_extraction.formats.rst.blocks import Reader
from seoga_extraction.formats.rst.relations import relations
from seoga_extraction.formats.rst.remarks import remarks

TITLE_WITHIN = 200


def parse(source: Input) -> Parsed:
    """The first heading is the title; fields before it are metadata."""
    text, charset = source.decoded()
    lines = text.expandtabs(8).split("\n")
    reader = Reader(lines)
    sections = reader.sections()
    ahead = list(islice(sections, TITLE_WITHIN))
    titles = (one.heading_path[-1] for one in ahead if one.level)
    # A field that is a link is known by where it leads.
    meta = {"charset": charset, **reader.fields, **relations(lines)}
    if said := remarks(lines):
        meta[REMARKS] = said
    yield DocumentInfo("rst", next(titles, ""), source.noted(meta))
    yield from _chain(ahead, sections)


def _chain(ahead: list[Section], rest: Iterator[Section]) -> Iterator[Section]:
    yield from ahead
    yield from rest


FORMAT = Format("rst", parse, extensions=(".rst", ".rest"), text=True, cheap=True, version="5")
