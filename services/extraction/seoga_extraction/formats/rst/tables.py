"""Tables of reStructuredText: drawn as a grid, simple, and the list and CSV directives."""

from __future__ import annotations

import csv
import re
from unicodedata import east_asian_width

from seoga_extraction.formats.rst.inline import shown

_PAD = "\x00"
_GRID = re.compile(r"^\+(?:[-=]+\+)+$")
_SIMPLE = re.compile(r"^=+(?: +=+)+$")
_SPANS = re.compile(r"^-+(?: +-+)*$")
_ITEM = re.compile(r"^(\s*)\*\s+-(?:\s|$)")


def padded(line: str) -> str:
    """Columns are those of a terminal, where Hangul takes two: a filler stands for the second."""
    if line.isascii():
        return line
    return "".join(one + _PAD if east_asian_width(one) in "WF" else one for one in line)


def is_grid(line: str) -> bool:
    """Whether a grid table begins: +----+----+."""
    return _GRID.match(line.strip()) is not None


def is_simple(line: str) -> bool:
    """Whether a simple table begins: ==== ====."""
    return _SIMPLE.match(line.strip()) is not None


def grid_rows(lines: list[str]) -> list[list[str]]:
    """The cells between the bars of the finest columns; lines of one row are joined."""
    lines = [padded(line) for line in lines]
    edges = sorted(
        {
            place
            for line in lines
            if _GRID.match(line)
            for place, one in enumerate(line)
            if one == "+"
        }
    )
    rows: list[list[str]] = []
    open_row: list[list[str]] = []
    for line in lines[1:]:
        if line.startswith("+") and set(line) <= set("+-= "):
            if open_row:
                rows.append([_joined(cell) for cell in open_row])
            open_row = []
            continue
        cells = _cut(line, edges)
        if not open_row:
            open_row = [[] for _ in cells]
        for place, cell in enumerate(cells[: len(open_row)]):
            open_row[place].append(cell)
    if open_row:
        rows.append([_joined(cell) for cell in open_row])
    return [row for row in rows if any(row)]


def _cut(line: str, edges: list[int]) -> list[str]:
    """A cell over several columns has no bar at the edges inside: it stands in its first."""
    cells: list[str] = []
    start = edges[0] if edges else 0
    skipped = 0
    for edge in edges[1:]:
        if edge < len(line) and line[edge] not in "|+":
            skipped += 1
            continue
        cells.append(line[start + 1 : edge])
        cells += [""] * skipped
        start, skipped = edge, 0
    return cells


def simple_rows(lines: list[str]) -> list[list[str]]:
    """Columns by the first border; a line with an empty first column continues the row above."""
    lines = [padded(line) for line in lines]
    spans = [(found.start(), found.end()) for found in re.finditer(r"=+", lines[0])]
    rows: list[list[str]] = []
    for line in lines[1:]:
        text = line.rstrip()
        if not text or _SIMPLE.match(text) or _SPANS.match(text.strip()) or set(text) <= {"="}:
            continue
        ends = [*(start for start, _ in spans[1:]), max(len(text), spans[-1][1])]
        cells = [text[start:end].strip() for (start, _), end in zip(spans, ends, strict=True)]
        if not cells[0] and rows:
            rows[-1] = [f"{a} {b}".strip() for a, b in zip(rows[-1], cells, strict=True)]
        else:
            rows.append(cells)
    return [[_joined([cell]) for cell in row] for row in rows]


def list_rows(lines: list[str]) -> list[list[str]]:
    """The list-table directive: a list of rows, each a list of cells."""
    rows: list[list[list[str]]] = []
    for line in lines:
        text = line.strip()
        if _ITEM.match(line):
            rows.append([[_ITEM.sub("", line).strip()]])
        elif rows and text.startswith("- "):
            rows[-1].append([text[2:].strip()])
        elif rows and text == "-":
            rows[-1].append([])
        elif rows and text:
            rows[-1][-1].append(text)
    return [[_joined(cell) for cell in row] for row in rows]


def csv_rows(header: str, lines: list[str]) -> list[list[str]]:
    """The csv-table directive."""
    try:
        rows = list(csv.reader([*([header] if header else []), *lines], skipinitialspace=True))
    except csv.Error:
        return []
    return [[shown(cell.strip()) for cell in row] for row in rows if any(row)]


def _joined(lines: list[str]) -> str:
    text = " ".join(part for line in lines if (part := line.strip(f" {_PAD}")))
    return shown(text.replace(_PAD, ""))
