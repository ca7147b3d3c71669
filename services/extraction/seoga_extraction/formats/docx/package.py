"""The parts of a Word package: main document, styles, numbering, core properties."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING

from seoga_extraction.format import Archive

if TYPE_CHECKING:
    from lxml.etree import _Element

MAX_BASED_ON = 30
_HEADING = re.compile(
    r"^(?:heading|제목|개요|見出し|标题|標題|überschrift|titre|título|titolo|rubrik|kop|nagłówek|"
    r"заголовок)\s*(\d)$",
    re.IGNORECASE,
)
_TITLES = frozenset(("title", "제목", "표제", "タイトル", "标题", "titel", "titre"))


def local(element: _Element) -> str:
    """The tag without its namespace (strict and transitional files differ in it only)."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def child(element: _Element | None, *path: str) -> _Element | None:
    """The first child of that local name, step by step."""
    for name in path:
        if element is None:
            return None
        element = next((one for one in element if local(one) == name), None)
    return element


def attribute(element: _Element | None, name: str) -> str:
    """An attribute by its local name; "" without it."""
    if element is None:
        return ""
    for key, value in element.attrib.items():
        if str(key).rpartition("}")[2] == name:
            return str(value)
    return ""


@dataclass(slots=True)
class Style:
    """What a paragraph style says that matters here."""

    name: str = ""
    based_on: str = ""
    outline: int | None = None
    num_id: str = ""
    num_level: str = ""


@dataclass(slots=True)
class Level:
    """One level of a numbering: format, text such as "%1.%2.", start."""

    kind: str = "bullet"
    text: str = ""
    start: int = 1


@dataclass(slots=True)
class Numbering:
    """Lists: which definition a list uses, its levels, and the starts it overrides."""

    abstract: dict[str, str] = field(default_factory=dict)
    levels: dict[str, dict[int, Level]] = field(default_factory=dict)
    starts: dict[tuple[str, int], int] = field(default_factory=dict)


class Package:
    """Gives the parts by their role, found through the relationships."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._main = self._target("", "officeDocument") or "word/document.xml"

    def _target(self, part: str, role: str) -> str:
        folder, _, name = part.rpartition("/")
        rels = join(folder, "_rels", f"{name}.rels")
        root = self._archive.xml(rels)
        for one in root if root is not None else ():
            if attribute(one, "Type").endswith(f"/{role}"):
                target = attribute(one, "Target")
                if attribute(one, "TargetMode") == "External":
                    continue
                return normpath(join(dirname(part), target)).lstrip("/")
        return ""

    def part(self, role: str) -> _Element | None:
        """A part that the main document relates to, such as "styles" or "footnotes"."""
        target = self._target(self._main, role)
        return self._archive.xml(target) if target else None

    @cached_property
    def document(self) -> _Element | None:
        """The root of the main part."""
        return self._archive.xml(self._main)

    @cached_property
    def title(self) -> str:
        """The title of the core properties."""
        core = self._target("", "core-properties")
        root = self._archive.xml(core) if core else None
        found = child(root, "title")
        return (found.text or "") if found is not None else ""

    @cached_property
    def styles(self) -> dict[str, Style]:
        """Paragraph styles by id."""
        out: dict[str, Style] = {}
        root = self.part("styles")
        for one in root if root is not None else ():
            if local(one) == "style" and attribute(one, "type") in ("paragraph", ""):
                out[attribute(one, "styleId")] = _style(one)
        return out

    def chain(self, style_id: str) -> Iterator[Style]:
        """A style and those it is based on; cycles end."""
        for _ in range(MAX_BASED_ON):
            style = self.styles.get(style_id)
            if style is None:
                return
            yield style
            style_id = style.based_on

    def heading_level(self, style_id: str) -> int:
        """1..9 for a heading style (by outline level or name, inherited), 0 for others."""
        for style in self.chain(style_id):
            if found := _HEADING.match(style.name):
                return int(found.group(1))
            if style.outline is not None:
                return style.outline + 1 if style.outline < 9 else 0
        return 0

    def is_title(self, style_id: str) -> bool:
        """Whether this is the style of the document's title."""
        style = self.styles.get(style_id)
        return style is not None and style.name.lower() in _TITLES

    @cached_property
    def numbering(self) -> Numbering:
        """The list definitions."""
        out = Numbering()
        root = self.part("numbering")
        for one in root if root is not None else ():
            if local(one) == "abstractNum":
                levels = (level for level in one if local(level) == "lvl")
                out.levels[attribute(one, "abstractNumId")] = {
                    _number(attribute(level, "ilvl")): _level(level) for level in levels
                }
            elif local(one) == "num":
                _list(one, out)
        return out


def _style(element: _Element) -> Style:
    properties = child(element, "pPr")
    outline = attribute(child(properties, "outlineLvl"), "val")
    return Style(
        name=attribute(child(element, "name"), "val").strip(),
        based_on=attribute(child(element, "basedOn"), "val"),
        outline=_number(outline) if outline else None,
        num_id=attribute(child(properties, "numPr", "numId"), "val"),
        num_level=attribute(child(properties, "numPr", "ilvl"), "val"),
    )


def _level(element: _Element) -> Level:
    start = attribute(child(element, "start"), "val")
    return Level(
        kind=attribute(child(element, "numFmt"), "val") or "decimal",
        text=attribute(child(element, "lvlText"), "val"),
        start=_number(start) if start else 1,
    )


def _list(element: _Element, out: Numbering) -> None:
    list_id = attribute(element, "numId")
    out.abstract[list_id] = attribute(child(element, "abstractNumId"), "val")
    for one in element:
        if local(one) == "lvlOverride":
            start = attribute(child(one, "startOverride"), "val")
            if start:
                out.starts[list_id, _number(attribute(one, "ilvl"))] = _number(start)


def _number(text: str) -> int:
    return int(text) if text.lstrip("-").isascii() and text.lstrip("-").isdigit() else 0
