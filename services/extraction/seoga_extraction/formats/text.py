"""Plain text: paragraphs with line ranges. Text without another format comes here."""

from __future__ import annotations

from collections.abc import Iterator

from seoga.models import DocumentInfo, Place, Section
from seoga_extraction.format import Format, Input, Parsed

# A log without blank lines is cut, so that a citation names lines that can be looked at.
MAX_LINES = 50


def parse(source: Input) -> Parsed:
    """Paragraphs are separated by blank lines or form feeds."""
    text, charset = source.decoded()
    yield DocumentInfo("text", meta=source.noted({"charset": charset}))
    yield from paragraphs(text.split("\n"))


def paragraphs(lines: list[str]) -> Iterator[Section]:
    """Runs of lines that are not blank, at most MAX_LINES each, counted from 1."""
    held: list[str] = []
    for number, line in enumerate(lines):
        blank = not line.strip()
        if not blank:
            held.append(line.rstrip().lstrip("\f"))
        if held and (blank or len(held) >= MAX_LINES or "\f" in line):
            yield _section(held, number if blank else number + 1)
            held = []
    if held:
        yield _section(held, len(lines))


def _section(held: list[str], last: int) -> Section:
    place = Place(line_start=last - len(held) + 1, line_end=last)
    return Section("\n".join(held), place=place)


FORMAT = Format(
    "text", parse, extensions=(".txt", ".text", ".log"), text=True, cheap=True, version="3"
)
