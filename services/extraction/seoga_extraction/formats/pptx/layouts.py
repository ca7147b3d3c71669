"""What a slide inherits: places and list styles of placeholders, from its layout and master."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from seoga.errors import ExtractionFailed
from seoga_extraction.format import Archive
from seoga_extraction.formats.pptx.order import Box
from seoga_extraction.ooxml.package import (
    Relations,
    attribute,
    child,
    descendants,
    local,
    number,
)

if TYPE_CHECKING:
    from lxml.etree import _Element

Key = tuple[str, str]
# Placeholders of these types on a slide follow the one named on the master.
_MASTER = {"": "body", "obj": "body", "subTitle": "body", "ctrTitle": "title"}


def placeholder(shape: _Element) -> Key | None:
    """(type, idx) of a placeholder; None for other shapes."""
    for properties in shape:
        if local(properties).startswith("nv"):
            mark = child(properties, "nvPr", "ph")
            if mark is not None:
                return attribute(mark, "type"), attribute(mark, "idx")
            return None
    return None


def box_of(shape: _Element) -> Box | None:
    """Where a shape stands by its own account."""
    frame = child(shape, "xfrm")
    for name in ("spPr", "grpSpPr"):
        if frame is None:
            frame = child(shape, name, "xfrm")
    start, size = child(frame, "off"), child(frame, "ext")
    if start is None or size is None:
        return None
    x, y = number(attribute(start, "x")), number(attribute(start, "y"))
    return Box(x, y, number(attribute(size, "cx")), number(attribute(size, "cy")))


class Layout:
    """The placeholders of a layout and of its master. Parts that are missing give nothing."""

    def __init__(self, archive: Archive, part: str) -> None:
        masters = Relations(archive, part).parts("slideMaster") if part else []
        root = _root(archive, part)
        master = _root(archive, masters[0]) if masters else None
        self._own = dict(_placeholders(root))
        self._master = {key[0]: shape for key, shape in _placeholders(master)}
        self._body_style = child(master, "txStyles", "bodyStyle")

    def _inherited(self, key: Key) -> Iterator[_Element]:
        kind, index = key
        own = self._own.get(key)
        if own is None and index:
            own = next((one for (_, at), one in self._own.items() if at == index), None)
        if own is None and kind:
            own = next((one for (other, _), one in self._own.items() if other == kind), None)
        if own is not None:
            yield own
            kind = (placeholder(own) or key)[0]
        master = self._master.get(_MASTER.get(kind, kind))
        if master is not None:
            yield master

    def box(self, key: Key | None) -> Box | None:
        """Where a placeholder stands that does not say so itself."""
        boxes = (box_of(one) for one in self._inherited(key)) if key is not None else ()
        return next((box for box in boxes if box is not None), None)

    def styles(self, key: Key) -> list[_Element]:
        """The list styles of a placeholder, the nearest first."""
        found = [child(one, "txBody", "lstStyle") for one in self._inherited(key)]
        return [one for one in (*found, self._body_style) if one is not None]


def _root(archive: Archive, part: str) -> _Element | None:
    try:
        return archive.xml(part)
    except ExtractionFailed:
        return None


def _placeholders(root: _Element | None) -> Iterator[tuple[Key, _Element]]:
    for shape in descendants(root, "sp", "pic", "graphicFrame"):
        key = placeholder(shape)
        if key is not None:
            yield key, shape
