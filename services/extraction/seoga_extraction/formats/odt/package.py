"""The parts of an OpenDocument text: content, styles, list styles, metadata, embedded objects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from seoga.errors import ExtractionFailed, Reason
from seoga_extraction.format import Archive, one_line

if TYPE_CHECKING:
    from lxml.etree import _Element

MAX_PARENTS = 30
_CODE = ("Preformatted_20_Text", "Source_20_Code", "Preformatted", "Code")
_META = {"initial-creator": "author", "creation-date": "created", "date": "modified"}


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a list style; `shape` is "" for a bullet, else "1", "a", "A", "i", "I" …"""

    shape: str = ""
    before: str = ""
    after: str = ""
    start: int = 1
    shown: int = 1


def local(element: _Element) -> str:
    """The tag without its namespace; "" for comments."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def attribute(element: _Element | None, name: str) -> str:
    """An attribute by its local name; "" without it."""
    for key, value in element.attrib.items() if element is not None else ():
        if str(key).rpartition("}")[2] == name:
            return str(value)
    return ""


def number(text: str, default: int) -> int:
    """A whole number of an attribute."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else default


def descendants(element: _Element | None, *names: str) -> Iterator[_Element]:
    """All elements below with one of the local names."""
    if element is not None:
        yield from element.iter(*[f"{{*}}{name}" for name in names])


class Package:
    """The archive must have been unsealed."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._content = archive.xml("content.xml")
        self._styles = archive.xml("styles.xml")

    @property
    def text(self) -> _Element | None:
        """The element that holds the body."""
        return next(descendants(self._content, "text"), None)

    @cached_property
    def title(self) -> str:
        """The title of the metadata."""
        found = next(descendants(self._archive.xml("meta.xml"), "title"), None)
        return one_line(found.text or "") if found is not None else ""

    @cached_property
    def properties(self) -> dict[str, Any]:
        """Author and dates."""
        out: dict[str, Any] = {}
        for one in descendants(self._archive.xml("meta.xml"), *_META):
            if text := one_line(one.text or ""):
                out[_META[local(one)]] = text
        return out

    @cached_property
    def _named(self) -> dict[str, _Element]:
        found: dict[str, _Element] = {}
        for root in (self._styles, self._content):
            for one in descendants(root, "style"):
                if attribute(one, "family") == "paragraph":
                    found[attribute(one, "name")] = one
        return found

    def chain(self, name: str) -> Iterator[_Element]:
        """A paragraph style and its parents."""
        for _ in range(MAX_PARENTS):
            style = self._named.get(name)
            if style is None:
                return
            yield style
            name = attribute(style, "parent-style-name")

    def is_title(self, style: str) -> bool:
        """Whether this is the style of the title, or made from it."""
        return any(attribute(one, "name") == "Title" for one in self.chain(style))

    def is_code(self, style: str) -> bool:
        """Whether paragraphs of this style are program text."""
        return any(attribute(one, "name") in _CODE for one in self.chain(style))

    @cached_property
    def lists(self) -> dict[str, dict[int, Level]]:
        """Levels (from 1) by the name of the list style; "" is the outline of headings."""
        out: dict[str, dict[int, Level]] = {}
        for root in (self._styles, self._content):
            for one in descendants(root, "list-style", "outline-style"):
                name = "" if local(one) == "outline-style" else attribute(one, "name")
                out[name] = {number(attribute(level, "level"), 1): _level(level) for level in one}
        return out

    def margins(self) -> Iterator[tuple[str, _Element]]:
        """Headers and footers of the page styles."""
        for one in descendants(self._styles, "master-page"):
            for part in one:
                name = local(part)
                if name.startswith(("header", "footer")):
                    yield name[:6], part

    def object_text(self, href: str) -> str:
        """A formula as LaTeX, or as it was typed (StarMath); "" for other objects."""
        name = href.removeprefix("./").rstrip("/") + "/content.xml"
        try:
            root = self._archive.xml(name)
        except ExtractionFailed as error:
            if error.reason is Reason.TOO_LARGE:
                raise
            return ""
        if root is None or local(root) != "math":
            return ""
        from seoga_extraction.math.mathml import mathml_to_latex

        if made := mathml_to_latex(root):
            return f"[math: {made}]"
        found = next(descendants(root, "annotation"), None)
        return f"`{one_line(found.text)}`" if found is not None and found.text else ""


def _level(element: _Element) -> Level:
    if local(element) == "list-level-style-bullet":
        return Level()
    return Level(
        shape=attribute(element, "num-format"),
        before=attribute(element, "num-prefix"),
        after=attribute(element, "num-suffix"),
        start=number(attribute(element, "start-value"), 1),
        shown=number(attribute(element, "display-levels"), 1),
    )
