"""Tables on their grid: merged cells repeat downwards, so that a row can be read alone."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Sequence

from seoga_extraction.formats._hancom.model import Cell, Paragraph

# A table may claim any size; above this it is written without its empty places.
_MAX_PLACES_PER_CELL = 50
# What a merged cell may repeat in each of its rows: a label, not an essay.
_MAX_REPEATED = 200


def is_frame(cells: Sequence[Cell]) -> bool:
    """Whether a table only lays out a page, as Korean forms do: one row, or one cell in each."""
    rows = [cell.row for cell in cells if any(map(shows, cell.blocks))]
    return len(set(rows)) == len(rows) or len({cell.row for cell in cells}) == 1


def shows(paragraph: Paragraph) -> bool:
    """Whether there is anything but white space in it."""
    return any(not isinstance(piece, str) or piece.strip() for piece in paragraph.pieces)


def rows_of(cells: Sequence[Cell], text: Callable[[Cell], str]) -> list[list[str]]:
    """Cell texts by row and column. Rows and columns in which no cell begins are left out."""
    shown = [(cell, text(cell)) for cell in cells]
    rows = sorted({cell.row for cell in cells})
    columns = sorted({cell.column for cell in cells})
    if len(rows) * len(columns) > _MAX_PLACES_PER_CELL * len(cells) + 1000:
        return _ragged(shown)
    places: dict[tuple[int, int], str] = {}
    for cell, words in shown:
        first = bisect_left(rows, cell.row)
        last = bisect_left(rows, cell.row + cell.rows) if len(words) <= _MAX_REPEATED else first + 1
        for row in rows[first:last]:
            places[row, cell.column] = words
    return [[places.get((row, column), "") for column in columns] for row in rows]


def _ragged(shown: Sequence[tuple[Cell, str]]) -> list[list[str]]:
    rows: dict[int, list[str]] = defaultdict(list)
    for cell, words in shown:
        rows[cell.row].append(words)
    # One wide row would widen all others.
    return [[" / ".join(rows[row])] for row in sorted(rows)]


def flat(rows: Sequence[Sequence[str]]) -> str:
    """A table inside a cell, on one line: cells by commas, rows by semicolons."""
    lines = (", ".join(cell for cell in row if cell) for row in rows)
    return "; ".join(line for line in lines if line)
