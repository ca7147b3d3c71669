"""Reading order and paragraphs of a page from the places of its lines. Pure.

Columns are found by their gutter, in the manner of the recursive XY cut (Nagy and Seth 1984):
lines that cross it separate bands, in which the left side is read before the right one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import accumulate, pairwise
from operator import attrgetter
from statistics import median
from typing import NamedTuple

MAX_DEPTH = 5
LEVEL = (1.0, 0.0)
GRID = 2.0
LEAST_HEIGHT = 0.1
_BULLET = re.compile(
    r"^(?:[•·‣▪■□○●◦◆◇▶▷※❍ㅇ–—*-]\s|[①-⑳㉠-㉻⑴-⒇]|\(?(?:\d{1,2}|[가나다라마바사아자차카타파하a-z])[.)]\s)"
)
_SENTENCE_END = re.compile(r"[.!?。…:;][\"'”’)\]]*$")
_COMPOUND = re.compile(r"[^\W\d_]{2,}-[^\W\d_]{2,}")
_LAST_WORD = re.compile(r"([^\W\d_]+)-$")
_FIRST_WORD = re.compile(r"[^\W\d_]+")
_WIDE = "\u2e80-\ua4cf\uf900-\ufaff\uff00-\uffef"
_JOINED = re.compile(f"[{_WIDE}]$")
_JOINS = re.compile(f"^[{_WIDE}]")


class Line(NamedTuple):
    """A line of text: its box in points (y downwards), font size, bold, direction of writing."""

    x0: float
    y0: float
    x1: float
    y1: float
    text: str
    size: float = 10.0
    bold: bool = False
    direction: tuple[float, float] = LEVEL
    cells: int = 1
    # A block that was made whole already, such as a table: nothing is joined to it.
    whole: bool = False
    # What is filled into a field of a form.
    filled: bool = False

    @property
    def height(self) -> float:
        """Height of the box, never zero."""
        return max(self.y1 - self.y0, LEAST_HEIGHT)


def turned(lines: Sequence[Line]) -> list[Line]:
    """The lines with the page turned so that most of them run to the right; others go last."""
    if all(line.direction == LEVEL for line in lines):
        return list(lines)
    weights: Counter[tuple[int, int]] = Counter()
    for line in lines:
        weights[_quarter(line.direction)] += len(line.text)
    main = weights.most_common(1)[0][0]
    straight = [_turn(line, main) for line in lines if _quarter(line.direction) == main]
    lowest = max(line.y1 for line in straight)
    aside = []
    for line in lines:
        if _quarter(line.direction) != main:
            # Stamps along the margin: below everything, each a paragraph of its own.
            lowest += line.size * 4
            aside.append(line._replace(x0=0, x1=1, y0=lowest, y1=lowest + line.size))
    return straight + aside


def _quarter(direction: tuple[float, float]) -> tuple[int, int]:
    return round(direction[0]), round(direction[1])


def _turn(line: Line, main: tuple[int, int]) -> Line:
    if main == (0, -1):
        return line._replace(x0=-line.y1, x1=-line.y0, y0=line.x0, y1=line.x1)
    if main == (0, 1):
        return line._replace(x0=line.y0, x1=line.y1, y0=-line.x1, y1=-line.x0)
    if main == (-1, 0):
        return line._replace(x0=-line.x1, x1=-line.x0, y0=-line.y1, y1=-line.y0)
    return line


def regions(lines: Sequence[Line], depth: int = 0) -> list[list[Line]]:
    """The lines in reading order, as runs of one column each. `lines` come in the file's order."""
    if len(lines) < 4 or depth >= MAX_DEPTH or not _may_have_columns(lines):
        return [list(lines)] if lines else []
    gutter = _gutter(lines)
    cut = _widest_gap(lines)
    above = [line for line in lines if cut is not None and line.y0 < cut]
    below = [line for line in lines if cut is not None and line.y0 >= cut]
    if gutter is not None and not (above and _differ(_gutter(above), _gutter(below))):
        return _bands(lines, gutter, depth)
    if not above:
        return [list(lines)]
    parts = [regions(part, depth + 1) for part in (above, below)]
    # Without columns anywhere the cut says nothing: one region, so that paragraphs hold.
    if all(len(part) == 1 for part in parts):
        return [list(lines)]
    return parts[0] + parts[1]


