"""CSV and TSV: pipe tables with the header row repeated every ROWS rows, and line ranges."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from seoga.models import DocumentInfo, Place, Section, SectionKind
from seoga_extraction.format import Format, Input, Parsed, pipes

ROWS = 200
_FIELD_CHARS = 1 << 20
_TRIED = 50
# A quoted field may hold line ends; one that holds this many is a quote that never ends.
_FIELD_LINES = 200
_SEPARATOR = re.compile(r"^sep=(.)\s*$", re.IGNORECASE)
# A quote inside a field, not one that ends it (`"C:\\",`); two that are no empty field.
_ESCAPED = re.compile(r'\\"(?![,;\t|\n]|$)')
_DOUBLED = re.compile(r'(?<![,;\t|\n])""(?![,;\t|\n])')
_DELIMITERS = ",;\t|"


@dataclass(frozen=True, slots=True)
class Dialect:
    """How the fields of a file are set apart."""

    delimiter: str = ","
    quotes: bool = True
    escape: str | None = None

    def reader(self, lines: Iterator[str]) -> Iterator[tuple[int, list[str]]]:
        """Rows, each with the line that it ends at. Raises csv.Error."""
        reader = csv.reader(
            lines,
            delimiter=self.delimiter,
            quoting=csv.QUOTE_MINIMAL if self.quotes else csv.QUOTE_NONE,
            escapechar=self.escape,
            doublequote=self.escape is None,
        )
        last = 0
        for row in reader:
            if reader.line_num - last > _FIELD_LINES:
                raise csv.Error("a quote does not end")
            last = reader.line_num
            yield last, row


def parse(source: Input) -> Parsed:
    """The first row is the header."""
    text, charset = source.decoded()
    yield DocumentInfo("csv", meta={"charset": charset})
    csv.field_size_limit(_FIELD_CHARS)
    lines = text.split("\n")
    named = _SEPARATOR.match(lines[0])
    first = 1 if named else 0
    delimiter = named.group(1) if named else _delimiter(source, lines)
    # MySQL and others write \" inside quotes where the standard doubles them.
    escape = "\\" if _ESCAPED.search(text) and not _DOUBLED.search(text) else None
    yield from _tables(lines, first, Dialect(delimiter, True, escape))


def _delimiter(source: Input, lines: list[str]) -> str:
    """The one that cuts most of the first rows into the same number of fields, and the most.

    csv.Sniffer takes letters for delimiters.
    """
    if source.extension == ".tsv":
        return "\t"
    shown = [line for line in lines[:_TRIED] if line.strip()]

    def worth(delimiter: str) -> tuple[int, int]:
        try:
            rows = (row for _, row in Dialect(delimiter).reader(f"{line}\n" for line in shown))
            widths = [len(row) for row in islice(rows, _TRIED)]
        except csv.Error:
            return 0, 0
        width = max(set(widths), key=lambda one: (widths.count(one), one), default=1)
        return (widths.count(width) if width > 1 else 0), width

    return max(_DELIMITERS, key=worth)


def _tables(lines: list[str], first: int, dialect: Dialect) -> Iterator[Section]:
    """A quote that never ends is none: from its row on, quotes are text."""
    start = first
    header: list[str] | None = None
    while True:
        rows = _Rows(lines, start, dialect, header)
        try:
            yield from rows.sections()
        except csv.Error:
            # What was read well is told; the line that was not begins the rest.
            yield from rows.rest()
            start, header = rows.end, rows.header
            if not dialect.quotes:
                text = "\n".join(lines[start:]).strip()
                if text:
                    yield Section(text, place=Place(line_start=start + 1, line_end=len(lines)))
                return
            dialect = Dialect(dialect.delimiter, quotes=False)
            continue
        return


class _Rows:
    """Rows of one dialect, gathered into tables. `end` is the line after the last good row."""

    def __init__(
        self, lines: list[str], start: int, dialect: Dialect, header: list[str] | None
    ) -> None:
        self._lines = lines
        self._dialect = dialect
        self._held: list[list[str]] = []
        self._told = 0
        self._from = start
        self.header = header
        self.end = start
        self._start = start

    def sections(self) -> Iterator[Section]:
        """Tables of ROWS rows. Raises csv.Error where the dialect fails."""
        lines = (f"{line}\n" for line in islice(self._lines, self._start, None))
        for end, row in self._dialect.reader(lines):
            self.end = self._start + end
            if not any(cell.strip() for cell in row):
                continue
            if self.header is None:
                self.header = row
                continue
            self._held.append(row)
            if len(self._held) >= ROWS:
                yield self._table()
        yield from self.rest()

    def rest(self) -> Iterator[Section]:
        """What has been read and not told; a header without rows is told once."""
        if self._held or (self.header is not None and not self._told):
            yield self._table()

    def _table(self) -> Section:
        place = Place(line_start=self._from + 1, line_end=max(self._from + 1, self.end))
        text = pipes([self.header or [], *self._held])
        self._from, self._held, self._told = self.end, [], self._told + 1
        return Section(text, SectionKind.TABLE, place=place)


FORMAT = Format("csv", parse, extensions=(".csv", ".tsv"), text=True, cheap=True)
