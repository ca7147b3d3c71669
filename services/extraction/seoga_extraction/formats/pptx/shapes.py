"""Shapes of a slide as sections: text, tables, charts, SmartArt, described pictures, groups."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from seoga.errors import ExtractionFailed
from seoga.models import Place, Section, SectionKind
from seoga_extraction.format import Archive, one_line, pipes
from seoga_extraction.formats.pptx.layouts import Layout, box_of, placeholder
from seoga_extraction.formats.pptx.order import Box, reading_order
from seoga_extraction.formats.pptx.text import body_text, table_rows
from seoga_extraction.ooxml.charts import read_chart
from seoga_extraction.ooxml.drawing import alternative, plain_text, shapes
from seoga_extraction.ooxml.package import (
    Relations,
    attribute,
    child,
    descendants,
    local,
    number,
    related,
)

if TYPE_CHECKING:
    from lxml.etree import _Element

SHAPES = frozenset(("sp", "grpSp", "graphicFrame", "pic", "cxnSp"))
TITLES = ("title", "ctrTitle")
# Placeholders that say the same on every slide.
_FURNITURE = ("sldNum", "dt", "hdr")
# Lists of diagrams are not indented further.
_MAX_INDENT = 60
_NO_POINTS = ("pres", "parTrans", "sibTrans", "doc")


@dataclass(slots=True)
class SlideReader:
    """Reads the shapes of one slide. `footers` are those that earlier slides have said."""

    archive: Archive
    relations: Relations
    layout: Layout
    number: int
    path: tuple[str, ...]
    meta: dict[str, object]
    footers: set[str]

    def sections(self, tree: _Element) -> Iterator[Section]:
        """The sections of all shapes below a tree or a group, in reading order. It may call itself
        as deep as groups are nested: less than the 256 elements that the XML may be deep."""
        found: list[tuple[Box | None, list[Section]]] = []
        for shape in shapes(tree, SHAPES):
            sections = list(self._shape(shape))
            if sections:
                found.append((self._box(shape), sections))
        for at in reading_order([box for box, _ in found]):
            yield from found[at][1]

    def _box(self, shape: _Element) -> Box | None:
        return box_of(shape) or self.layout.box(placeholder(shape))

    def _shape(self, shape: _Element) -> Iterator[Section]:
        name = local(shape)
        if name == "grpSp":
            yield from self.sections(shape)
            return
        if name == "graphicFrame":
            yield from self._frame(shape)
        elif name == "sp":
            yield from self._text(shape)
            if next(descendants(shape, "t"), None) is not None:
                return
        if description := alternative(shape):
            yield self._section(f"[image: {description}]")

    def _text(self, shape: _Element) -> Iterator[Section]:
        kind, _ = own = placeholder(shape) or ("", "")
        if kind in TITLES or kind in _FURNITURE:
            return
        styles = self.layout.styles(own) if placeholder(shape) else ()
        text, what = body_text(child(shape, "txBody"), styles)
        if kind == "ftr":
            if text in self.footers:
                return
            self.footers.add(text)
        if text:
            yield self._section(text, what)

    def _frame(self, frame: _Element) -> Iterator[Section]:
        data = child(frame, "graphic", "graphicData")
        for one in data if data is not None else ():
            name = local(one)
            if name == "tbl":
                text = pipes(table_rows(one))
                if text.strip("| -\n"):
                    yield self._section(text, SectionKind.TABLE)
            elif name == "chart":
                yield from self._chart(self._part(related(one)))
            elif name == "relIds":
                text = _diagram(self._part(related(one, "dm")))
                if text:
                    yield self._section(text, SectionKind.LIST)

    def _part(self, relation_id: str) -> _Element | None:
        """A part that the slide can be read without."""
        try:
            return self.archive.xml(self.relations.part(relation_id))
        except ExtractionFailed:
            return None

    def _chart(self, root: _Element | None) -> Iterator[Section]:
        chart = read_chart(root)
        if chart.left:
            self.archive.cut(chart.left)
        if caption := chart.caption():
            yield self._section(caption)
        if rows := chart.rows():
            yield self._section(pipes(rows), SectionKind.TABLE)

    def _section(self, text: str, kind: SectionKind = SectionKind.PARAGRAPH) -> Section:
        return Section(text, kind, self.path, place=Place(slide=self.number), meta=self.meta)


def title_of(tree: _Element) -> str:
    """The text of the title placeholder, in a group or not; "" without one."""
    for shape in shapes(tree, SHAPES):
        own = placeholder(shape)
        title = ""
        if own is not None and own[0] in TITLES:
            title = one_line(body_text(child(shape, "txBody")).text)
        elif local(shape) == "grpSp":
            title = title_of(shape)
        if title:
            return title
    return ""


def _diagram(root: _Element | None) -> str:
    """The points of a SmartArt data part as a list, nested as they are connected."""
    texts: dict[str, str] = {}
    starts: list[str] = []
    for point in descendants(root, "pt"):
        own = attribute(point, "modelId")
        if attribute(point, "type") == "doc":
            starts.append(own)
        if attribute(point, "type") not in _NO_POINTS:
            texts[own] = one_line(plain_text(child(point, "t")))
    below: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for one in descendants(root, "cxn"):
        if attribute(one, "type") in ("", "parOf"):
            order = number(attribute(one, "srcOrd"))
            below[attribute(one, "srcId")].append((order, attribute(one, "destId")))
    lines: list[str] = []
    stack = [(one, -1) for one in reversed(starts)]
    while stack:
        own, level = stack.pop()
        if text := texts.pop(own, ""):
            lines.append(f"{'  ' * min(max(level, 0), _MAX_INDENT)}- {text}")
        deeper = sorted(below.pop(own, ()), reverse=True)
        stack += [(one, level + 1) for _, one in deeper]
    return "\n".join([*lines, *(f"- {text}" for text in texts.values() if text)])
