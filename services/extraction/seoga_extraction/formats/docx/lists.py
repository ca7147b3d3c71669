"""List definitions of a Word document, and the marks that Word shows, counted as Word counts."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from seoga_extraction.numerals import shown
from seoga_extraction.ooxml.package import attribute, child, children, number

if TYPE_CHECKING:
    from lxml.etree import _Element

_PLACE = re.compile(r"%([1-9])")
MAX_LEVEL = 8
MAX_LINKS = 10


@dataclass(frozen=True, slots=True)
class Level:
    """One level: number format, text such as "%1.%2.", start; `after` is the level (from 1) whose
    items restart it, 0 for never, None for any above; `style` is the style linked to it."""

    kind: str = "bullet"
    text: str = ""
    start: int = 1
    legal: bool = False
    after: int | None = None
    style: str = ""


@dataclass(slots=True)
class Numbering:
    """Lists (`w:num`) by id: which definition they use, and what they override of it."""

    abstract: dict[str, str] = field(default_factory=dict)
    levels: dict[str, dict[int, Level]] = field(default_factory=dict)
    starts: dict[tuple[str, int], int] = field(default_factory=dict)
    overrides: dict[tuple[str, int], Level] = field(default_factory=dict)
    # A definition may only point to a numbering style, which points to a list.
    links: dict[str, str] = field(default_factory=dict)
    styled: dict[str, str] = field(default_factory=dict)

    def definition(self, list_id: str) -> str | None:
        """The id of the definition that a list counts in; None for no such list."""
        found = self.abstract.get(list_id)
        for _ in range(MAX_LINKS):
            if found is None or (style := self.links.get(found)) is None:
                break
            found = self.styled.get(style)
        return found

    def level(self, list_id: str, level: int) -> Level:
        """One level of a list; a bullet where it is not defined."""
        if own := self.overrides.get((list_id, level)):
            return own
        return self.levels.get(self.definition(list_id) or "", {}).get(level, Level())

    def level_of_style(self, list_id: str, style: str) -> int:
        """The level that a paragraph style is linked to; 0 for none."""
        found = self.levels.get(self.definition(list_id) or "", {})
        return next((level for level, one in found.items() if one.style == style), 0)


def read_numbering(root: _Element | None) -> Numbering:
    """The numbering part."""
    out = Numbering()
    for one in children(root, "abstractNum"):
        own = attribute(one, "abstractNumId")
        out.levels[own] = {
            number(attribute(level, "ilvl")): _level(level) for level in children(one, "lvl")
        }
        if link := attribute(child(one, "numStyleLink"), "val"):
            out.links[own] = link
        if style := attribute(child(one, "styleLink"), "val"):
            out.styled[style] = own
    for one in children(root, "num"):
        list_id = attribute(one, "numId")
        out.abstract[list_id] = attribute(child(one, "abstractNumId"), "val")
        for override in children(one, "lvlOverride"):
            place = list_id, number(attribute(override, "ilvl"))
            if start := attribute(child(override, "startOverride"), "val"):
                out.starts[place] = number(start)
            if (level := child(override, "lvl")) is not None:
                out.overrides[place] = _level(level)
    return out


def _level(element: _Element) -> Level:
    legal = child(element, "isLgl")
    after = attribute(child(element, "lvlRestart"), "val")
    shape = child(element, "numFmt")
    if shape is None:
        # Formats of later Word versions stand in a choice.
        shape = child(element, "AlternateContent", "Fallback", "numFmt")
    return Level(
        kind=attribute(shape, "val") or "decimal",
        text=attribute(child(element, "lvlText"), "val"),
        start=number(attribute(child(element, "start"), "val"), 1),
        legal=legal is not None and attribute(legal, "val") not in ("0", "false"),
        after=number(after) if after else None,
        style=attribute(child(element, "pStyle"), "val"),
    )


class Counters:
    """Counts the items of every list of a document, in the order they stand."""

    def __init__(self, numbering: Numbering) -> None:
        self._numbering = numbering
        self._counts: dict[str, dict[int, int]] = defaultdict(dict)
        self._seen: set[tuple[str, int]] = set()

    def mark(self, list_id: str, level: int) -> str:
        """The mark of the next item: "-" for a bullet, "3." or "2.1" for a number, "" for none."""
        definition = self._numbering.definition(list_id)
        if definition is None:
            return ""
        own = self._numbering.level(list_id, level)
        counts = self._counts[definition]
        start = self._numbering.starts.get((list_id, level))
        if start is not None and (list_id, level) not in self._seen:
            counts[level] = start
        else:
            counts[level] = counts.get(level, own.start - 1) + 1
        self._seen.add((list_id, level))
        for deeper in [one for one in counts if one > level]:
            after = self._numbering.level(list_id, deeper).after
            if after is None or (after and level < after):
                del counts[deeper]
        if own.kind in ("bullet", "none") or not _PLACE.search(own.text):
            return "-" if own.kind == "bullet" else own.text.strip()
        return _PLACE.sub(lambda found: self._one(list_id, int(found[1]) - 1, own), own.text)

    def _one(self, list_id: str, level: int, own: Level) -> str:
        definition = self._numbering.level(list_id, level)
        counts = self._counts[self._numbering.definition(list_id) or ""]
        count = counts.get(level, definition.start)
        kind = "decimal" if own.legal or definition.kind == "bullet" else definition.kind
        return shown(count, kind)
