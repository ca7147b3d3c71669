"""Tables by their ruling lines: segments meet, make a grid, and words fall into its cells. Pure.

The lattice method of Nurminen (2013), as Camelot and pdfplumber use it; merged cells are slots
without a line between them, and Korean tables may lack their outer left and right lines.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import Any, NamedTuple

# Points. Lines closer than SNAP are one; ends this far from a line still touch it.
SNAP = 2.0
TOUCH = 3.0
THIN = 3.0
SHORTEST = 8.0
# A page with more lines than this is a drawing; a grid with more slots is hatching.
MOST_PATHS = 6000
MOST_LINES = 400
MOST_SLOTS = 6000
REPEATED = 60


class Word(NamedTuple):
    """A word and its box in points, y downwards."""

    x0: float
    y0: float
    x1: float
    y1: float
    text: str


class Rule(NamedTuple):
    """A level line at `at` from `start` to `end` (or an upright one, x and y exchanged)."""

    at: float
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Grid:
    """Lines that meet, as the borders of cells: `xs` and `ys` ascend."""

    xs: list[float]
    ys: list[float]
    level: list[Rule]
    upright: list[Rule]

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom."""
        return self.xs[0], self.ys[0], self.xs[-1], self.ys[-1]


@dataclass(slots=True)
class _Found:
    level: list[Rule] = field(default_factory=list)
    upright: list[Rule] = field(default_factory=list)


def grids(drawings: Sequence[Mapping[str, Any]], page: tuple[float, float]) -> list[Grid]:
    """The grids that the paths of a page draw (`page.get_cdrawings()`); `page` is its size."""
    if len(drawings) > MOST_PATHS:
        return []
    found = _Found()
    for path in drawings:
        _collect(path, page, found)
    level, upright = _merged(found.level), _merged(found.upright)
    if not 2 <= len(level) <= MOST_LINES or not 1 <= len(upright) <= MOST_LINES:
        return []
    made = (_grid(*group) for group in _groups(level, upright))
    return [grid for grid in made if grid is not None]


def _collect(path: Mapping[str, Any], page: tuple[float, float], found: _Found) -> None:
    fill = path.get("fill")
    invisible = "s" not in path["type"] and (fill is None or min(fill) > 0.98)
    for item in path["items"]:
        if item[0] == "l":
            _add(found, (*item[1], *item[2]))
            continue
        if item[0] not in ("re", "qu"):
            continue
        x0, y0, x1, y1 = _bounds(item)
        if invisible or (x1 - x0 > 0.95 * page[0] and y1 - y0 > 0.9 * page[1]):
            continue
        if y1 - y0 <= THIN or x1 - x0 <= THIN:
            x, y = (x0 + x1) / 2, (y0 + y1) / 2
            _add(found, (x0, y, x1, y) if x1 - x0 > y1 - y0 else (x, y0, x, y1))
            continue
        for side in ((x0, y0, x1, y0), (x0, y1, x1, y1), (x0, y0, x0, y1), (x1, y0, x1, y1)):
            _add(found, side)


def _bounds(item: Sequence[Any]) -> tuple[float, float, float, float]:
    if item[0] == "re":
        x0, y0, x1, y1 = item[1]
        return min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)
    xs, ys = [point[0] for point in item[1]], [point[1] for point in item[1]]
    return min(xs), min(ys), max(xs), max(ys)


def _add(found: _Found, line: tuple[float, float, float, float]) -> None:
    x0, y0, x1, y1 = line
    if abs(y1 - y0) <= 1 and abs(x1 - x0) > 1:
        found.level.append(Rule((y0 + y1) / 2, min(x0, x1), max(x0, x1)))
    elif abs(x1 - x0) <= 1 and abs(y1 - y0) > 1:
        found.upright.append(Rule((x0 + x1) / 2, min(y0, y1), max(y0, y1)))


def _merged(rules: list[Rule]) -> list[Rule]:
    """Pieces of one line (dashes, cell borders) as that line."""
    out: list[Rule] = []
    for band in _bands(sorted(rules)):
        at = sum(rule.at for rule in band) / len(band)
        band.sort(key=lambda rule: rule.start)
        start, end = band[0].start, band[0].end
        for rule in band[1:]:
            if rule.start > end + TOUCH:
                out.append(Rule(at, start, end))
                start = rule.start
                end = rule.end
            end = max(end, rule.end)
        out.append(Rule(at, start, end))
    return [rule for rule in out if rule.end - rule.start >= SHORTEST]


