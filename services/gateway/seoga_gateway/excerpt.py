"""Part of a document's text by page or by line, numbered as its places number them (pure)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from seoga.errors import InvalidArgument
from seoga.models import Place
from seoga_gateway.fitting import cut_json, json_size
from seoga_gateway.quoting import BUDGET_BYTES

Unit = Literal["page", "line"]
Mark = tuple[int, Place]

# Of an answer; names, title and status stand beside it.
TEXT_BYTES = BUDGET_BYTES - 7_000
DEFAULT_LIMIT: dict[Unit, int] = {"page": 10, "line": 400}


@dataclass(frozen=True, slots=True)
class Excerpt:
    """`text` holds the units `start`..`end` of `total`; `next_start` is None at the end of the
    document.

    `cut` is True when one unit alone was over the budget and only its beginning is here.
    """

    text: str
    unit: Unit
    start: int
    end: int
    total: int
    next_start: int | None
    cut: bool = False


@dataclass(frozen=True, slots=True)
class _Part:
    number: int
    begin: int
    end: int


def unit_of(marks: Sequence[Mark]) -> Unit:
    """ "page" for a document with pages or slides, else "line"."""
    return "page" if any(_page(place) is not None for _, place in marks) else "line"


def excerpt(
    text: str, marks: Sequence[Mark], start: int, limit: int | None, unit: Unit | None = None
) -> Excerpt:
    """The units numbered `start` to `start + limit - 1`, as many of them as fit the answer budget.

    Offsets of `marks` are code points of `text`, ascending. Lines carry the numbers of the
    original where the marks
    know them. Raises InvalidArgument when `start` is past the end, or pages are asked of a
    document without.
    """
    chosen = unit or unit_of(marks)
    limit = limit or DEFAULT_LIMIT[chosen]
    parts = _pages(text, marks) if chosen == "page" else _lines(text, marks)
    if not parts:
        if chosen == "page" and text:
            raise InvalidArgument("This document has no pages.", 'Read it with unit "line".')
        return Excerpt("", chosen, start, start, 0, None)
    total = max(part.number for part in parts)
    wanted = [part for part in parts if start <= part.number < start + limit]
    if start > total:
        raise InvalidArgument(f"start {start} is past the last {chosen}, {total}.")
    if not wanted:
        following = min(part.number for part in parts if part.number >= start)
        return Excerpt("", chosen, start, start + limit - 1, total, following)
    taken = _fitting(text, wanted)
    body = text[taken[0].begin : taken[-1].end]
    shown = cut_json(body, TEXT_BYTES)
    last = taken[-1].number
    rest = [part.number for part in parts if part.number > last]
    return Excerpt(
        text=shown,
        unit=chosen,
        start=taken[0].number,
        end=last,
        total=total,
        next_start=min(rest) if rest else None,
        cut=len(shown) < len(body),
    )


def _fitting(text: str, wanted: Sequence[_Part]) -> Sequence[_Part]:
    spent = 0
    for index, part in enumerate(wanted):
        spent += json_size(text[part.begin : part.end]) - 2
        if spent > TEXT_BYTES and index:
            return wanted[:index]
    return wanted


def _page(place: Place) -> int | None:
    return place.page if place.page is not None else place.slide


def _numbered(
    marks: Sequence[Mark], number: Callable[[Place], int | None]
) -> list[tuple[int, int]]:
    """(offset, number) of the marks that start a higher number than all before."""
    found: list[tuple[int, int]] = []
    for offset, place in marks:
        value = number(place)
        if value is not None and (not found or value > found[-1][1]):
            found.append((offset, value))
    return found


def _pages(text: str, marks: Sequence[Mark]) -> list[_Part]:
    begins = _numbered(marks, _page)
    if not begins:
        return []
    # What stands before the first mark belongs to the first page.
    begins[0] = (0, begins[0][1])
    closed = [*begins, (len(text), 0)]
    return [_Part(number, begin, end) for (begin, number), (end, _) in pairwise(closed)]


def _lines(text: str, marks: Sequence[Mark]) -> list[_Part]:
    known = _numbered(marks, lambda place: place.line_start)
    offsets = [offset for offset, _ in known]
    parts: list[_Part] = []
    begin = 0
    since: dict[int, int] = {}
    for line in text.splitlines(keepends=True):
        # Blank lines between sections belong to the section before; the original may have had
        # more of them.
        index = bisect_right(offsets, begin) - 1
        counted = since.get(index, 0)
        since[index] = counted + 1
        number = (known[index][1] if index >= 0 else 1) + counted
        parts.append(_Part(number, begin, begin + len(line)))
        begin += len(line)
    return parts
