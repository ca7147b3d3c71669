"""The Markdown that all formats produce: headings with their path, pipe tables, fences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from seoga.models import Place, Section, SectionKind

_TICKS = re.compile(r"`{3,}")


def one_line(text: str) -> str:
    """`text` with every run of white space as one blank."""
    return " ".join(text.split())


_NOWHERE = Place()


class Outline:
    """The headings above the current position, outermost first."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    @property
    def path(self) -> tuple[str, ...]:
        """The titles of the open headings."""
        return tuple(title for _, title in self._open)

    def heading(self, level: int, title: str, place: Place = _NOWHERE, text: str = "") -> Section:
        """Opens a heading and returns its section; a deeper or equal one is closed by it.

        `level` is cut to 1..6; `text` replaces the title after the marks where markup is kept.
        """
        level = min(max(level, 1), 6)
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        self._open.append((level, title))
        marked = f"{'#' * level} {text or title}"
        return Section(marked, SectionKind.HEADING, self.path, level, place)


def pipes(rows: Sequence[Sequence[str]]) -> str:
    """A pipe table whose first row is its header; short rows are filled up, pipes escaped."""
    width = max((len(row) for row in rows), default=0)
    if not width:
        return ""
    lines = [_row(row, width) for row in rows]
    lines.insert(1, "|" + " --- |" * width)
    return "\n".join(lines)


def _row(cells: Sequence[str], width: int) -> str:
    shown = [one_line(cell).replace("|", "\\|") for cell in cells]
    shown += [""] * (width - len(shown))
    return "| " + " | ".join(shown) + " |"


def fenced(code: str, language: str = "") -> str:
    """A code fence longer than any run of back-ticks inside."""
    longest = max((len(run) for run in _TICKS.findall(code)), default=2)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{code}\n{fence}"


def under(section: Section, path: tuple[str, ...], depth: int) -> Section:
    """A section of an inner file as one of the outer: below the headings `path`, levels down by
    `depth` (at most to 6)."""
    text, level = section.text, section.level
    if level:
        level = min(level + depth, 6)
        text = f"{'#' * level} {text.lstrip('#').lstrip()}"
    return replace(section, text=text, level=level, heading_path=(*path, *section.heading_path))