def _may_have_columns(lines: Sequence[Line]) -> bool:
    """False where no two lines end left of where two others begin: then neither they nor any part
    of them has a gutter. Most pages are known by this."""
    ends, begins = sorted([line.x1 for line in lines]), sorted([line.x0 for line in lines])
    return ends[1] <= begins[-2]


def _differ(one: float | None, other: float | None) -> bool:
    """Whether two articles stand above one another, each with a gutter of its own."""
    return one is not None and other is not None and abs(one - other) > 10


def _gutter(lines: Sequence[Line]) -> float | None:
    """The x of the white strip between two columns, None where there are no columns."""
    if len(lines) < 4:
        return None
    left, right = min([line.x0 for line in lines]), max([line.x1 for line in lines])
    size = int((right - left) / GRID) + 2
    if size < 20:
        return None
    steps = [0] * (size + 1)
    for line in lines:
        steps[int((line.x0 - left) / GRID)] += 1
        steps[int((line.x1 - left) / GRID) + 1] -= 1
    crossing = list(accumulate(steps[:size]))
    first, last = int(size * 0.15), int(size * 0.85)
    fewest = min(crossing[first:last])
    if fewest > len(lines) * 0.35:
        return None
    begin, end = _longest_run(crossing, fewest, first, last)
    if (end - begin) * GRID < 0.5 * _usual_height(lines):
        return None
    x = left + (begin + end) / 2 * GRID
    return x if _are_columns(lines, x) else None


def _longest_run(values: list[int], wanted: int, first: int, last: int) -> tuple[int, int]:
    best = (first, first)
    start: int | None = None
    for index in range(first, last + 1):
        if index < last and values[index] == wanted:
            start = index if start is None else start
        elif start is not None:
            if index - start > best[1] - best[0]:
                best = (start, index)
            start = None
    return best


def _are_columns(lines: Sequence[Line], x: float) -> bool:
    """Columns of text, not of a table: written one after the other, or filled with long lines."""
    sides = [line.x0 >= x for line in lines if line.x1 <= x or line.x0 >= x]
    fewer = min(sides.count(False), sides.count(True))
    if fewer < 2 or not _side_by_side(lines, x):
        return False
    switches = sum(one != other for one, other in pairwise(sides))
    if switches <= 1 + 0.25 * fewer:
        return True
    left = [line for line in lines if line.x1 <= x]
    right = [line for line in lines if line.x0 >= x]
    return _is_prose(left) and _is_prose(right)


def _side_by_side(lines: Sequence[Line], x: float) -> bool:
    left = [line for line in lines if line.x1 <= x]
    right = [line for line in lines if line.x0 >= x]
    top = max(min(line.y0 for line in left), min(line.y0 for line in right))
    bottom = min(max(line.y1 for line in left), max(line.y1 for line in right))
    return bottom > top


def _is_prose(lines: list[Line]) -> bool:
    width = max(line.x1 for line in lines) - min(line.x0 for line in lines)
    usual = median(line.x1 - line.x0 for line in lines)
    return len(lines) >= 4 and usual >= 0.7 * width and median(len(one.text) for one in lines) >= 25


def _bands(lines: Sequence[Line], x: float, depth: int) -> list[list[Line]]:
    out: list[list[Line]] = []
    across: list[Line] = []
    order = {id(line): index for index, line in enumerate(lines)}
    left: list[Line] = []
    right: list[Line] = []

    def columns() -> None:
        for side in (left, right):
            side.sort(key=lambda line: order[id(line)])
            out.extend(regions(side, depth + 1))
            side.clear()

    for line in sorted(lines, key=lambda one: (one.y0, one.x0)):
        if line.x0 < x < line.x1:
            if left or right:
                columns()
            across.append(line)
            continue
        if across:
            out.append(across)
            across = []
        (left if line.x1 <= x else right).append(line)
    columns()
    return [*out, across] if across else out


def _usual_height(lines: Sequence[Line]) -> float:
    return max(float(median([line.y1 - line.y0 for line in lines])), LEAST_HEIGHT)


