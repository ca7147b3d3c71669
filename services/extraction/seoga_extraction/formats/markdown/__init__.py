"""Markdown: headings with their path, fences and tables whole, lists, front matter as metadata."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from seoga.models import REMARKS, DocumentInfo, Section
from seoga_extraction.format import Format, Input, Parsed
from seoga_extraction.formats.markdown.blocks import Reader
from seoga_extraction.formats.markdown.front_matter import split_front_matter
from seoga_extraction.formats.markdown.remarks import remarks

TITLE_WITHIN = 200


def parse(source: Input) -> Parsed:
    """Line places count from the start of the file, front matter included."""
    text, _ = source.decoded()
    lines = text.split("\n")
    meta, first = split_front_matter(lines)
    if said := remarks(lines, first):
        meta = {**meta, REMARKS: said}
    sections = Reader(lines, first).sections()
    title = meta.get("title")
    ahead: list[Section] = []
    if not isinstance(title, str) or not title.strip():
        ahead, title = _look_ahead(sections)
    yield DocumentInfo("markdown", title, source.noted(meta))
    yield from ahead
    yield from sections


def _look_ahead(sections: Iterator[Section]) -> tuple[list[Section], str]:
    """The sections up to the first heading of level 1, and its title; files can be huge."""
    ahead = []
    for section in islice(sections, TITLE_WITHIN):
        ahead.append(section)
        if section.level == 1:
            return ahead, section.heading_path[-1]
    return ahead, ""


FORMAT = Format(
    "markdown",
    parse,
    extensions=(".md", ".markdown", ".mdown", ".mkd", ".mdx"),
    text=True,
    cheap=True,
    version="4",
)
