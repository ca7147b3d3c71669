"""The body of a Word document as sections, in the order it stands; notes follow their block."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from seoga.errors import ExtractionFailed
from seoga.models import Section, SectionKind
from seoga_extraction.format import Input, Outline, fenced, one_line, pipes, under
from seoga_extraction.formats.docx.line import SILENT, Line, Reader
from seoga_extraction.formats.docx.lists import MAX_LEVEL, Counters
from seoga_extraction.formats.docx.notes import Notes
from seoga_extraction.formats.docx.package import Package
from seoga_extraction.formats.docx.table import Row, filled, grid, nested
from seoga_extraction.ooxml.charts import read_chart
from seoga_extraction.ooxml.drawing import plain_text
from seoga_extraction.ooxml.package import attribute, child, descendants, local, number, related

if TYPE_CHECKING:
    from lxml.etree import _Element

Hung = list[tuple[str, str]]

# Heading styles are also used for running text: what is longer than this is no heading.
MAX_HEADING = 200
_LABELS = re.compile(r"\[\^e?\d+\]")


class Body:
    """Turns the trees of one document into sections. `title` is known when they have been read."""

    def __init__(self, package: Package, source: Input) -> None:
        self._package = package
        self._source = source
        self._outline = Outline()
        self._counters = Counters(package.numbering)
        self._notes = Notes(package)
        self._held: list[str] = []
        self._held_kind = SectionKind.LIST
        self._held_notes: Hung = []
        # What stood before a paragraph mark that is deleted belongs to the next paragraph.
        self._carried = Line()
        self.title = ""

    def sections(self, root: _Element) -> Iterator[Section]:
        """All sections of a story (the element that holds its blocks)."""
        reader = Reader(root, self._notes.label)
        for block in blocks(root):
            name = local(block)
            if name == "p":
                yield from self._paragraph(block, reader)
                continue
            yield from self._flush()
            yield from self._table(block) if name == "tbl" else self._chunk(block)
        yield from self._carry_out()
        yield from self._flush()

    def flat(self, root: _Element, hung: Hung) -> str:
        """A cell or a note on one line; the notes that hang on it are added to `hung`."""
        reader = Reader(root, self._notes.label)
        parts: list[str] = []
        for block in blocks(root):
            if local(block) == "tbl":
                parts.append(nested(self._rows(grid(block), hung)))
            elif local(block) == "p":
                line = reader.line(block)
                text = line.text
                mark, _ = self._mark(child(block, "pPr")) if text else ("", 0)
                parts.append(f"{mark} {text}" if mark else text)
                parts += [self.flat(box, hung) for box in line.boxes]
                hung += line.hung
        return one_line(" ".join(part for part in parts if part))

    def _paragraph(self, paragraph: _Element, reader: Reader) -> Iterator[Section]:
        line = reader.line(paragraph)
        properties = child(paragraph, "pPr")
        if self._carried.parts or self._carried.hung:
            line.parts[:0], line.hung[:0] = self._carried.parts, self._carried.hung
            self._carried = Line()
        marks = child(properties, "rPr")
        if child(marks, "del") is not None or child(marks, "moveFrom") is not None:
            self._carried = Line(line.parts, [], line.hung)
        else:
            yield from self._shown(line, properties)
        yield from self._beside(line)

    def _carry_out(self) -> Iterator[Section]:
        line, self._carried = self._carried, Line()
        if line.text:
            yield from self._shown(line, None)

    def _shown(self, line: Line, properties: _Element | None) -> Iterator[Section]:
        text = line.text
        style = self._style(properties)
        level = self._level(properties, style) if 0 < len(text) <= MAX_HEADING else 0
        mark, depth = self._mark(properties) if text else ("", 0)
        if level:
            yield from self._flush()
            title = one_line(_LABELS.sub("", f"{mark} {text}" if mark not in ("", "-") else text))
            self.title = self.title or title
            yield self._outline.heading(level, title)
        elif text and (mark or self._package.contents_level(style)):
            depth = depth if mark else self._package.contents_level(style) - 1
            yield from self._hold(SectionKind.LIST, f"{'  ' * depth}{mark} {one_line(text)}", line)
            return
        elif text and self._package.is_code(style):
            yield from self._hold(SectionKind.CODE, "".join(line.parts).rstrip(), line)
            return
        elif text:
            yield from self._flush()
            yield Section(text, heading_path=self._outline.path)
        elif line.hung:
            yield from self._flush()
        yield from self._hang(line.hung)

    def _hold(self, kind: SectionKind, text: str, line: Line) -> Iterator[Section]:
        if kind is not self._held_kind:
            yield from self._flush()
        self._held_kind = kind
        self._held.append(text if kind is SectionKind.CODE else text.rstrip())
        self._held_notes += line.hung

    def _flush(self) -> Iterator[Section]:
        if not self._held:
            return
        text, notes = "\n".join(self._held), self._held_notes
        self._held, self._held_notes = [], []
        if self._held_kind is SectionKind.CODE:
            text = fenced(text)
        yield Section(text, self._held_kind, self._outline.path)
        yield from self._hang(notes)

    def _hang(self, hung: Hung) -> Iterator[Section]:
        """Notes and comments, and the notes that hang on them."""
        waiting = list(hung)
        while waiting:
            kind, own = waiting.pop(0)
            if (element := self._notes.take(kind, own)) is None:
                continue
            text = self.flat(element, waiting)
            section = self._notes.section(kind, element, text, self._outline.path)
            if section is not None:
                yield section

    def _beside(self, line: Line) -> Iterator[Section]:
        """What stands beside the text of a paragraph: boxes, charts, diagrams."""
        if line.boxes or line.charts or line.diagrams:
            yield from self._flush()
        for box in line.boxes:
            yield from self.sections(box)
        for relation in line.charts:
            chart = read_chart(self._package.related(relation))
            if chart.left:
                self._source.cut(chart.left)
            if caption := chart.caption():
                yield Section(f"Chart: {caption}", heading_path=self._outline.path)
            if rows := chart.rows():
                yield Section(pipes(rows), SectionKind.TABLE, self._outline.path)
        for relation in line.diagrams:
            points = descendants(self._package.related(relation), "pt")
            texts = (one_line(plain_text(point)) for point in points)
            if text := "\n".join(f"- {one}" for one in texts if one):
                yield Section(text, SectionKind.LIST, self._outline.path)

    def _style(self, properties: _Element | None) -> str:
        return attribute(child(properties, "pStyle"), "val")

    def _level(self, properties: _Element | None, style: str) -> int:
        outline = attribute(child(properties, "outlineLvl"), "val")
        if outline:
            level = number(outline, 9)
            return level + 1 if 0 <= level < 9 else 0
        if self._package.is_title(style):
            return 1
        return self._package.heading_level(style)

    def _mark(self, properties: _Element | None) -> tuple[str, int]:
        """The list mark of a paragraph and its depth; its own numbering wins over its style's."""
        list_id = attribute(child(properties, "numPr", "numId"), "val")
        level = attribute(child(properties, "numPr", "ilvl"), "val")
        for one in self._package.chain(self._style(properties)):
            if not list_id and one.num_id:
                list_id = one.num_id
                if not level and not one.num_level:
                    level = str(self._package.numbering.level_of_style(list_id, one.id))
            level = level or one.num_level
        if list_id in ("", "0"):
            return "", 0
        depth = min(max(number(level), 0), MAX_LEVEL)
        return self._counters.mark(list_id, depth), depth

    def _table(self, table: _Element) -> Iterator[Section]:
        yield from self._carry_out()
        rows = grid(table)
        if all(len(row) == 1 for row in rows):
            # Korean forms put whole pages into tables of one column: blocks, not a table.
            for _, cell in (pair for row in rows for pair in row):
                if cell is not None:
                    yield from self.sections(cell)
            return
        hung: Hung = []
        text = pipes(self._rows(rows, hung))
        if text.strip("| -\n"):
            yield Section(text, SectionKind.TABLE, self._outline.path)
        yield from self._hang(hung)

    def _rows(self, rows: list[Row], hung: Hung) -> list[list[str]]:
        return filled(rows, lambda cell: self.flat(cell, hung))

    def _chunk(self, element: _Element) -> Iterator[Section]:
        """A document of another format put in whole (HTML by converters); a broken one is left."""
        name, data = self._package.bytes_of(related(element))
        path = self._outline.path
        try:
            for event in self._source.inner(name, data) if data else ():
                if isinstance(event, Section):
                    yield under(event, path, len(path))
        except ExtractionFailed:
            return


def blocks(element: _Element) -> Iterator[_Element]:
    """Paragraphs, tables and chunks below an element, through content controls and wrappers."""
    for one in element:
        name = local(one)
        if name in ("p", "tbl", "altChunk"):
            yield one
        elif name and name not in SILENT:
            yield from blocks(one)
