"""The sections of an HWP 5 document as paragraphs: text with control characters, controls."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import replace

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
from seoga_extraction.formats.hwp.records import Record, Tag, trees

# Control characters are one or eight units long (chapter 4.3.2, table 6 of the format).
_SIGNS = {9: "\t", 10: "\n", 24: "-", 30: " ", 31: " "}
_SINGLE = frozenset([0, 10, 13, 24, 25, 26, 27, 28, 29, 30, 31])
_EXTENDED = frozenset([1, 2, 3, 11, 12, 14, 15, 16, 17, 18, 21, 22, 23])
_UNITS = 8
_NOTES = {"head": "header", "foot": "footer", "fn  ": "footnote", "en  ": "endnote"}
_NOTES["tcmt"] = "hidden"
# Numbers of pictures, tables and equations are part of captions; those of pages and notes not.
_COUNTED = frozenset([3, 4, 5])
_CAPTION = re.compile(r"Caption:wstring:(\d+):")
_TEXTART_AT = 32
MAX_SPAN = 10_000


class Body:
    """Reads the sections of one document. `chart` gives the table of an embedded object."""

    def __init__(self, styles: Styles, chart: Callable[[int], Table | None]) -> None:
        self._styles = styles
        self._chart = chart
        self._outline = 0

    def paragraphs(self, section: bytes) -> Iterator[Paragraph]:
        """The paragraphs of a section stream; memos come last, as they lie."""
        for record in trees(section):
            if record.tag == Tag.LIST_HEADER:
                # Master pages lie behind the body: background, not text.
                return
            if record.tag == Tag.PARA_HEADER:
                yield self._paragraph(record)

    def _paragraph(self, record: Record) -> Paragraph:
        controls = record.of(Tag.CTRL_HEADER)
        pieces: list[Piece] = []
        for text in record.of(Tag.PARA_TEXT):
            for part in _parts(text.data):
                if part is None:
                    # Controls stand in the order of their characters.
                    pieces.extend(self._control(next(controls, None)))
                else:
                    pieces.append(part)
        for control in controls:
            pieces.extend(self._control(control))
        pieces.extend(self._memos(record))
        head = self._styles.heads.get(record.word(8), Head())
        if head.kind == "outline":
            head = replace(head, list_id=self._outline)
        style = self._styles.names.get(record.data[10], "") if len(record.data) > 10 else ""
        return Paragraph(pieces, style, head)

    def _control(self, control: Record | None) -> Iterator[Piece]:
        if control is None:
            return
        name = control.data[3::-1].decode("latin-1")
        if name == "secd":
            self._outline = control.word(18)
        elif name == "tbl ":
            yield self._table(control)
        elif name in _NOTES:
            yield Note(_NOTES[name], self._inside(control))
        elif name in ("gso ", "eqed", "form"):
            yield from self._object(control)
        elif name == "atno" and control.long(4) & 0xF in _COUNTED:
            yield str(control.word(8))
        elif name == "tcps":
            yield control.text(4)[0]
        elif name == "tdut":
            main, after = control.text(4)
            ruby, _ = control.text(after)
            yield f"{main}({ruby})" if ruby else main

    def _lists(self, parent: Record) -> Iterator[tuple[Record, list[Paragraph], bool]]:
        """List headers with their paragraphs, and whether the table record stood before them."""
        header: Record | None = None
        found: list[Paragraph] = []
        behind = False
        for one in parent.below:
            if one.tag == Tag.PARA_HEADER:
                found.append(self._paragraph(one))
            elif one.tag in (Tag.LIST_HEADER, Tag.TABLE):
                if header is not None:
                    yield header, found, behind
                header, found = (one, []) if one.tag == Tag.LIST_HEADER else (None, [])
                behind = behind or one.tag == Tag.TABLE
        if header is not None:
            yield header, found, behind

    def _inside(self, parent: Record) -> list[Paragraph]:
        return [paragraph for _, found, _ in self._lists(parent) for paragraph in found]

    def _table(self, control: Record) -> Table:
        cells: list[Cell] = []
        caption: list[Paragraph] = []
        for header, found, behind in self._lists(control):
            if behind:
                cells.append(
                    Cell(
                        header.word(10),
                        header.word(8),
                        found,
                        min(max(header.word(14), 1), MAX_SPAN),
                        min(max(header.word(12), 1), MAX_SPAN),
                    )
                )
            else:
                caption += found
        return Table(cells, caption)

    def _object(self, record: Record) -> Iterator[Piece]:
        """Text boxes, groups, equations, charts and form fields; captions follow what they name."""
        for one in record.below:
            if one.tag == Tag.EQEDIT:
                script = one.text(4)[0].strip("\x00 ")
                yield from [Equation(script)] if script else []
            elif one.tag == Tag.SHAPE_COMPONENT:
                yield from self._object(one)
            elif one.tag == Tag.TEXTART:
                yield one.text(_TEXTART_AT)[0]
            elif one.tag == Tag.FORM_OBJECT:
                yield _caption(one.text(12)[0])
            elif one.tag == Tag.OLE:
                table = self._chart(one.word(12))
                yield from [table] if table is not None else []
        inside = self._inside(record)
        yield from [Box(inside)] if inside else []

    def _memos(self, record: Record) -> Iterator[Note]:
        """Memos lie behind the last paragraph: a memo record, then a list; master pages as well."""
        memo = False
        found: list[Paragraph] = []
        for one in record.below:
            if one.tag == Tag.MEMO_LIST:
                yield from [Note("memo", found)] if found else []
                memo, found = True, self._inside(one)
            elif one.tag == Tag.LIST_HEADER and found:
                yield Note("memo", found)
                memo, found = False, []
            elif one.tag == Tag.PARA_HEADER and memo:
                found.append(self._paragraph(one))
        yield from [Note("memo", found)] if found else []


def _parts(data: bytes) -> Iterator[str | None]:
    """Text in order; None where a control stands."""
    units = struct.unpack(f"<{len(data) // 2}H", data[: len(data) // 2 * 2])
    start = at = 0
    while at < len(units):
        unit = units[at]
        if unit > 31:
            at += 1
            continue
        if start < at:
            yield data[2 * start : 2 * at].decode("utf-16-le", "replace")
        if unit in _SIGNS:
            yield _SIGNS[unit]
        elif unit in _EXTENDED:
            yield None
        at += 1 if unit in _SINGLE else _UNITS
        start = at
    if start < len(units):
        yield data[2 * start :].decode("utf-16-le", "replace")


def _caption(properties: str) -> str:
    """The caption of a button among the properties of a form field."""
    found = _CAPTION.search(properties)
    return f" {properties[found.end() : found.end() + int(found[1])]} " if found else ""
