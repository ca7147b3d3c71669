"""The text of an RTF document as it grows: paragraphs, lists, tables, and what hangs on them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from seoga.models import Section, SectionKind
from seoga_extraction.format import Outline, one_line, pipes

MAX_HEADING = 200
# Marks that writers type before a tab, where lists should be.
_TYPED = re.compile(r"^(\(?\w{1,4}[.)]|[•–·▪◦●○■-])[ \xa0]*\t\s*")
_BULLET = re.compile(r"^[^\w\d]*$|^[o§]$")


@dataclass(slots=True)
class Look:
    """What the properties of a paragraph say: `level` of a heading, `mark` and `depth` of a list
    item, `nesting` in tables."""

    level: int = 0
    mark: str = ""
    depth: int = 0
    nesting: int = 0


@dataclass(slots=True)
class Note:
    """A footnote, endnote, comment, header or footer, read."""

    kind: str
    text: str
    label: str = ""
    author: str = ""


@dataclass(slots=True)
class Story:
    """One flow of text: the body, or what a note or a text box holds.

    `done` are its sections so far. An inner flow has no headings of its own.
    """

    outline: Outline
    kind: str = "body"
    author: str = ""
    done: list[Section] = field(default_factory=list)
    _text: list[str] = field(default_factory=list)
    _items: list[str] = field(default_factory=list)
    _rows: list[list[str]] = field(default_factory=list)
    _row: list[str] = field(default_factory=list)
    _cell: list[str] = field(default_factory=list)
    _inner: list[str] = field(default_factory=list)
    _inner_row: list[str] = field(default_factory=list)
    _inner_rows: list[str] = field(default_factory=list)
    # Of the paragraph that is open, then of the block (a list, a table) that is.
    _hung: list[Note | list[Section]] = field(default_factory=list)
    _waiting: list[Note | list[Section]] = field(default_factory=list)
    title: str = ""

    def add(self, text: str) -> None:
        """Text at the end of the paragraph."""
        self._text.append(text)

    def hang(self, note: Note) -> None:
        """A note at this place."""
        if note.text:
            self.add(note.label)
            self._hung.append(note)

    def box(self, story: Story) -> None:
        """A text box at this place: it follows the paragraph."""
        self._hung.append(story.close())

    def paragraph(self, look: Look) -> None:
        """Ends the paragraph."""
        text = "".join(self._text).strip()
        self._text = []
        mark = look.mark
        if not mark and (typed := _TYPED.match(text)):
            mark, text = typed.group(1), text[typed.end() :]
        mark = "-" if mark and _BULLET.match(mark) else mark
        if look.nesting:
            cell = self._inner if look.nesting > 1 else self._cell
            cell.append(f"{mark} {text}" if mark and text else text)
        elif text:
            self._end_table()
            self._outside(text, mark, look)
        self._waiting += self._hung
        self._hung = []
        if not look.nesting:
            self._beside()

    def _outside(self, text: str, mark: str, look: Look) -> None:
        if look.level and len(text) <= MAX_HEADING and self.kind == "body":
            self._end_list()
            title = one_line(f"{mark} {text}" if mark not in ("", "-") else text)
            self.title = self.title or title
            self.done.append(self.outline.heading(look.level, title))
        elif mark:
            self._items.append(f"{'  ' * look.depth}{mark} {one_line(text)}")
        else:
            self._end_list()
            self.done.append(Section(text, heading_path=self.outline.path))

    def cell(self, look: Look, nested: bool = False) -> None:
        """Ends a cell, or one of a table inside a cell."""
        look.nesting = 2 if nested else 1
        if "".join(self._text).strip():
            self.paragraph(look)
        if nested:
            self._inner_row.append(one_line(" ".join(self._inner)))
            self._inner = []
        else:
            inner = "; ".join(self._inner_rows)
            self._row.append(one_line(" ".join([*self._cell, inner])))
            self._inner_rows, self._cell = [], []
        self._text = []

    def row(self, goes_on: list[bool]) -> None:
        """Ends a row; `goes_on` says which cells continue the one above."""
        above = self._rows[-1] if self._rows else []
        for place, cell in enumerate(self._row):
            merged = place < len(goes_on) and goes_on[place] and place < len(above)
            if merged and not cell:
                self._row[place] = above[place]
        self._end_list()
        if any(self._row):
            self._rows.append(self._row)
        self._row = []

    def inner_row(self) -> None:
        """Ends a row of a table inside a cell."""
        self._inner_rows.append(", ".join(cell for cell in self._inner_row if cell))
        self._inner_row = []

    def close(self) -> list[Section]:
        """Ends what is open; all sections of this flow."""
        self.paragraph(Look())
        if self._cell or self._row:
            self._row.append(one_line(" ".join(self._cell)))
            self.row([])
        self._end_table()
        self._end_list()
        self._beside()
        return self.done

    @property
    def flat(self) -> str:
        """The whole flow on one line, when closed."""
        return one_line(" ".join(section.text for section in self.done))

    def _end_table(self) -> None:
        if not self._rows:
            return
        rows, self._rows = self._rows, []
        if all(len(row) == 1 for row in rows):
            self.done += [Section(row[0], heading_path=self.outline.path) for row in rows]
        else:
            self.done.append(Section(pipes(rows), SectionKind.TABLE, self.outline.path))
        self._beside()

    def _end_list(self) -> None:
        if self._items:
            text = "\n".join(self._items)
            self._items = []
            self.done.append(Section(text, SectionKind.LIST, self.outline.path))
            self._beside()

    def _beside(self) -> None:
        """Notes and boxes follow the block that they stand in."""
        if self._items or self._rows:
            return
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            self.done += [self._noted(one)] if isinstance(one, Note) else one

    def _noted(self, note: Note) -> Section:
        path = self.outline.path
        if note.kind == "comment":
            by = f" by {note.author}" if note.author else ""
            meta = {"note": "comment"} | ({"author": note.author} if note.author else {})
            return Section(f"Comment{by}: {note.text}", SectionKind.COMMENT, path, meta=meta)
        shown = f"{note.label}: {note.text}"
        return Section(shown, SectionKind.NOTE, path, meta={"note": note.kind})


def margins(notes: list[Note]) -> Iterator[Section]:
    """Headers and footers, each text once; a page number alone says nothing."""
    told: set[str] = set()
    for note in notes:
        if note.text not in told and re.search(r"[^\W\d_]", note.text):
            told.add(note.text)
            yield Section(note.text, SectionKind.NOTE, meta={"note": note.kind})
