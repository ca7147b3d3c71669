"""CSV and TSV: pipe tables with the header row repeated every ROWS rows, and line ranges."""

from __future__ import annotations

import csv
import re
from collections.abc import Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

from seoga.models import DocumentInfo, Place, Section, SectionKind
from seoga_extraction.format import Format, Input, Parsed, pipes

ROWS = 200
_FIELD_CHARS = 1 << 20
_TRIED = 50
# A quoted field may hold line ends; one that holds this many is a quote that never ends.
_FIELD_LINES = 200
# Lines whose quotes do not end, in a file whose other quotes count.
_MOST_OPEN = 50
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
        taken: list[str] = []
        last = 0
        reader = self._reader(_kept(lines, taken))
        for row in reader:
            if reader.line_num - last > _FIELD_LINES:
                raise csv.Error("a quote does not end")
            if len(taken) > 1:
                # What was read as a field of many lines may be a quote that never ends.
                next(self._reader(iter(taken), strict=True))
            taken.clear()
            last = reader.line_num
            yield last, row

    def _reader(self, lines: Iterator[str], strict: bool = False) -> Any:
        return csv.reader(
            lines,
            delimiter=self.delimiter,
            quoting=csv.QUOTE_MINIMAL if self.quotes else csv.QUOTE_NONE,
            escapechar=self.escape,
            doublequote=self.escape is None,
            strict=strict,
        )


def _kept(lines: Iterator[str], taken: list[str]) -> Iterator[str]:
    for line in lines:
        taken.append(line)
        yield line


def parse(source: Input) -> Parsed:
    """The first row is the header."""
    text, charset = source.decoded()
    yield DocumentInfo("csv", meta=source.noted({"charset": charset}))
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

    def widths(dialect: Dialect) -> list[int]:
        rows = (row for _, row in dialect.reader(f"{line}\n" for line in shown))
        with suppress(csv.Error):
            return [len(row) for row in islice(rows, _TRIED)]
        return []

    def worth(delimiter: str) -> tuple[int, int]:
        # Where a quote never ends, none counts.
        found = widths(Dialect(delimiter)) or widths(Dialect(delimiter, quotes=False))
        width = max(set(found), key=lambda one: (found.count(one), one), default=1)
        return (found.count(width) if width > 1 else 0), width

    return max(_DELIMITERS, key=worth)


def _tables(lines: list[str], first: int, dialect: Dialect) -> Iterator[Section]:
    """A quote that never ends is none: those of its line are text, and where many lines are like
    that, those of all lines from there on."""
    plain = Dialect(dialect.delimiter, quotes=False)
    rows = _Rows(lines, first)
    for tried in range(1, _MOST_OPEN + 1):
        if (yield from rows.read(dialect)):
            break
        if not (yield from rows.read(plain, rows.end + 1 if tried < _MOST_OPEN else None)):
            yield from rows.rest()
            text = "\n".join(lines[rows.end :]).strip()
            if text:
                yield Section(text, place=Place(line_start=rows.end + 1, line_end=len(lines)))
            return
    yield from rows.rest()


class _Rows:
    """Rows gathered into tables. `end` is the line after the last good row."""

    def __init__(self, lines: list[str], start: int) -> None:
        self._lines = lines
        self._held: list[list[str]] = []
        self._told = 0
        self._from = start
        self._header: list[str] | None = None
        self.end = start

    def read(self, dialect: Dialect, stop: int | None = None) -> Generator[Section, None, bool]:
        """Tables of ROWS rows from `end` up to the line `stop`; False where the dialect fails,
        which begins what is left."""
        start = self.end
        lines = (f"{line}\n" for line in islice(self._lines, start, stop))
        try:
            for end, row in dialect.reader(lines):
                self.end = start + end
                if any(cell.strip() for cell in row):
                    yield from self._one(row)
        except csv.Error:
            return False
        return True

    def _one(self, row: list[str]) -> Iterator[Section]:
        if self._header is None:
            self._header = row
            return
        self._held.append(row)
        if len(self._held) >= ROWS:
            yield self._table()

    def rest(self) -> Iterator[Section]:
        """What has been read and not told; a header without rows is told once."""
        if self._held or (self._header is not None and not self._told):
            yield self._table()

    def _table(self) -> Section:
        place = Place(line_start=self._from + 1, line_end=max(self._from + 1, self.end))
        text = pipes([self._header or [], *self._held])
        self._from, self._held, self._told = self.end, [], self._told + 1
        return Section(text, SectionKind.TABLE, place=place)


FORMAT = Format("csv", parse, extensions=(".csv", ".tsv"), text=True, cheap=True, version="3")
