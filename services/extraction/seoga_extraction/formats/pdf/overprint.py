"""Lines as they are seen: drawn twice to look bold they are one, letters set wide a word. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Any

from seoga_extraction.formats.pdf.tables import Word
from seoga_extraction.layout import Line

# Of the size of its letters: a line this near to one of the same text is its shadow.
SHADOW = 0.15
# A gap between two letters that is no gap between two cells, and letters that make a word.
WIDE = 1.5
FEWEST = 4
# A gap so many times the usual one holds a blank.
BLANK = 1.6
# How often each letter of a line may be drawn, and the fewest letters, and different ones, of
# which that is said: pairs of digits and rows of dots are none.
DRAWN = (3, 2)
FEWEST_DRAWN = 6
DIFFERENT = 4
# Letters with a blank behind each.
APART = re.compile(rf"(?:[^\W\d_] ){{{FEWEST - 1},}}[^\W\d_]")


def seen(lines: Sequence[Line]) -> list[Line]:
    """The lines without shadows, of lines and of letters, and with their letters joined."""
    shown = [_lettered(line) if line.text[:1] == line.text[1:2] else line for line in lines]
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
            out.append(word)
        # A third one is the shadow of the second.
        before.append(word)
    return out


def joined_letters(signs: Sequence[Mapping[str, Any]], size: float) -> str:
    """The text of a level line (characters with their boxes) that is set wide, "" where it is not.

    Only blanks that nobody typed are gaps between letters: A B C D are four words.
    """
    text = ""
    gaps: list[tuple[float, bool, str]] = []
    end, typed = 0.0, False
    for sign in signs:
        if sign["c"].isspace():
            typed = typed or not sign["synthetic"]
            continue
        gaps.append((sign["bbox"][0] - end, typed, sign["c"]))
        end, typed = sign["bbox"][2], False
    between = [gap for gap, typed, _ in gaps[1:] if not typed]
    usual = median(between) if between else 0.0
    if len(between) < FEWEST - 1 or 2 * len(between) < len(gaps) or not 0 < usual <= WIDE * size:
        return ""
    for gap, typed, letter in gaps:
        text += (" " if text and (typed or gap > BLANK * usual + 1) else "") + letter
    return text


def _lettered(line: Line) -> Line:
    """A line whose letters were drawn twice or three times, one by one, with each of them once."""
    signs = "".join(line.text.split())
    for times in DRAWN:
        one = signs[::times]
        words = len(one) >= FEWEST_DRAWN and len(set(one)) >= DIFFERENT and one[0].isalpha()
        if words and all(signs[at::times] == one for at in range(1, times)):
            return line._replace(text=_every(line.text, times))
    return line


def _every(text: str, times: int) -> str:
    kept, count = "", 0
    for sign in text:
        count += not sign.isspace()
        if sign.isspace() or count % times == 1:
            kept += sign
    return kept


def _without_shadows(lines: Sequence[Line]) -> list[Line]:
    kept: dict[str, list[Line]] = {}
    out: list[Line] = []
    for line in lines:
        before = kept.setdefault(line.text, [])
        if not any(_is_near(line, other, SHADOW * line.size) for other in before):
            out.append(line)
        before.append(line)
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
