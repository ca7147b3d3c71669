"""Tables of Word documents on their grid: merged cells, cells left out, nested tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from seoga_extraction.ooxml.package import attribute, child, local, number

if TYPE_CHECKING:
    from lxml.etree import _Element

MAX_SPAN = 200
Row: TypeAlias = "list[tuple[int, _Element | None]]"


def grid(table: _Element) -> list[Row]:
    """Rows of (column, cell); None where a cell goes on from the row above (vMerge)."""
    rows = []
    for row in _inside(table, "tr"):
        properties = child(row, "trPr")
        if child(properties, "del") is None and child(properties, "moveFrom") is None:
            rows.append(list(_cells(row)))
    return [row for row in rows if row]


def _cells(row: _Element) -> Iterator[tuple[int, _Element | None]]:
    column = _span(child(row, "trPr", "gridBefore"), 0)
    for cell in _inside(row, "tc"):
        properties = child(cell, "tcPr")
        if child(properties, "cellDel") is not None or _goes_on(child(properties, "hMerge")):
            column += 1
            continue
        yield column, None if _goes_on(child(properties, "vMerge")) else cell
        column += _span(child(properties, "gridSpan"), 1)


def _goes_on(merge: _Element | None) -> bool:
    return merge is not None and attribute(merge, "val") in ("", "continue")


def _inside(element: _Element, name: str) -> Iterator[_Element]:
    """Rows or cells, through content controls around them, not those of nested tables."""
    for one in element:
        if local(one) == name:
            yield one
        elif local(one) in ("sdt", "sdtContent", "customXml", "ins", "moveTo"):
            yield from _inside(one, name)


def _span(element: _Element | None, default: int) -> int:
    return min(max(number(attribute(element, "val"), default), 0), MAX_SPAN)


def filled(rows: list[Row], text: Callable[[_Element], str]) -> list[list[str]]:
    """Cell texts on the grid: merged down is repeated, so that a row can be read alone."""
    out: list[list[str]] = []
    above: dict[int, str] = {}
    for row in rows:
        cells: list[str] = []
        for column, cell in row:
            shown = above.get(column, "") if cell is None else text(cell)
            cells += [""] * (column - len(cells)) + [shown]
            above[column] = shown
        out.append(cells)
    return out


def nested(rows: list[list[str]]) -> str:
    """A table inside a cell, on one line: cells by commas, rows by semicolons."""
    shown = (", ".join(cell for cell in row if cell) for row in rows)
    return "; ".join(row for row in shown if row)
