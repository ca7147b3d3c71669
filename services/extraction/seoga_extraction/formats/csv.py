"""CSV and TSV: pipe tables with the header row repeated every ROWS rows, and line ranges."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from seoga.models import DocumentInfo, Place, Section, SectionKind
from seoga_extraction.format import Format, Input, Parsed, pipes

ROWS = 200
_FIELD_CHARS = 1 << 20


def parse(source: Input) -> Parsed:
    """The first row is the header."""
    text, charset = source.decoded()
    yield DocumentInfo("csv", meta={"charset": charset})
    csv.field_size_limit(_FIELD_CHARS)
    try:
        yield from _tables(text, _delimiter(source, text))
    except csv.Error:
        # Not a table after all (a quote that never ends): its lines are still text.
        yield Section(text.strip(), place=Place(line_start=1, line_end=text.count("\n") + 1))


def _delimiter(source: Input, text: str) -> str:
    if source.extension == ".tsv":
        return "\t"
    # csv.Sniffer takes letters for delimiters; the header names its own.
    header = next((line for line in text[:20000].split("\n") if line.strip()), "")
    return max(",;\t|", key=header.count)


def _tables(text: str, delimiter: str) -> Iterator[Section]:
    lines = text.split("\n")
    reader = csv.reader((line + "\n" for line in lines), delimiter=delimiter)
    header = next((row for row in reader if any(cell.strip() for cell in row)), None)
    if header is None:
        return
    start, rows, shown = reader.line_num, [header], 0
    for row in reader:
        if any(cell.strip() for cell in row):
            rows.append(row)
        if len(rows) > ROWS:
            yield _table(rows, start, reader.line_num)
            start, rows, shown = reader.line_num + 1, [header], shown + 1
    if len(rows) > 1 or not shown:
        yield _table(rows, start, reader.line_num)


def _table(rows: list[list[str]], start: int, end: int) -> Section:
    place = Place(line_start=start, line_end=max(start, end))
    return Section(pipes(rows), SectionKind.TABLE, place=place)


FORMAT = Format("csv", parse, extensions=(".csv", ".tsv"), text=True)
