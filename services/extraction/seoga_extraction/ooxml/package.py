"""Parts of an Office package by their role, and elements by their local name.

Strict (ISO 29500) and transitional files differ in their namespaces only, so those are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING

from seoga_extraction.archive import Archive

if TYPE_CHECKING:
    from lxml.etree import _Element

# What programs write as the title of a document that has none.
_NO_TITLES = frozenset(
    (
        "powerpoint presentation",
        "presentation",
        "powerpoint 프레젠테이션",
        "프레젠테이션",
        "slide 1",
        "슬라이드 1",
        "제목 없음",
        "untitled",
    )
)


def local(element: _Element) -> str:
    """The tag without its namespace; "" for comments and processing instructions."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def children(element: _Element | None, name: str) -> Iterator[_Element]:
    """The children of that local name."""
    for one in element if element is not None else ():
        if local(one) == name:
            yield one


def child(element: _Element | None, *path: str) -> _Element | None:
    """The first child of that local name, step by step."""
    for name in path:
        element = next(children(element, name), None)
    return element


def descendants(element: _Element | None, *names: str) -> Iterator[_Element]:
    """All elements below that have one of the local names, in document order."""
    if element is not None:
        yield from element.iter(*[f"{{*}}{name}" for name in names])


def attribute(element: _Element | None, name: str) -> str:
    """An attribute by its local name; "" without it. The one without a namespace wins."""
    if element is None:
        return ""
    if (plain := element.get(name)) is not None:
        return str(plain)
    for key, value in element.attrib.items():
        if str(key).rpartition("}")[2] == name:
            return str(value)
    return ""


def related(element: _Element | None, name: str = "id") -> str:
    """The relationship id in an attribute such as `r:id`, which may stand beside a plain `id`."""
    if element is None:
        return ""
    for key, value in element.attrib.items():
        space, _, own = str(key).rpartition("}")
        if own == name and space.endswith("/relationships"):
            return str(value)
    return ""


def flag(element: _Element | None, name: str) -> bool:
    """Whether a boolean attribute is set."""
    return attribute(element, name) in ("1", "true", "on")


def number(text: str, default: int = 0) -> int:
    """A whole number of an attribute; `default` for anything else."""
    digits = text.removeprefix("-")
    if len(digits) > 15 or not digits.isascii() or not digits.isdigit():
        return default
    return int(text)


@dataclass(frozen=True, slots=True)
class Relation:
    """One relationship of a part: `role` is the last step of its type, `target` a part's name,
    or an address when `external`."""

    id: str
    role: str
    target: str
    external: bool


class Relations:
    """The relationships of one part ("" for the package)."""

    def __init__(self, archive: Archive, part: str) -> None:
        self._by_id: dict[str, Relation] = {}
        folder, _, name = part.rpartition("/")
        root = archive.xml(join(folder, "_rels", f"{name}.rels"))
        for one in root if root is not None else ():
            external = attribute(one, "TargetMode") == "External"
            target = attribute(one, "Target")
            if not external:
                target = normpath(join("/", dirname(part), target)).lstrip("/")
            role = attribute(one, "Type").rpartition("/")[2]
            relation = Relation(attribute(one, "Id"), role, target, external)
            self._by_id.setdefault(relation.id, relation)

    def part(self, relation_id: str) -> str:
        """The part that a relationship leads to; "" for none or one outside the file."""
        relation = self._by_id.get(relation_id)
        return "" if relation is None or relation.external else relation.target

    def address(self, relation_id: str) -> str:
        """The address outside the file that a relationship leads to; "" for none."""
        relation = self._by_id.get(relation_id)
        return relation.target if relation is not None and relation.external else ""

    def role_of(self, relation_id: str) -> str:
        """The role of a relationship, such as "worksheet"; "" for none."""
        relation = self._by_id.get(relation_id)
        return "" if relation is None else relation.role

    def parts(self, role: str) -> list[str]:
        """The parts of a role, in the order they are named."""
        found = self._by_id.values()
        return [one.target for one in found if one.role == role and not one.external]


def title_of(archive: Archive) -> str:
    """The title in the core properties; "" without one, or with the program's own."""
    for part in Relations(archive, "").parts("core-properties"):
        title = child(archive.xml(part), "title")
        if title is not None and title.text:
            text = title.text.strip()
            return "" if text.lower() in _NO_TITLES else text
    return ""
