"""Paragraphs of a Hangul document as sections: headings, lists, tables, notes, equations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from seoga.models import Section, SectionKind
from seoga_extraction.format import Outline, one_line, pipes
from seoga_extraction.formats._hancom.grid import flat, is_frame, rows_of, shows
from seoga_extraction.formats._hancom.lists import Counters
from seoga_extraction.formats._hancom.model import (
    Box,
    Cell,
    Equation,
    Note,
    Paragraph,
    Styles,
    Table,
)

# Outline levels are also used for running text: what is longer than this is no heading.
MAX_HEADING = 200
_HEADING = re.compile(r"^(?:개요|제목|outline|heading)\s*(\d{1,2})$", re.IGNORECASE)
_NAMED = {"제목": 1, "title": 1, "대제목": 1, "중제목": 2, "소제목": 3}
_WORD = re.compile(r"[^\W_]")
# A label that is set down a narrow cell, each letter a paragraph, is a word.
_SET_DOWN = re.compile(r"^[\u3400-\u9fff가-힣](?:\n[\u3400-\u9fff가-힣]){2,}$", re.MULTILINE)
_LETTERS = re.compile(r"[^\W\d_]{2}")
# How far a title is looked for when the properties have none worth the name.
TITLE_WITHIN = 50
_COMMENTS = frozenset(["memo", "hidden"])


@dataclass(slots=True)
class _Line:
    """One paragraph taken apart: its text, the blocks around it, its equations and notes."""

    text: list[str] = field(default_factory=list)
    before: list[Table | Box] = field(default_factory=list)
    after: list[Table | Box] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)
    notes: list[tuple[str, Note]] = field(default_factory=list)


class Story:
    """Turns paragraphs into sections. Numbers of lists and notes run through all calls."""

    def __init__(self, styles: Styles) -> None:
        self._outline = Outline()
        self._counters = Counters(styles)
        self._items: list[str] = []
        self._item_scripts: list[str] = []
        self._item_notes: list[tuple[str, Note]] = []
        self._margins: dict[str, Section] = {}
        self._noted = {"footnote": 0, "endnote": 0}

    def sections(self, blocks: Iterable[Paragraph]) -> Iterator[Section]:
        """The sections of one story; notes follow the block that they belong to."""
        for paragraph in blocks:
            yield from self._paragraph(paragraph)
        yield from self._flush()

    def margins(self) -> Iterator[Section]:
        """Headers and footers, each text once: asked for when the body is done."""
        yield from self._margins.values()

    def _paragraph(self, paragraph: Paragraph) -> Iterator[Section]:
        line = self._taken_apart(paragraph)
        text = "".join(line.text).strip()
        if line.before:
            yield from self._flush()
        for block in line.before:
            yield from self._block(block)
        if text:
            yield from self._text(paragraph, text, line)
        elif line.notes:
            yield from self._flush()
            yield from self._notes(line.notes)
        if line.after:
            yield from self._flush()
        for block in line.after:
            yield from self._block(block)

    def _text(self, paragraph: Paragraph, text: str, line: _Line) -> Iterator[Section]:
        mark = self._counters.mark(paragraph.head)
        level = _level(paragraph) if len(text) <= MAX_HEADING else 0
        if level:
            yield from self._flush()
            title = one_line(f"{mark} {text}" if mark not in ("", "-") else text)
            yield _with(self._outline.heading(level, title), line.scripts)
        elif mark:
            depth = min(paragraph.head.level, 8)
            self._items.append(f"{'  ' * depth}{mark} {text.replace(chr(10), ' ')}")
            self._item_scripts += line.scripts
            self._item_notes += line.notes
            return
        else:
            yield from self._flush()
            yield _with(Section(text, heading_path=self._outline.path), line.scripts)
        yield from self._notes(line.notes)

    def _flush(self) -> Iterator[Section]:
        if not self._items:
            return
        text = "\n".join(self._items)
        scripts, notes = self._item_scripts, self._item_notes
        self._items, self._item_scripts, self._item_notes = [], [], []
        yield _with(Section(text, SectionKind.LIST, self._outline.path), scripts)
        yield from self._notes(notes)

    def _block(self, block: Table | Box) -> Iterator[Section]:
        if isinstance(block, Box):
            yield from self.sections(block.blocks)
            return
        yield from self.sections(block.caption)
        if is_frame(block.cells):
            yield from self._frame(block.cells)
            return
        inside = _Line()
        text = pipes(self._rows(block, inside))
        if text.strip("| -\n"):
            yield _with(Section(text, SectionKind.TABLE, self._outline.path), inside.scripts)
        yield from self._notes(inside.notes)

    def _frame(self, cells: Sequence[Cell]) -> Iterator[Section]:
        """Cells that only lay out a page: their blocks, or one line where they are labels."""
        inside = _Line()
        if len({cell.row for cell in cells}) == 1 < len(cells):
            text = " ".join(filter(None, (self._inline(cell.blocks, inside) for cell in cells)))
            if text:
                yield _with(Section(text, heading_path=self._outline.path), inside.scripts)
            yield from self._notes(inside.notes)
            return
        for cell in cells:
            yield from self.sections(cell.blocks)

    def _rows(self, table: Table, inside: _Line) -> list[list[str]]:
        def text(cell: Cell) -> str:
            return self._inline(cell.blocks, inside)

        return rows_of(table.cells, text)

    def _inline(self, blocks: Iterable[Paragraph], inside: _Line) -> str:
        """Paragraphs on one line; equations and notes are added to `inside`."""
        parts: list[str] = []
        for paragraph in blocks:
            line = self._taken_apart(paragraph)
            inside.scripts += line.scripts
            inside.notes += line.notes
            parts += (self._inline_block(block, inside) for block in line.before)
            text = "".join(line.text).strip()
            mark = self._counters.mark(paragraph.head) if text else ""
            parts.append(f"{mark} {text}" if mark else text)
            parts += (self._inline_block(block, inside) for block in line.after)
        whole = "\n".join(part for part in parts if part)
        return one_line(_SET_DOWN.sub(lambda run: run[0].replace("\n", ""), whole))

    def _inline_block(self, block: Table | Box, inside: _Line) -> str:
        if isinstance(block, Box):
            return self._inline(block.blocks, inside)
        caption = self._inline(block.caption, inside)
        return f"{caption} {flat(self._rows(block, inside))}".strip()

    def _taken_apart(self, paragraph: Paragraph) -> _Line:
        line = _Line()
        written = False
        for piece in paragraph.pieces:
            if isinstance(piece, str):
                line.text.append(piece)
                written = written or not piece.isspace()
            elif isinstance(piece, Equation):
                line.text.append(_math(piece.script))
                line.scripts.append(piece.script)
                written = True
            elif isinstance(piece, Note):
                self._note(piece, line)
            else:
                # A sentence stays whole: blocks inside it follow it.
                (line.after if written else line.before).append(piece)
        return line

    def _note(self, note: Note, line: _Line) -> None:
        if note.kind in ("header", "footer"):
            self._margin(note)
            return
        label = ""
        if note.kind in self._noted:
            if not any(map(shows, note.blocks)):
                return
            self._noted[note.kind] += 1
            # Both kinds count from 1; Markdown has one name space for them.
            label = f"[^{'e' if note.kind == 'endnote' else ''}{self._noted[note.kind]}]"
            line.text.append(label)
        line.notes.append((label, note))

    def _margin(self, note: Note) -> None:
        inside = _Line()
        text = self._inline(note.blocks, inside)
        # A page number alone says nothing.
        if _WORD.search(text):
            section = Section(text, SectionKind.NOTE, meta={"note": note.kind})
            self._margins.setdefault(text, _with(section, inside.scripts))

    def _notes(self, notes: Iterable[tuple[str, Note]]) -> Iterator[Section]:
        waiting = list(notes)
        while waiting:
            label, note = waiting.pop(0)
            inside = _Line()
            text = self._inline(note.blocks, inside)
            if text:
                kind = SectionKind.COMMENT if note.kind in _COMMENTS else SectionKind.NOTE
                meta = {"note": note.kind} | ({"author": note.author} if note.author else {})
                shown = f"{label}: {text}" if label else text
                section = Section(shown, kind, self._outline.path, meta=meta)
                yield _with(section, inside.scripts)
            waiting += inside.notes


def title_of(claimed: str, first: Iterable[Section]) -> str:
    """The title by the properties, else the first heading; files often carry "1" as a title."""
    headings = (one.heading_path[-1] for one in first if one.kind is SectionKind.HEADING)
    return claimed if _LETTERS.search(claimed) else next(headings, "")


def _level(paragraph: Paragraph) -> int:
    """1 and deeper for a heading, 0 for none: by its outline, else by the name of its style."""
    if paragraph.head.kind == "outline":
        return paragraph.head.level + 1
    if paragraph.head.kind:
        return 0
    name = paragraph.style.strip().lower()
    if found := _HEADING.match(name):
        return int(found[1])
    return _NAMED.get(name, 0)


def _math(script: str) -> str:
    from seoga_extraction.math.hancom import hancom_to_latex

    return f"[math: {hancom_to_latex(script)}]"


def _with(section: Section, scripts: list[str]) -> Section:
    """The section with the raw scripts of its equations."""
    if not scripts:
        return section
    meta: dict[str, Any] = {**section.meta, "math": list(scripts)}
    return Section(
        section.text, section.kind, section.heading_path, section.level, section.place, meta
    )
