"""What drawings in Office files share: text of shapes, alternative texts, which version counts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from seoga_extraction.markup import one_line
from seoga_extraction.ooxml.package import attribute, child, children, descendants, local

if TYPE_CHECKING:
    from lxml.etree import _Element

# Names that programs give: they describe nothing.
_NAME = re.compile(
    r"^(?:[^\n]{1,200}\.(?:png|jpe?g|gif|bmp|tiff?|emf|wmf|svg|webp)|"
    r"(?:picture|image|graphic|chart|diagram|object|shape|그림|이미지|차트|도형|개체) ?\d*)$",
    re.IGNORECASE,
)
_GENERATED = re.compile(
    r"\s*(?:Description automatically generated(?: with .{1,40} confidence)?|"
    r"자동 생성된 설명|AI-generated content may be incorrect\.?)\s*$",
    re.IGNORECASE,
)
# What programs add stands in so many last characters.
_TAIL = 200
# What a Choice may need and still be read here.
_USABLE = ("t", "tbl", "chart", "relIds", "oMath", "pic", "graphicFrame")


def alternative(element: _Element) -> str:
    """The alternative text that a person wrote for a shape; names do not count."""
    for one in descendants(element, "cNvPr", "docPr"):
        text = attribute(one, "descr") or attribute(one, "title")
        text = one_line(text[:-_TAIL] + _GENERATED.sub("", text[-_TAIL:]))
        return "" if _NAME.match(text) else text
    return ""


def chosen(element: _Element) -> _Element | None:
    """The version of an mc:AlternateContent to read: the new one if it holds anything known."""
    for one in children(element, "Choice"):
        if next(descendants(one, *_USABLE), None) is not None:
            return one
    fallback = child(element, "Fallback")
    return fallback if fallback is not None else child(element, "Choice")


def shapes(element: _Element, names: frozenset[str]) -> Iterator[_Element]:
    """The children that are shapes of these local names, through alternate content."""
    for one in element:
        name = local(one)
        if name in names:
            yield one
        elif name == "AlternateContent" and (version := chosen(one)) is not None:
            yield from shapes(version, names)


def plain_text(body: _Element | None) -> str:
    """The paragraphs of a text body (`a:p`), one a line."""
    lines = []
    for paragraph in descendants(body, "p"):
        parts = [
            "\n" if local(one) == "br" else (one.text or "")
            for one in descendants(paragraph, "t", "br")
        ]
        lines.append("".join(parts).strip())
    return "\n".join(line for line in lines if line)
