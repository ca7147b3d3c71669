"""Markdown: headings with their path, fences and tables whole, lists, front matter as metadata."""

from __future__ import annotations

from seoga.models import DocumentInfo
from seoga_extraction.format import Format, Input, Parsed
from seoga_extraction.formats.markdown.blocks import Reader
from seoga_extraction.formats.markdown.front_matter import split_front_matter


def parse(source: Input) -> Parsed:
    """Line places count from the start of the file, front matter included."""
    text, _ = source.decoded()
    lines = text.split("\n")
    meta, first = split_front_matter(lines)
    sections = list(Reader(lines, first).sections())
    titles = [one.heading_path[-1] for one in sections if one.level == 1]
    title = meta.get("title")
    if not isinstance(title, str) or not title.strip():
        title = titles[0] if titles else ""
    yield DocumentInfo("markdown", title, meta)
    yield from sections


FORMAT = Format(
    "markdown", parse, extensions=(".md", ".markdown", ".mdown", ".mkd", ".mdx"), text=True
)
