"""The order in which a person reads the shapes of a slide, from where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

# More shapes than this are a drawing, not a text: they stay in the order of the file.
MAX_SHAPES = 200
# Boxes overlap a little by their padding.
_INSET = 0.1


class Box(NamedTuple):
    """Where a shape stands, in EMU."""

    x: float
    y: float
    width: float
    height: float


def reading_order(boxes: Sequence[Box | None]) -> list[int]:
    """Indices of the shapes in reading order; `boxes` come in the order of the file.

    Recursive XY cuts (Nagy and Seth 1984), rows first; columns first where that is much closer to
    the order of the file, because a person mostly makes shapes in the order they are read. A shape
    without a box stays behind the one before it.
    """
    placed = [at for at, box in enumerate(boxes) if box is not None]
    if not 1 < len(placed) <= MAX_SHAPES:
        return list(range(len(boxes)))
    spans = {
        at: (_span(box.x, box.width), _span(box.y, box.height))
        for at, box in enumerate(boxes)
        if box is not None
    }
    by_rows, by_columns = _cut(placed, spans, 1), _cut(placed, spans, 0)
    best = by_columns if 2 * _inversions(by_columns) < _inversions(by_rows) else by_rows
    out = list(range(placed[0]))
    for at in best:
        out.append(at)
        following = at + 1
        while following < len(boxes) and boxes[following] is None:
            out.append(following)
            following += 1
    return out


_Spans = dict[int, tuple[tuple[float, float], tuple[float, float]]]


def _span(start: float, size: float) -> tuple[float, float]:
    return start + size * _INSET, start + size * (1 - _INSET)


def _cut(items: list[int], spans: _Spans, axis: int) -> list[int]:
    """Cuts at the gaps along one axis (0 is x), then along the other inside each part."""
    if len(items) < 2:
        return items
    for tried in (axis, 1 - axis):
        parts = _parts(items, spans, tried)
        if len(parts) > 1:
            return [at for part in parts for at in _cut(part, spans, axis)]
    return sorted(items, key=lambda at: (spans[at][1][0], spans[at][0][0]))


def _parts(items: list[int], spans: _Spans, axis: int) -> list[list[int]]:
    parts: list[list[int]] = []
    end = float("-inf")
    for at in sorted(items, key=lambda one: spans[one][axis][0]):
        start, stop = spans[at][axis]
        if parts and start < end:
            parts[-1].append(at)
        else:
            parts.append([at])
        end = max(end, stop)
    return parts


def _inversions(order: Sequence[int]) -> int:
    return sum(before > after for index, before in enumerate(order) for after in order[index + 1 :])
