"""Charts: title, axis titles, and the cached data as a table of categories by series."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from seoga_extraction.markup import one_line
from seoga_extraction.ooxml.numbers import number_format
from seoga_extraction.ooxml.package import child, children, descendants, local, number

if TYPE_CHECKING:
    from lxml.etree import _Element

MAX_POINTS = 10_000
MAX_SERIES = 256
_KINDS = {
    "bar": "Bar chart",
    "line": "Line chart",
    "pie": "Pie chart",
    "ofPie": "Pie chart",
    "doughnut": "Doughnut chart",
    "area": "Area chart",
    "scatter": "Scatter chart",
    "bubble": "Bubble chart",
    "radar": "Radar chart",
    "stock": "Stock chart",
    "surface": "Surface chart",
}


@dataclass(slots=True)
class Series:
    """One series: `points` and `categories` by their position."""

    name: str = ""
    categories: dict[int, str] = field(default_factory=dict)
    points: dict[int, str] = field(default_factory=dict)


@dataclass(slots=True)
class Chart:
    """What a chart says in words and numbers."""

    kind: str = "Chart"
    title: str = ""
    axes: list[str] = field(default_factory=list)
    series: list[Series] = field(default_factory=list)
    # What there is too much of to be read, as a sentence.
    left: str = ""

    def caption(self) -> str:
        """Its kind, its title and the titles of its axes on one line; "" for one without both."""
        axes = ", ".join(self.axes)
        words = f"{self.title} ({axes})" if self.title and axes else self.title or axes
        return f"{self.kind}: {words}" if words else ""

    def rows(self) -> list[list[str]]:
        """A header row with the names of the series, then a row for each category."""
        shown = [one for one in self.series if one.points]
        if not shown:
            return []
        places = sorted({place for one in shown for place in one.points})[:MAX_POINTS]
        labels: dict[int, str] = {}
        for one in reversed(shown):
            labels.update(one.categories)
        rows = [["", *(one.name for one in shown)]]
        rows += [
            [labels.get(place, ""), *(one.points.get(place, "") for one in shown)]
            for place in places
        ]
        return rows


def read_chart(root: _Element | None) -> Chart:
    """A chart part (`c:chartSpace`, or the newer `cx:chartSpace`)."""
    chart = child(root, "chart")
    if chart is None:
        return Chart()
    out = Chart(title=text_of(child(chart, "title")))
    area = child(chart, "plotArea")
    for one in area if area is not None else ():
        if out.kind == "Chart":
            out.kind = _KINDS.get(local(one).removesuffix("Chart").removesuffix("3D"), out.kind)
        if local(one).endswith("Ax") and (title := text_of(child(one, "title"))):
            out.axes.append(title)
    found = list(descendants(chart, "ser"))
    out.series = [_series(one) for one in found[:MAX_SERIES]]
    if not found and root is not None:
        found = list(descendants(root, "data"))
        out.series = list(_newer(root, found[:MAX_SERIES]))
    out.left = _left(len(found), max([_length(one) for one in found], default=0))
    if not out.title and len(out.series) == 1 and child(chart, "title") is not None:
        # An automatic title is the name of the only series.
        out.title = out.series[0].name
    return out


def _length(series: _Element) -> int:
    """The most points of its parts: names, values."""
    parts = descendants(series, "lvl", "numCache", "numLit", "strCache", "strLit")
    return max([sum(1 for _ in children(part, "pt")) for part in parts], default=0)


def _left(series: int, points: int) -> str:
    many = f"Of {series:,} series of a chart, {MAX_SERIES:,} are read."
    long = f"Of {points:,} points of a chart, {MAX_POINTS:,} are read."
    told = [many] * (series > MAX_SERIES) + [long] * (points > MAX_POINTS)
    return " ".join(told)


def text_of(element: _Element | None) -> str:
    """All text of an element (rich text, or the cache of a cell that it refers to) on one line."""
    if element is None:
        return ""
    paragraphs = list(descendants(element, "p"))
    if not paragraphs:
        return one_line(" ".join(one.text or "" for one in descendants(element, "v")))
    lines = ("".join(one.text or "" for one in descendants(p, "t")) for p in paragraphs)
    return one_line(" ".join(lines))


def _series(element: _Element) -> Series:
    out = Series(name=text_of(child(element, "tx")))
    for name in ("cat", "xVal"):
        out.categories.update(_points(child(element, name), joined=True))
    for name in ("val", "yVal"):
        out.points.update(_points(child(element, name)))
    return out


def _points(element: _Element | None, joined: bool = False) -> dict[int, str]:
    """The cached values of a reference, shown in their number format.

    Categories of several levels are `joined`, the outermost first.
    """
    levels = list(descendants(element, "lvl")) if joined else []
    if not levels:
        return dict(_cache(element))
    out: dict[int, str] = {}
    for level in levels:
        own = dict(_cache(level))
        last = ""
        for place in sorted(set(out) | set(own)):
            last = own.get(place, last)
            out[place] = f"{last} {out[place]}".strip() if place in out else last
    return out


def _cache(element: _Element | None) -> Iterator[tuple[int, str]]:
    code = next(descendants(element, "formatCode"), None)
    shown = number_format(code.text if code is not None and code.text else "General")
    numbers = next(descendants(element, "numCache", "numLit"), None) is not None
    for count, point in enumerate(descendants(element, "pt")):
        value = child(point, "v")
        if count >= MAX_POINTS or value is None or not value.text:
            continue
        text = value.text
        if numbers:
            try:
                text = shown.number(float(text))
            except ValueError:
                text = value.text
        yield number(point.get("idx", ""), count), text


def _newer(root: _Element, found: Sequence[_Element]) -> Iterator[Series]:
    """Waterfalls, funnels, tree maps (`cx:`): their data stand apart from their series."""
    names = [text_of(child(one, "tx")) for one in descendants(root, "series")]
    for index, data in enumerate(found):
        out = Series(name=names[index] if index < len(names) else "")
        for dimension in data:
            into = out.categories if local(dimension) == "strDim" else out.points
            for level in children(dimension, "lvl"):
                for point in children(level, "pt"):
                    place = number(point.get("idx", ""))
                    into[place] = f"{point.text or ''} {into.get(place, '')}".strip()
        yield out
