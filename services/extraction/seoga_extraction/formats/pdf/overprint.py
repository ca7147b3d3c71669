"""Lines as they are seen: drawn twice to look bold they are one, letters set wide a word. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from seoga_extraction.formats.pdf.tables import Word
from seoga_extraction.layout import Line

# Of the size of its letters: a line this near to one of the same text is its shadow.
SHADOW = 0.15
# A gap between two letters that is no gap between two cells, and letters that make a word.
WIDE = 1.5
FEWEST = 4
# A gap so many times the usual one holds a blank.
BLANK = 1.6


def seen(lines: Sequence[Line]) -> list[Line]:
    """The lines without shadows, and with their letters joined."""
    shown = list(lines)
    if len({line.text for line in shown}) < len(shown):
        shown = _without_shadows(shown)
    if sum([len(line.text) == 1 for line in shown]) >= FEWEST:
        shown = _spelled(shown)
    return shown


def once(words: Sequence[Word]) -> list[Word]:
    """The words without shadows."""
    kept: dict[str, list[Word]] = {}
    out: list[Word] = []
    for word in words:
        before = kept.setdefault(word.text, [])
        near = SHADOW * (word.y1 - word.y0)
        if not any(_is_near(word, other, near) for other in before):
            before.append(word)
            out.append(word)
    return out


def _without_shadows(lines: Sequence[Line]) -> list[Line]:
    kept: dict[str, list[Line]] = {}
    out: list[Line] = []
    for line in lines:
        before = kept.setdefault(line.text, [])
        if not any(_is_near(line, other, SHADOW * line.size) for other in before):
            before.append(line)
            out.append(line)
    return out


def _is_near(one: Line | Word, other: Line | Word, near: float) -> bool:
    return abs(one.x0 - other.x0) <= near and abs(one.y0 - other.y0) <= near


def _spelled(lines: Sequence[Line]) -> list[Line]:
    out: list[Line] = []
    word: list[Line] = []
    for line in lines:
        if word and not _follows(word[-1], line):
            out += _joined(word)
            word = []
        if len(line.text) == 1 and line.text.isalpha():
            word.append(line)
        else:
            out.append(line)
    return out + _joined(word)


def _follows(before: Line, line: Line) -> bool:
    level = abs(before.y1 - line.y1) < 1 and before.size == line.size
    letter = len(line.text) == 1 and line.text.isalpha()
    # A blank may stand between: its own line was empty.
    return level and letter and 0 <= line.x0 - before.x1 <= 2 * WIDE * line.size


def _joined(word: list[Line]) -> list[Line]:
    """The letters as one line, where they are a word and set evenly."""
    gaps = [after.x0 - before.x1 for before, after in pairwise(word)]
    usual = median(gaps) if gaps else 0.0
    if len(word) < FEWEST or usual > WIDE * word[0].size:
        return word
    text = word[0].text
    for gap, line in zip(gaps, word[1:], strict=True):
        text += (" " if gap > BLANK * usual + 1 else "") + line.text
    return [word[0]._replace(x1=word[-1].x1, text=text)]
