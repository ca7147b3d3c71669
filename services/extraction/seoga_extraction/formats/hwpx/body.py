"""The section parts of an HWPX file as paragraphs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from seoga_extraction.formats._hancom.model import (
    Box,
    Cell,
    Equation,
    Head,
    Note,
    Paragraph,
    Piece,
    Styles,
    Table,
)
from seoga_extraction.formats.hwpx.header import local, number

if TYPE_CHECKING:
    from lxml.etree import _Element

_SIGNS = {"tab": "\t", "lineBreak": "\n", "nbSpace": " ", "fwSpace": " ", "hyphen": "-"}
_NOTES = {
    "header": "header",
    "footer": "footer",
    "footNote": "footnote",
    "endNote": "endnote",
    "hiddenComment": "hidden",
}
_BUTTONS = frozenset(["btn", "checkBtn", "radioBtn"])
# Numbers of captions are part of the text; those of pages and notes are not.
_COUNTED = frozenset(["PICTURE", "TABLE", "EQUATION"])
_BOXES = frozenset(["drawText", "caption"])
_SILENT = frozenset(["parameters", "linesegarray", "shapeComment", "metaTag"])
MAX_SPAN = 10_000


class Body:
    """Reads the sections of one document; the outline numbering goes from section to section.

    `chart` gives the table of a chart part by its name in the package.
    """

    def __init__(self, styles: Styles, chart: Callable[[str], Table | None]) -> None:
        self._styles = styles
        self._chart = chart
        self._outline = 0
        self._deleted = False
        self._readers: dict[str, Callable[[_Element, list[Piece]], None]] = {
            "t": self._text,
            "secPr": self._section,
            "tbl": lambda element, pieces: pieces.append(self._table(element)),
            "equation": self._equation,
            "fieldBegin": self._field,
            "switch": self._switch,
            "chart": self._drawn,
        }

    def paragraphs(self, parent: _Element) -> Iterator[Paragraph]:
        """The paragraphs below an element, through lists around them."""
        for one in parent:
            name = local(one)
            if name == "p":
                yield self._paragraph(one)
            elif name == "tbl":
                yield Paragraph([self._table(one)])
            elif name == "subList":
                yield from self.paragraphs(one)

    def _paragraph(self, element: _Element) -> Paragraph:
        # A deletion whose end is missing must not swallow what follows.
        self._deleted = False
        pieces: list[Piece] = []
        for run in element:
            if local(run) == "run":
                self._gather(run, pieces)
        head = self._styles.heads.get(number(element, "paraPrIDRef", -1), Head())
        if head.kind == "outline":
            head = replace(head, list_id=self._outline or head.list_id)
        style = self._styles.names.get(number(element, "styleIDRef", -1), "")
        return Paragraph(pieces, style, head)

    def _gather(self, parent: _Element, pieces: list[Piece]) -> None:
        for one in parent:
            name = local(one)
            if name in self._readers:
                self._readers[name](one, pieces)
            elif name in _NOTES:
                pieces.append(Note(_NOTES[name], list(self.paragraphs(one))))
            elif name in _BOXES:
                pieces.append(Box(list(self.paragraphs(one))))
            elif name not in _SILENT:
                pieces.extend(_written(one, name))
                self._gather(one, pieces)

    def _section(self, element: _Element, _: list[Piece]) -> None:
        self._outline = number(element, "outlineShapeIDRef", self._outline)

    def _switch(self, element: _Element, pieces: list[Piece]) -> None:
        self._gather(_chosen(element), pieces)

    def _drawn(self, element: _Element, pieces: list[Piece]) -> None:
        table = self._chart(str(element.get("chartIDRef", "")))
        pieces.extend([table] if table is not None else [])

    def _text(self, element: _Element, pieces: list[Piece]) -> None:
        """Runs of text with signs between; tracked changes are read as accepted."""
        self._add(element.text, pieces)
        for one in element:
            name = local(one)
            if name in ("deleteBegin", "deleteEnd"):
                self._deleted = name == "deleteBegin"
            self._add(_SIGNS.get(name), pieces)
            self._add(one.tail, pieces)

    def _add(self, text: str | None, pieces: list[Piece]) -> None:
        if text and not self._deleted:
            pieces.append(text)

    def _equation(self, element: _Element, pieces: list[Piece]) -> None:
        for one in element:
            name = local(one)
            if name == "script":
                script = "".join(str(piece) for piece in one.itertext()).strip()
                pieces.extend([Equation(script)] if script else [])
            elif name == "caption":
                pieces.append(Box(list(self.paragraphs(one))))

    def _field(self, element: _Element, pieces: list[Piece]) -> None:
        """What a field shows stands in the line; only memos keep text inside."""
        if element.get("type") == "MEMO":
            names = (one for one in element.iter() if one.get("name") == "Author")
            author = next((one.text or "" for one in names), "")
            pieces.append(Note("memo", list(self.paragraphs(element)), author))

    def _table(self, element: _Element) -> Table:
        cells: list[Cell] = []
        caption: list[Paragraph] = []
        rows = 0
        for one in element:
            if local(one) == "tr":
                cells.extend(self._cells(one, rows))
                rows += 1
            elif local(one) == "caption":
                caption += self.paragraphs(one)
        return Table(cells, caption)

    def _cells(self, row: _Element, index: int) -> Iterator[Cell]:
        column = 0
        for one in row:
            if local(one) != "tc":
                continue
            parts = {local(part): part for part in one}
            address, span = parts.get("cellAddr"), parts.get("cellSpan")
            column = number(address, "colAddr", column)
            columns = min(max(number(span, "colSpan", 1), 1), MAX_SPAN)
            yield Cell(
                number(address, "rowAddr", index),
                column,
                list(self.paragraphs(one)),
                min(max(number(span, "rowSpan", 1), 1), MAX_SPAN),
                columns,
            )
            column += columns


def _chosen(switch: _Element) -> _Element:
    """The branch for the newest program; they say the same."""
    return next((one for one in switch if local(one) in ("case", "default")), switch)


def _written(element: _Element, name: str) -> Iterator[str]:
    """Text that an element holds in its attributes or in children of its own."""
    if name == "autoNum" and element.get("numType") in _COUNTED:
        yield str(element.get("num", ""))
    elif name == "compose":
        yield str(element.get("composeText", ""))
    elif name == "textart":
        yield str(element.get("text", ""))
    elif name in _BUTTONS:
        yield f" {element.get('caption', '')} "
    elif name == "dutmal":
        parts = {local(part): part.text or "" for part in element}
        main, ruby = parts.get("mainText", ""), parts.get("subText", "")
        yield f"{main}({ruby})" if ruby else main
    elif name == "edit":
        yield from (part.text or "" for part in element if local(part) == "text")
