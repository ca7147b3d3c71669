"""A Hangul document between its file and its sections: paragraphs of pieces, in reading order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Head:
    """What stands before a paragraph: `kind` is "", "outline", "number" or "bullet".

    `list_id` names the numbering (for an outline the one of its section), `level` counts from 0.
    """

    kind: str = ""
    list_id: int = 0
    level: int = 0


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a numbering: number shape (a name of `lists.SHAPES`), text with ^1, start."""

    shape: str = "DIGIT"
    text: str = ""
    start: int = 1


@dataclass(slots=True)
class Styles:
    """What paragraphs refer to by number: heads by shape, names by style, levels by numbering."""

    heads: dict[int, Head] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    levels: dict[int, dict[int, Level]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph: its pieces in order, the name of its style, its head."""

    pieces: Sequence[Piece]
    style: str = ""
    head: Head = Head()


@dataclass(frozen=True, slots=True)
class Equation:
    """An equation by its Hancom script."""

    script: str


@dataclass(frozen=True, slots=True)
class Box:
    """Text beside the line: a text box, the text of a shape, a caption."""

    blocks: Sequence[Paragraph]


@dataclass(frozen=True, slots=True)
class Note:
    """`kind` is "footnote", "endnote", "header", "footer", "memo" or "hidden"."""

    kind: str
    blocks: Sequence[Paragraph]
    author: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell by its place on the grid (from 0) and its spans (at least 1)."""

    row: int
    column: int
    blocks: Sequence[Paragraph]
    rows: int = 1
    columns: int = 1


@dataclass(frozen=True, slots=True)
class Table:
    """The cells of a table in reading order, and its caption."""

    cells: Sequence[Cell]
    caption: Sequence[Paragraph] = ()


Piece: TypeAlias = str | Equation | Box | Note | Table
