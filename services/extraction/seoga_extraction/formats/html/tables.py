"""Tables of a page: spans, layout tables, tables inside cells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from seoga_extraction.format import one_line
from seoga_extraction.formats.html.tree import dropped, inline

if TYPE_CHECKING:
    from lxml.html import HtmlElement

# Tables inside tables inside tables: deeper ones are read as text.
MAX_NESTED = 4


def table_rows(table: HtmlElement, depth: int = 0) -> list[list[str]]:
    """The rows of a table; a cell over several rows is repeated, one over several columns is not.

    Spans are capped: `rowspan="1000000"` costs nothing.
    """
    rows: list[list[str]] = []
    held: dict[int, tuple[int, str]] = {}
    for row in _own_rows(table):
        cells: list[str] = []
        for cell in row.iterchildren("td", "th"):
            _fill_held(cells, held)
            text = "" if dropped(cell) else _cell(cell, depth)
            for part in range(_span(cell, "colspan")):
                if (down := _span(cell, "rowspan")) > 1:
                    held[len(cells)] = (down - 1, "" if part else text)
                cells.append("" if part else text)
        _fill_held(cells, held)
        if any(cells):
            rows.append(cells)
    return rows


def _cell(cell: HtmlElement, depth: int) -> str:
    """A cell on one line; a table inside it with commas and semicolons."""
    shown = (one for one in cell.iter("table") if not dropped(one))
    inner = next(shown, None) if depth < MAX_NESTED else None
    if inner is None:
        return one_line(inline(cell))
    rows = (", ".join(part for part in row if part) for row in table_rows(inner, depth + 1))
    text = "; ".join(rows)
    # Other tables of the cell are read as text with the rest of it.
    inner.set("hidden", "")
    rest = one_line(inline(cell))
    del inner.attrib["hidden"]
    return f"{rest} {text}".strip()


def caption_of(table: HtmlElement) -> str:
    """The caption, on one line."""
    found = next(table.iterchildren("caption"), None)
    return "" if found is None or dropped(found) else one_line(inline(found))


def _fill_held(cells: list[str], held: dict[int, tuple[int, str]]) -> None:
    while (found := held.get(len(cells))) is not None:
        left, text = found
        if left <= 1:
            del held[len(cells)]
        else:
            held[len(cells)] = (left - 1, text)
        cells.append(text)


def _span(cell: HtmlElement, name: str) -> int:
    value = cell.get(name, "1").strip()
    return min(max(int(value), 1), 100) if value.isascii() and value.isdigit() else 1


def _own_rows(table: HtmlElement) -> Iterator[HtmlElement]:
    for part in table.iterchildren("tr", "thead", "tbody", "tfoot"):
        if part.tag == "tr":
            yield part
        else:
            yield from part.iterchildren("tr")


def own_cells(table: HtmlElement) -> Iterator[HtmlElement]:
    """The cells that show, without those of inner tables."""
    for row in _own_rows(table):
        for cell in row.iterchildren("td", "th"):
            if not dropped(cell):
                yield cell


def is_layout(table: HtmlElement) -> bool:
    """A table that arranges blocks: one cell a row at most, or headings and tables in cells.

    A table with header cells, or of an editor that makes none for layout, is data.
    """
    if table.get("role") in ("presentation", "none"):
        return True
    if all(len(list(row.iterchildren("td", "th"))) <= 1 for row in _own_rows(table)):
        return True
    cells = list(own_cells(table))
    if "confluenceTable" in table.get("class", "") or any(cell.tag == "th" for cell in cells):
        return False
    return any(
        next(cell.iter("table", "h1", "h2", "h3", "pre"), None) is not None for cell in cells
    )
