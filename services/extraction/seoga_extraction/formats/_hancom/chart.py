"""Charts (DrawingML, as both HWPX and newer HWP 5 files keep them) as a title and a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from seoga_extraction.format import one_line
from seoga_extraction.formats._hancom.model import Cell, Paragraph, Table

if TYPE_CHECKING:
    from lxml.etree import _Element


def chart_table(root: _Element) -> Table:
    """Categories down, series across; titles of chart and axes are the caption."""
    titles = [_joined(one, "t") for one in _named(root, "title")]
    cells: list[Cell] = []
    for column, series in enumerate(_named(root, "ser"), start=1):
        cells.append(_cell(0, column, " ".join(_joined(one, "v") for one in _named(series, "tx"))))
        for name, at in (("cat", 0), ("xVal", 0), ("val", column), ("yVal", column)):
            # The categories of the first series stand for all.
            if at or column == 1:
                cells += _points(series, name, at)
    caption = [Paragraph([title]) for title in titles if title]
    return Table(sorted(cells, key=lambda cell: (cell.row, cell.column)), caption)


def _points(series: _Element, name: str, column: int) -> Iterator[Cell]:
    for group in _named(series, name):
        for row, point in enumerate(_named(group, "pt"), start=1):
            yield _cell(row, column, _joined(point, "v"))


def _cell(row: int, column: int, text: str) -> Cell:
    return Cell(row, column, [Paragraph([text])])


def _named(element: _Element, name: str) -> Iterator[_Element]:
    return element.iterfind(f".//{{*}}{name}")


def _joined(element: _Element, name: str) -> str:
    return one_line(" ".join(one.text or "" for one in _named(element, name)))
