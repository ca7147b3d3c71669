"""Reading of Office Math elements: local names, properties, visible text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lxml.etree import _Element

_OFF = frozenset({"0", "off", "false"})


def local(element: _Element) -> str:
    """The name without its namespace; "" for comments and processing instructions."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def children(element: _Element) -> Iterator[_Element]:
    """The child elements, without comments and processing instructions."""
    return (one for one in element if isinstance(one.tag, str))


def child(element: _Element, name: str) -> _Element | None:
    """The first child of that local name."""
    return next((one for one in children(element) if local(one) == name), None)


def properties(element: _Element) -> dict[str, str | None]:
    """Names and values below the object's own properties; None where a value is not given."""
    found: dict[str, str | None] = {}
    for one in children(element):
        if local(one).endswith("Pr") and local(one) != "ctrlPr":
            for entry in children(one):
                found.setdefault(local(entry), _value(entry))
    return found


def flag(found: Mapping[str, str | None], name: str) -> bool:
    """An on-off property: on when it is there without a value that says off."""
    return name in found and (found[name] or "on").lower() not in _OFF


def visible_text(element: _Element) -> str:
    """The characters a reader sees, flat."""
    return "".join(one.text for one in element.iter() if local(one) == "t" and one.text)


def _value(element: _Element) -> str | None:
    for name, value in element.attrib.items():
        if str(name).rpartition("}")[2] == "val":
            return str(value)
    return None