def _widest_gap(lines: Sequence[Line]) -> float | None:
    """The y of the widest white strip across, if it is wider than a line."""
    ordered = sorted(lines, key=attrgetter("y0"))
    bottom, widest, at = ordered[0].y1, 0.0, None
    for line in ordered:
        if line.y0 - bottom > widest:
            widest, at = line.y0 - bottom, line.y0
        bottom = max(bottom, line.y1)
    return at if widest > _usual_height(lines) else None


def compounds(lines: Sequence[Line]) -> frozenset[str]:
    """The words with a hyphen inside a line: at a line end they keep theirs."""
    return frozenset(
        word for line in lines if "-" in line.text for word in _COMPOUND.findall(line.text)
    )


def paragraphs(region: Sequence[Line], hyphened: Collection[str] = ()) -> list[str]:
    """The paragraphs of one column: lines joined by a blank, divided words made whole unless
    they are in `hyphened`."""
    rows = _rows(region)
    if not rows:
        return []
    pitches = [low.y0 - high.y0 for high, low in pairwise(rows) if not (high.whole or low.whole)]
    usual = median(pitches) if pitches else 0.0
    left, right = min(row.x0 for row in rows), max(row.x1 for row in rows)
    out = [rows[0].text]
    for high, low in pairwise(rows):
        if high.whole or low.whole:
            out.append(low.text)
        elif high.cells > 1 and low.cells > 1 and not _far(high, low, usual):
            out[-1] += "\n" + low.text
        elif _far(high, low, usual) or _new_paragraph(high, low, left, right):
            out.append(low.text)
        else:
            out[-1] = _join(out[-1], low.text, hyphened)
    return [text for text in out if text]


def _rows(region: Sequence[Line]) -> list[Line]:
    """Lines on one height as one row, from left to right; the pieces of a table's row count."""
    rows: list[list[Line]] = []
    for line in sorted(region, key=lambda one: (one.y0 + one.y1) / 2):
        last = rows[-1][-1] if rows else None
        if last is not None and not (last.whole or line.whole):
            overlap = min(last.y1, line.y1) - max(last.y0, line.y0)
            if overlap > 0.5 * min(last.height, line.height):
                rows[-1].append(line)
                continue
        rows.append([line])
    return [_merged(row) for row in rows]


def _merged(row: list[Line]) -> Line:
    if len(row) == 1:
        return row[0]
    row = sorted(row, key=lambda one: one.x0)
    text, cells = row[0].text, 1
    for before, line in pairwise(row):
        wide = line.x0 - before.x1 > 1.5 * line.size
        cells += wide
        text += ("  " if wide else " ") + line.text
    longest = max(row, key=lambda one: len(one.text))
    return Line(
        row[0].x0,
        min(one.y0 for one in row),
        max(one.x1 for one in row),
        max(one.y1 for one in row),
        text,
        longest.size,
        all(one.bold for one in row),
        cells=cells,
    )


def _far(high: Line, low: Line, usual: float) -> bool:
    pitch = low.y0 - high.y0
    return pitch > 1.3 * usual + 1 or low.y0 - high.y1 > high.height


def _new_paragraph(high: Line, low: Line, left: float, right: float) -> bool:
    if abs(high.size - low.size) > 0.12 * max(high.size, low.size) or high.bold != low.bold:
        return True
    if _BULLET.match(low.text) or (high.cells > 1) != (low.cells > 1):
        return True
    indented = low.x0 - left > 0.8 * low.size and high.x0 - left < 0.4 * high.size
    short = high.x1 < right - 0.2 * (right - left)
    return bool((indented or short) and _SENTENCE_END.search(high.text))


def _join(text: str, more: str, hyphened: Collection[str]) -> str:
    if text.endswith("\xad"):
        return text[:-1] + more
    if text.endswith("-") and text[-2:-1].islower() and more[:1].islower():
        before, after = _LAST_WORD.search(text), _FIRST_WORD.match(more)
        whole = f"{before[1]}-{after[0]}" if before and after else ""
        return text + more if whole in hyphened else text[:-1] + more
    if _JOINED.search(text) and _JOINS.match(more):
        return text + more
    return f"{text} {more}"
