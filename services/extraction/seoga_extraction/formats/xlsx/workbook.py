"""The parts of a workbook that its sheets share: names, strings, number formats."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from seoga_extraction.format import Archive, corrupt
from seoga_extraction.formats.xlsx.rows import MAX_CELL_CHARS, Cell
from seoga_extraction.formats.xlsx.strings import shared_strings
from seoga_extraction.ooxml.numbers import BUILT_IN, NumberFormat, general, number_format
from seoga_extraction.ooxml.package import (
    Relations,
    attribute,
    child,
    children,
    flag,
    number,
    related,
)

if TYPE_CHECKING:
    from lxml.etree import _Element

# A long text that a file repeats without end is how a small file becomes gigabytes: it is shown in
# full so many times, then by its beginning.
LONG_CHARS, LONG_TIMES, SHORT_CHARS = 1000, 20, 100
_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")
_BOOLEANS = {"1": "TRUE", "0": "FALSE", "true": "TRUE", "false": "FALSE"}


@dataclass(frozen=True, slots=True)
class SheetInfo:
    """One sheet as the workbook lists it; `part` is "" when the package does not have it."""

    name: str
    part: str
    hidden: bool
    role: str


class Workbook:
    """Raises ExtractionFailed (corrupt) for a package without a workbook part."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        main = Relations(archive, "").parts("officeDocument")
        self._part = main[0] if main else "xl/workbook.xml"
        root = archive.xml(self._part)
        if root is None:
            raise corrupt("The Excel file has no workbook part.")
        self._root = root
        self._relations = Relations(archive, self._part)
        self.date1904 = flag(child(root, "workbookPr"), "date1904")
        self._formats: dict[str, NumberFormat | None] = {}
        self._shown_long: Counter[int] = Counter()

    @cached_property
    def sheets(self) -> list[SheetInfo]:
        """All sheets in the order of their tabs."""
        return [
            SheetInfo(
                name=attribute(one, "name"),
                part=self._relations.part(related(one)),
                hidden=attribute(one, "state") in ("hidden", "veryHidden"),
                role=self._relations.role_of(related(one)),
            )
            for one in children(child(self._root, "sheets"), "sheet")
        ]

    def part(self, role: str) -> _Element | None:
        """The first part of a role that the workbook relates to."""
        parts = self._relations.parts(role)
        return self.archive.xml(parts[0]) if parts else None

    @cached_property
    def strings(self) -> list[str]:
        """The shared strings; empty where the file has none."""
        for part in self._relations.parts("sharedStrings"):
            if part in self.archive.names:
                return shared_strings(self.archive, part)
        return []

    @cached_property
    def persons(self) -> dict[str, str]:
        """Names of those who wrote threaded comments, by id."""
        people = self.part("person")
        return {
            attribute(one, "id"): attribute(one, "displayName")
            for one in children(people, "person")
        }

    @cached_property
    def _codes(self) -> list[str]:
        """The number format of each cell style, by its index."""
        styles = self.part("styles")
        own = {
            number(attribute(one, "numFmtId")): attribute(one, "formatCode")
            for one in children(child(styles, "numFmts"), "numFmt")
        }
        ids = (
            number(attribute(one, "numFmtId")) for one in children(child(styles, "cellXfs"), "xf")
        )
        return [own.get(one) or BUILT_IN.get(one, "") for one in ids]

    def _format(self, style: str) -> NumberFormat | None:
        if style not in self._formats:
            index = number(style, -1)
            code = self._codes[index] if 0 <= index < len(self._codes) else ""
            self._formats[style] = number_format(code, self.date1904) if code else None
        return self._formats[style]

    def show(self, cell: Cell) -> str:
        """The text of a cell as the program shows it. A formula without a result shows itself."""
        kind, style, value, formula = cell
        if not value:
            return f"={formula}" if formula else ""
        if kind == "n":
            return self._number(value, style)
        return _SHOWN.get(kind, Workbook._plain)(self, value, style)

    def _number(self, value: str, style: str) -> str:
        try:
            amount = float(value)
        except ValueError:
            return value
        shown = self._format(style)
        return general(amount) if shown is None else shown.number(amount)

    def _shared(self, value: str, style: str) -> str:
        index = number(value, -1)
        if not 0 <= index < len(self.strings):
            return ""
        text = self.strings[index]
        if len(text) > LONG_CHARS:
            self._shown_long[index] += 1
            if self._shown_long[index] > LONG_TIMES:
                return f"{text[:SHORT_CHARS]}…"
        return self._plain(text, style)

    def _plain(self, value: str, style: str) -> str:
        value = unescaped(value[:MAX_CELL_CHARS])
        shown = self._format(style)
        return value if shown is None or not shown.changes_text else shown.text(value)

    def _boolean(self, value: str, _style: str) -> str:
        return _BOOLEANS.get(value, value)

    def _day(self, value: str, _style: str) -> str:
        return value.replace("T", " ").removesuffix(" 00:00:00")


_SHOWN: dict[str, Callable[[Workbook, str, str], str]] = {
    "s": Workbook._shared,
    "b": Workbook._boolean,
    "d": Workbook._day,
}


def unescaped(text: str) -> str:
    """`_x000D_` and its like as the characters they stand for (ECMA-376 part 1, 22.9.2.19)."""
    return _ESCAPE.sub(_character, text) if "_x" in text else text


def _character(found: re.Match[str]) -> str:
    code = int(found[1], 16)
    if code < 32:
        return " "
    return found[0] if 0xD800 <= code < 0xE000 else chr(code)
