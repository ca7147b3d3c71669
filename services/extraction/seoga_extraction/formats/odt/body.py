"""The body of an OpenDocument text as sections in order; notes follow the block they hang on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from seoga.models import Section, SectionKind
from seoga_extraction.format import Outline, fenced, one_line, pipes
from seoga_extraction.formats.odt.line import Line, read_line
from seoga_extraction.formats.odt.lists import Counters
from seoga_extraction.formats.odt.package import Package, attribute, descendants, local, number

if TYPE_CHECKING:
    from lxml.etree import _Element

# Deleted text, forms and declarations: nothing of the body.
_SILENT = frozenset(
    (
        "tracked-changes",
        "forms",
        "sequence-decls",
        "variable-decls",
        "user-field-decls",
        "dde-source",
    )
)
_LABELS = re.compile(r"\[\^e?\d+\]")
MAX_HEADING = 200
MAX_SPAN = 200
# Characters that one cell or row may become by being repeated.
MAX_REPEATED = 20_000


@dataclass(slots=True)
class _Held:
    """List items, or lines of code, until something else comes."""

    kind: SectionKind = SectionKind.LIST
    items: list[str] = field(default_factory=list)
    notes: list[_Element] = field(default_factory=list)


class Body:
    """Turns a tree into sections. `title` is known when they have been read."""

    def __init__(self, package: Package, cut: Callable[[str], None]) -> None:
        self._package = package
        self._cut = cut
        self._outline = Outline()
        self._counters = Counters(package.lists)
        self._held = _Held()
        self._labels: dict[_Element, str] = {}
        self._counts = {"footnote": 0, "endnote": 0}
        self.title = ""

    def sections(self, root: _Element) -> Iterator[Section]:
        """All sections of a flow."""
        for one in root:
            yield from self._block(one)
        yield from self._flush()

    def _block(self, element: _Element) -> Iterator[Section]:
        name = local(element)
        if name in ("p", "h"):
            yield from self._paragraph(element, name == "h")
        elif name == "list":
            yield from self._list(element, "", 1)
        elif name == "table":
            yield from self._flush()
            yield from self._table(element)
        elif name and name not in _SILENT:
            # Sections, indexes, frames.
            for one in element:
                yield from self._block(one)

    def _line(self, element: _Element) -> Line:
        return read_line(element, self._label, self._package.object_text)

    def _label(self, note: _Element) -> str:
        kind = attribute(note, "note-class") or "footnote"
        if note not in self._labels:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            self._labels[note] = f"[^{'e' if kind == 'endnote' else ''}{self._counts[kind]}]"
        return self._labels[note]

    def _paragraph(self, element: _Element, heading: bool) -> Iterator[Section]:
        line = self._line(element)
        text, style = line.text, attribute(element, "style-name")
        level = number(attribute(element, "outline-level"), 1) if heading else 0
        if not heading and self._package.is_title(style):
            level = 1
        if text and not heading and self._package.is_code(style):
            if self._held.kind is not SectionKind.CODE:
                yield from self._flush()
                self._held.kind = SectionKind.CODE
            self._held.items.append("".join(line.parts).rstrip())
            return
        if text or line.boxes or line.notes:
            yield from self._flush()
        if text and level and len(text) <= MAX_HEADING:
            mark = self._counters.heading(level) if heading else ""
            title = one_line(_LABELS.sub("", f"{mark} {text}" if mark else text))
            self.title = self.title or title
            yield self._outline.heading(level, title)
        elif text:
            yield Section(text, heading_path=self._outline.path)
        yield from self._notes(line.notes)
        for box in line.boxes:
            yield from self.sections(box)

    def _list(self, element: _Element, style: str, level: int) -> Iterator[Section]:
        if self._held.kind is not SectionKind.LIST:
            yield from self._flush()
        style = attribute(element, "style-name") or style
        continued = attribute(element, "continue-numbering") == "true"
        if level == 1 or not continued:
            self._counters.begin(
                style, level, continued or bool(attribute(element, "continue-list"))
            )
        for item in element:
            if local(item) in ("list-item", "list-header"):
                yield from self._item(item, style, level)

    def _item(self, item: _Element, style: str, level: int) -> Iterator[Section]:
        mark = ""
        if local(item) == "list-item":
            start = attribute(item, "start-value")
            mark = self._counters.mark(style, level, number(start, -1) if start else -1)
        for one in item:
            name = local(one)
            if name == "list":
                yield from self._list(one, style, level + 1)
            elif name == "h":
                # Numbered headings stand in lists in older files.
                yield from self._paragraph(one, True)
            elif name == "p":
                line = self._line(one)
                if line.text:
                    lead = f"{mark} " if mark else "  "
                    self._held.items.append(f"{'  ' * (level - 1)}{lead}{one_line(line.text)}")
                    mark = ""
                self._held.notes += line.notes
                for box in line.boxes:
                    yield from self.sections(box)
            else:
                yield from self._block(one)

    def _flush(self) -> Iterator[Section]:
        if not self._held.items:
            return
        held, self._held = self._held, _Held()
        text = "\n".join(held.items)
        if held.kind is SectionKind.CODE:
            text = fenced(text)
        yield Section(text, held.kind, self._outline.path)
        yield from self._notes(held.notes)

    def _table(self, element: _Element) -> Iterator[Section]:
        notes: list[_Element] = []
        rows = self._rows(element, notes)
        if rows and all(len(row) == 1 for row in rows):
            for cell in _cells_below(element):
                yield from self.sections(cell)
            return
        if any(any(row) for row in rows):
            yield Section(pipes(rows), SectionKind.TABLE, self._outline.path)
        yield from self._notes(notes)

    def _rows(self, table: _Element, notes: list[_Element]) -> list[list[str]]:
        """Merged cells: downwards repeated, sideways empty."""
        rows: list[list[str]] = []
        down: dict[int, tuple[int, str]] = {}
        for row in _rows_below(table):
            cells: list[str] = []
            for cell in row:
                if local(cell) == "covered-table-cell":
                    for _ in range(_repeat(cell, "number-columns-repeated")):
                        left, text = down.pop(len(cells), (0, ""))
                        if left > 1:
                            down[len(cells)] = (left - 1, text)
                        cells.append(text)
                elif local(cell) == "table-cell":
                    text = self.flat(cell, notes)
                    if (rest := _repeat(cell, "number-rows-spanned") - 1) > 0:
                        down[len(cells)] = (rest, text)
                    cells += [text] * self._times(cell, "number-columns-repeated", text)
            rows += [cells] * self._times(row, "number-rows-repeated", "".join(cells))
        return rows

    def _times(self, element: _Element, name: str, text: str) -> int:
        """How often a cell or a row with this text stands there, as far as it is read."""
        said = number(attribute(element, name), 1)
        # Rows without text are no table: they say nothing however many they are.
        most = max(1, min(MAX_SPAN, MAX_REPEATED // max(len(text), 1)))
        if name == "number-rows-repeated" and not text:
            return 1
        if text and said > most:
            what = "row" if name == "number-rows-repeated" else "cell"
            self._cut(f"A {what} of a table stands there {said:,} times; {most:,} are read.")
        return min(max(said, 1), most)

    def flat(self, root: _Element, notes: list[_Element]) -> str:
        """A cell or a note on one line; notes that hang on it are added to `notes`. It calls itself
        no deeper than the 256 elements that the XML may be deep."""
        parts: list[str] = []
        for one in root:
            name = local(one)
            if name in ("p", "h"):
                line = self._line(one)
                parts.append(line.text)
                parts += [self.flat(box, notes) for box in line.boxes]
                notes += line.notes
            elif name == "table":
                rows = (", ".join(cell for cell in row if cell) for row in self._rows(one, notes))
                parts.append("; ".join(row for row in rows if row))
            elif name in ("list-item", "list-header"):
                parts.append(f"- {self.flat(one, notes)}")
            elif name and name not in _SILENT:
                parts.append(self.flat(one, notes))
        return one_line(" ".join(part for part in parts if part))

    def _notes(self, notes: list[_Element]) -> Iterator[Section]:
        waiting = list(notes)
        while waiting:
            note = waiting.pop(0)
            if local(note) == "annotation":
                yield from self._comment(note)
                continue
            body = next(descendants(note, "note-body"), None)
            text = self.flat(body, waiting) if body is not None else ""
            if text:
                meta = {"note": attribute(note, "note-class") or "footnote"}
                shown = f"{self._label(note)}: {text}"
                yield Section(shown, SectionKind.NOTE, self._outline.path, meta=meta)

    def _comment(self, note: _Element) -> Iterator[Section]:
        author = next((one.text or "" for one in descendants(note, "creator")), "")
        date = next((one.text or "" for one in descendants(note, "date")), "")[:10]
        paragraphs = (self._line(one).text for one in descendants(note, "p"))
        text = one_line(" ".join(paragraphs))
        if text:
            by = (f" by {author}" if author else "") + (f", {date}" if date else "")
            meta = {"note": "comment", "author": author, "date": date}
            meta = {key: value for key, value in meta.items() if value}
            yield Section(
                f"Comment{by}: {text}", SectionKind.COMMENT, self._outline.path, meta=meta
            )

    def margins(self) -> Iterator[Section]:
        """Headers and footers, each text once; a page number alone says nothing."""
        told: set[str] = set()
        for role, part in self._package.margins():
            text = self.flat(part, [])
            if text not in told and re.search(r"[^\W\d_]", text):
                told.add(text)
                yield Section(text, SectionKind.NOTE, meta={"note": role})


def _rows_below(table: _Element) -> Iterator[_Element]:
    for one in table:
        name = local(one)
        if name == "table-row":
            yield one
        elif name in ("table-header-rows", "table-rows", "table-row-group"):
            yield from _rows_below(one)


def _cells_below(table: _Element) -> Iterator[_Element]:
    for row in _rows_below(table):
        for cell in row:
            if local(cell) == "table-cell":
                yield cell


def _repeat(cell: _Element, name: str) -> int:
    return min(max(number(attribute(cell, name), 1), 1), MAX_SPAN)
