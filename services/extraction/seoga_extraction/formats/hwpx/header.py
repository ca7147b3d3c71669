"""The header part of an HWPX file: paragraph shapes, styles, numberings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from seoga_extraction.formats._hancom.model import Head, Level, Styles

if TYPE_CHECKING:
    from lxml.etree import _Element

_KINDS = {"OUTLINE": "outline", "NUMBER": "number", "BULLET": "bullet"}


def local(element: _Element) -> str:
    """The tag without its namespace: they differ between the years of the format."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def number(element: _Element | None, name: str, default: int = 0) -> int:
    """An attribute as a number; what is none, or beyond 32 bits, is `default`."""
    value = "" if element is None else str(element.get(name, ""))
    return int(value) if value.isascii() and value.isdigit() and len(value) < 11 else default


def styles_of(root: _Element | None) -> Styles:
    """The styles of a document; empty ones without a header."""
    styles = Styles()
    for one in () if root is None else root.iter():
        name = local(one)
        if name == "paraPr":
            styles.heads[number(one, "id")] = _head(one)
        elif name == "style":
            styles.names[number(one, "id")] = str(one.get("name", ""))
        elif name == "numbering":
            styles.levels[number(one, "id")] = dict(_levels(one))
    return styles


def _head(shape: _Element) -> Head:
    for one in shape:
        if local(one) == "heading":
            kind = _KINDS.get(str(one.get("type", "")), "")
            return Head(kind, number(one, "idRef"), number(one, "level"))
    return Head()


def _levels(numbering: _Element) -> Iterator[tuple[int, Level]]:
    for one in numbering:
        if local(one) == "paraHead":
            shape = str(one.get("numFormat", "DIGIT"))
            text = "".join(str(piece) for piece in one.itertext())
            # Levels count from 1 here and from 0 in paragraphs.
            yield number(one, "level", 1) - 1, Level(shape, text, number(one, "start", 1))