def _bands(ordered: list[Rule]) -> list[list[Rule]]:
    bands: list[list[Rule]] = []
    for rule in ordered:
        if bands and rule.at - bands[-1][0].at <= SNAP:
            bands[-1].append(rule)
        else:
            bands.append([rule])
    return bands


def _groups(level: list[Rule], upright: list[Rule]) -> Iterator[tuple[list[Rule], list[Rule]]]:
    """The lines that meet, directly or over others."""
    parent = list(range(len(level) + len(upright)))

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for i, j in product(range(len(level)), range(len(upright))):
        if _meet(level[i], upright[j]):
            parent[root(i)] = root(len(level) + j)
    groups: dict[int, tuple[list[Rule], list[Rule]]] = {}
    for node in range(len(parent)):
        group = groups.setdefault(root(node), ([], []))
        if node < len(level):
            group[0].append(level[node])
        else:
            group[1].append(upright[node - len(level)])
    yield from groups.values()


def _meet(level: Rule, upright: Rule) -> bool:
    return (
        level.start - TOUCH <= upright.at <= level.end + TOUCH
        and upright.start - TOUCH <= level.at <= upright.end + TOUCH
    )


def _grid(level: list[Rule], upright: list[Rule]) -> Grid | None:
    if len(level) < 2 or not upright:
        return None
    xs, ys = _places(upright), _places(level)
    left, right = min(rule.start for rule in level), max(rule.end for rule in level)
    top, bottom = ys[0], ys[-1]
    # Lines that run past the outermost upright ones close the table there.
    for x, missing in ((left, xs[0] - left > SHORTEST), (right, right - xs[-1] > SHORTEST)):
        if missing:
            xs = sorted([*xs, x])
            upright = [*upright, Rule(x, top, bottom)]
    if len(xs) < 3 or len(ys) < 3 or len(xs) * len(ys) > MOST_SLOTS:
        return None
    return Grid(xs, ys, level, upright)


def _places(rules: list[Rule]) -> list[float]:
    return [band[0].at for band in _bands(sorted(rules))]


def fill(grid: Grid, words: Sequence[Word]) -> list[list[str]]:
    """The rows of a grid; [] when too few cells hold text for it to be a table.

    The short text of cells merged downwards stands in each row, so that a row can be read alone;
    merged sideways it stands in the first. Rows and columns without text are left out.
    """
    slots = _cells(grid)
    texts: dict[tuple[int, int], list[str]] = {}
    for word in words:
        row = bisect_right(grid.ys, (word.y0 + word.y1) / 2) - 1
        column = bisect_right(grid.xs, (word.x0 + word.x1) / 2) - 1
        if (cell := slots.get((row, column))) is not None:
            texts.setdefault(cell, []).append(word.text)
    shown = {cell: " ".join(parts) for cell, parts in texts.items()}
    columns = sorted({column for _, column in texts})
    table = [
        [_shown(shown, slots[row, column], row, column) for column in columns]
        for row in range(len(grid.ys) - 1)
        if any(slots[row, column] == (row, column) and (row, column) in texts for column in columns)
    ]
    return table if len(table) >= 2 and len(columns) >= 2 else []


def _shown(
    texts: Mapping[tuple[int, int], str], cell: tuple[int, int], row: int, column: int
) -> str:
    text = texts.get(cell, "") if cell[1] == column else ""
    return text if cell[0] == row or len(text) <= REPEATED else ""


def _cells(grid: Grid) -> dict[tuple[int, int], tuple[int, int]]:
    """Each slot's cell, named by its first slot: the border above or before it may be missing."""
    cells: dict[tuple[int, int], tuple[int, int]] = {}
    level = _by_place(grid.level, grid.ys)
    upright = _by_place(grid.upright, grid.xs)
    for row, (top, bottom) in enumerate(pairwise(grid.ys)):
        for column, (left, right) in enumerate(pairwise(grid.xs)):
            cell = (row, column)
            if column and not _covers(upright[column], (top + bottom) / 2):
                cell = cells[row, column - 1]
            elif row and not _covers(level[row], (left + right) / 2):
                cell = cells[row - 1, column]
            cells[row, column] = cell
    return cells


def _by_place(rules: list[Rule], places: list[float]) -> list[list[Rule]]:
    return [[rule for rule in rules if abs(rule.at - place) <= SNAP] for place in places]


def _covers(rules: list[Rule], where: float) -> bool:
    return any(rule.start <= where <= rule.end for rule in rules)
