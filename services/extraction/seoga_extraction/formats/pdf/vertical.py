"""Text that runs down the page, letter under letter, its columns from right to left. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from statistics import median, median_low
from typing import TypeVar

from seoga_extraction.formats.pdf.tables import Word
from seoga_extraction.layout import Line, paragraphs, turned

DOWN = (0.0, 1.0)
FEWEST = 3
# From a letter to the one below it, times its height: as letters of a word are set (more is rows
# of a table), and the most that a gap between words may have.
PITCH = 1.4
FARTHEST = 3.0
# Times the usual pitch: what is farther has a blank before it.
BLANK = 1.35
# Of the height of a letter: how far the middle of the next one may be beside its own.
BESIDE = 0.3
# Columns of one passage stand no farther apart than this, times their width.
GUTTER = 4.0
# Where East Asian letters begin; and the forms of marks that are used only in columns.
_WIDE = "\u1100"
_FORMS = {
    code: unicodedata.normalize("NFKC", chr(code))
    for code in (*range(0xFE10, 0xFE19), *range(0xFE31, 0xFE45), 0xFE47, 0xFE48)
}
_Box = TypeVar("_Box", Line, Word)


def columns(lines: Sequence[Line]) -> list[Line]:
    """The lines of a page (as the file has them) with letters that stand under one another as
    lines that run down; where most of the page is level, each such passage is one block at its
    place, with its columns from right to left."""
    parts = _runs(lines)
    if len(parts) == len(lines):
        return list(lines)
    made = [_column(run) if len(run) > 1 else run[0] for run in parts]
    down = [line for line in made if line.direction == DOWN]
    if 2 * sum(len(line.text) for line in down) > sum(len(line.text) for line in made):
        return made
    return _blocks(made)


def words(found: Sequence[Word]) -> list[Word]:
    """The words with letters that stand under one another as one word each."""
    return [_word(run) if len(run) > 1 else run[0] for run in _runs(found)]


def _runs(boxes: Sequence[_Box]) -> list[list[_Box]]:
    if sum([len(one.text) == 1 and one.text >= _WIDE for one in boxes]) < FEWEST:
        return [[one] for one in boxes]
    runs: list[list[_Box]] = []
    for one in boxes:
        if runs and _goes_on(runs[-1][-1], one):
            runs[-1].append(one)
        else:
            runs.append([one])
    return [part for run in runs for part in ([run] if _is_column(run) else [[one] for one in run])]


def _goes_on(high: _Box, low: _Box) -> bool:
    if not (_is_sign(high.text) and _is_sign(low.text)):
        return False
    height = high.y1 - high.y0
    middle = abs(high.x0 + high.x1 - low.x0 - low.x1) / 2
    return 0 < low.y0 - high.y0 <= FARTHEST * height and middle <= BESIDE * height


def _is_sign(text: str) -> bool:
    """A letter, or two digits that stand side by side in a column."""
    return len(text) == 1 or (len(text) == 2 and text.isdigit())


def _is_column(run: Sequence[_Box]) -> bool:
    """Whether letters are a word or more, and not the cells of a table."""
    wide = sum(one.text >= _WIDE and one.text.isalpha() for one in run)
    if wide < FEWEST or 2 * wide < len(run):
        return False
    return _pitch(run) <= PITCH * median(one.y1 - one.y0 for one in run)


def _pitch(run: Sequence[_Box]) -> float:
    return median_low(low.y0 - high.y0 for high, low in pairwise(run))


def _text(run: Sequence[_Box]) -> str:
    usual = _pitch(run)
    text = run[0].text
    for high, low in pairwise(run):
        text += (" " if low.y0 - high.y0 > BLANK * usual else "") + low.text
    return text.translate(_FORMS)


def _column(run: Sequence[Line]) -> Line:
    x0, x1 = min(one.x0 for one in run), max(one.x1 for one in run)
    return run[0]._replace(x0=x0, x1=x1, y1=run[-1].y1, text=_text(run), direction=DOWN)


def _word(run: Sequence[Word]) -> Word:
    x0, x1 = min(one.x0 for one in run), max(one.x1 for one in run)
    return Word(x0, run[0].y0, x1, run[-1].y1, _text(run))


def _blocks(lines: Sequence[Line]) -> list[Line]:
    """Columns that follow each other side by side as one block."""
    out: list[Line] = []
    block: list[Line] = []
    for line in lines:
        if block and not (line.direction == DOWN and _is_next(block[-1], line)):
            out.append(_block(block))
            block = []
        if line.direction == DOWN:
            block.append(line)
        else:
            out.append(line)
    return [*out, _block(block)] if block else out


def _is_next(before: Line, line: Line) -> bool:
    gap = max(before.x0 - line.x1, line.x0 - before.x1)
    return gap <= GUTTER * line.size and line.y0 < before.y1 and before.y0 < line.y1


def _block(block: Sequence[Line]) -> Line:
    text = "\n".join(paragraphs(turned(block)))
    x0, y0 = min(one.x0 for one in block), min(one.y0 for one in block)
    x1, y1 = max(one.x1 for one in block), max(one.y1 for one in block)
    size = block[0].size
    return Line(x0, y0, x1, y1, text, size, whole=True)
