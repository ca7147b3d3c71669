"""The body of a Word document as sections: paragraphs, lists and tables in the order they stand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from seoga.models import Section, SectionKind
from seoga_extraction.format import Outline, one_line, pipes
from seoga_extraction.formats.docx.numbers import Counters
from seoga_extraction.formats.docx.package import Package, attribute, child, local

if TYPE_CHECKING:
    from lxml.etree import _Element

# Deleted or moved-away text, field codes and properties never show.
_SILENT = frozenset(
    [
        "del",
        "moveFrom",
        "delText",
        "instrText",
        "delInstrText",
        "pPr",
        "rPr",
        "sdtPr",
        "sdtEndPr",
        "tblPr",
        "tblGrid",
        "trPr",
        "tcPr",
        "sectPr",
        "fldData",
        "proofErr",
        "bookmarkStart",
        "bookmarkEnd",
    ]
)
_SIGNS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": "\t"}
MAX_SPAN = 200


class Body:
    """Turns the tree of one document into sections. `title` is known when they have been read."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._outline = Outline()
        self._counters = Counters(package.numbering)
        self._items: list[str] = []
        self.title = ""

    def sections(self, root: _Element) -> Iterator[Section]:
        """All sections of a story (the element that holds the body)."""
        for block in blocks(root):
            if local(block) == "tbl":
                yield from self._flush()
                yield from self._table(block)
            else:
                yield from self._paragraph(block)
        yield from self._flush()

    def _paragraph(self, paragraph: _Element) -> Iterator[Section]:
        boxes: list[_Element] = []
        text = text_of(paragraph, boxes).strip()
        properties = child(paragraph, "pPr")
        style = attribute(child(properties, "pStyle"), "val")
        level = self._level(properties, style)
        mark, depth = self._mark(properties, style) if text else ("", 0)
        if text and level:
            yield from self._flush()
            title = one_line(f"{mark} {text}" if mark not in ("", "-") else text)
            self.title = self.title or title
            yield self._outline.heading(level, title)
        elif text and mark:
            self._items.append(f"{'  ' * depth}{mark} {text.replace(chr(10), ' ')}")
        elif text:
            yield from self._flush()
            yield Section(text, heading_path=self._outline.path)
        for box in boxes:
            yield from self._flush()
            yield from self.sections(box)

    def _flush(self) -> Iterator[Section]:
        if self._items:
            text = "\n".join(self._items)
            self._items = []
            yield Section(text, SectionKind.LIST, self._outline.path)

    def _level(self, properties: _Element | None, style: str) -> int:
        outline = attribute(child(properties, "outlineLvl"), "val")
        if outline.isascii() and outline.isdigit():
            return int(outline) + 1 if int(outline) < 9 else 0
        if self._package.is_title(style):
            return 1
        return self._package.heading_level(style)

    def _mark(self, properties: _Element | None, style: str) -> tuple[str, int]:
        """The list mark of a paragraph and its depth; its own numbering wins over its style's."""
        list_id = attribute(child(properties, "numPr", "numId"), "val")
        level = attribute(child(properties, "numPr", "ilvl"), "val")
        for one in self._package.chain(style):
            list_id = list_id or one.num_id
            level = level or one.num_level
        if list_id in ("", "0"):
            return "", 0
        depth = min(int(level), 8) if level.isascii() and level.isdigit() else 0
        return self._counters.mark(list_id, depth), depth

    def _table(self, table: _Element) -> Iterator[Section]:
        rows = [list(cells) for cells in _grid(table)]
        if all(len(row) == 1 for row in rows):
            # Korean forms put whole pages into tables of one column: blocks, not a table.
            for _, cell in (pair for row in rows for pair in row):
                if cell is not None:
                    yield from self.sections(cell)
            return
        text = pipes(_filled(rows, self._cell_text))
        if text.strip("| -\n"):
            yield Section(text, SectionKind.TABLE, self._outline.path)

    def _cell_text(self, cell: _Element) -> str:
        parts = []
        for section in Body(self._package).sections(cell):
            table = section.kind is SectionKind.TABLE
            parts.append(_nested(section.text) if table else section.text.lstrip("# "))
        return " ".join(parts)


def blocks(element: _Element) -> Iterator[_Element]:
    """Paragraphs and tables below an element, through content controls and other wrappers."""
    for one in element:
        name = local(one)
        if name in ("p", "tbl"):
            yield one
        elif name and name not in _SILENT:
            yield from blocks(one)


def text_of(element: _Element, boxes: list[_Element]) -> str:
    """The text that shows; text boxes are put into `boxes` instead, each once."""
    parts: list[str] = []
    _gather(element, parts, boxes)
    return "".join(parts)


def _gather(element: _Element, parts: list[str], boxes: list[_Element]) -> None:
    for one in element:
        name = local(one)
        if name == "t":
            parts.append("".join(str(piece) for piece in one.itertext()))
        elif name == "txbxContent":
            boxes.append(one)
        elif name == "AlternateContent":
            # The same drawing twice, for new and for old programs.
            chosen = child(one, "Choice")
            chosen = chosen if chosen is not None and _shows(chosen) else child(one, "Fallback")
            if chosen is not None:
                _gather(chosen, parts, boxes)
        elif name in _SIGNS:
            parts.append(_SIGNS[name])
        elif name == "sym":
            parts.append(_symbol(one))
        elif name and name not in _SILENT:
            _gather(one, parts, boxes)


def _shows(element: _Element) -> bool:
    return any(local(one) in ("t", "txbxContent") for one in element.iter())


def _symbol(element: _Element) -> str:
    """A character of a symbol font; those of the private area mean nothing without the font."""
    try:
        code = int(attribute(element, "char"), 16)
    except ValueError:
        return ""
    return chr(code) if code < 0xD800 else ""


def _grid(table: _Element) -> Iterator[Iterator[tuple[int, _Element | None]]]:
    """Rows of (column, cell); None where a cell goes on from the row above (vMerge)."""
    for row in _inside(table, "tr"):
        if child(row, "trPr", "del") is None:
            yield _cells(row)


def _cells(row: _Element) -> Iterator[tuple[int, _Element | None]]:
    column = _span(child(row, "trPr", "gridBefore"), 0)
    for cell in _inside(row, "tc"):
        properties = child(cell, "tcPr")
        merge = child(properties, "vMerge")
        goes_on = merge is not None and attribute(merge, "val") in ("", "continue")
        yield column, None if goes_on else cell
        column += _span(child(properties, "gridSpan"), 1)


def _inside(element: _Element, name: str) -> Iterator[_Element]:
    """Rows or cells, through content controls around them, not those of nested tables."""
    for one in element:
        if local(one) == name:
            yield one
        elif local(one) in ("sdt", "sdtContent", "customXml", "ins"):
            yield from _inside(one, name)


def _span(element: _Element | None, default: int) -> int:
    value = attribute(element, "val")
    return min(int(value), MAX_SPAN) if value.isascii() and value.isdigit() else default


def _filled(
    rows: list[list[tuple[int, _Element | None]]], text: Callable[[_Element], str]
) -> list[list[str]]:
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


def _nested(text: str) -> str:
    """A table inside a cell, on one line: cells by commas, rows by semicolons."""
    rows = text.split("\n")
    del rows[1:2]
    return "; ".join(
        ", ".join(part.strip() for part in row.strip("| ").split(" | ")) for row in rows
    )
