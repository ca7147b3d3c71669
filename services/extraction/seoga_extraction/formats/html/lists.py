"""Lists of a page as Markdown lines, with the code and the tables that stand inside their items."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from seoga_extraction.formats.html.tree import INLINE, MAX_DEPTH, dropped, inline, one_space, tidy

if TYPE_CHECKING:
    from lxml.html import HtmlElement

LISTS = ("ul", "ol", "dl")
_MARKED = ("li", "dt")
MAX_LEVEL = 20


def list_lines(element: HtmlElement, level: int = 0) -> Iterator[str | HtmlElement]:
    """The lines of a list in order; a `pre` or a table inside an item comes as the element."""
    number = _number(element.get("start", ""), 1) - 1
    for item in element:
        if dropped(item):
            continue
        if item.tag in LISTS:
            yield from list_lines(item, min(level + 1, MAX_LEVEL))
        elif item.tag in ("div", "template") and element.tag == "dl":
            yield from list_lines(item, level)
        else:
            number = _number(item.get("value", ""), number + 1)
            yield from _item_lines(item, _mark(element, item, number), level)


def _mark(element: HtmlElement, item: HtmlElement, number: int) -> str:
    if item.tag == "dd":
        return " "
    mark = f"{number}." if element.tag == "ol" else "-"
    if "inline-task-list" in element.get("class", ""):
        mark += " [x]" if "checked" in item.get("class", "").split() else " [ ]"
    return mark


def _item_lines(item: HtmlElement, mark: str, level: int) -> Iterator[str | HtmlElement]:
    pad = "  " * level
    # The first line of an item carries its mark, wherever it comes from.
    lead = mark
    held: list[str] = []
    for piece in (*_pieces(item, 0), None):
        if isinstance(piece, str):
            held.append(piece)
            continue
        for line in tidy("".join(held)).split("\n"):
            if line:
                yield f"{pad}{lead} {line}"
                lead = " "
        held = []
        if piece is None:
            return
        if piece.tag in LISTS:
            yield from list_lines(piece, min(level + 1, MAX_LEVEL))
        else:
            yield piece


def _pieces(element: HtmlElement, depth: int) -> Iterator[str | HtmlElement]:
    """Text, and the elements that are not text, through the blocks of an item."""
    if depth > MAX_DEPTH:
        yield one_space("".join(element.itertext()))
        return
    yield one_space(element.text or "")
    for child in element:
        if not dropped(child):
            if child.tag in (*LISTS, "pre", "table"):
                yield child
            elif child.tag in INLINE and next(child.iter(*LISTS, "pre", "table"), None) is None:
                yield inline(child)
            else:
                yield "\n"
                yield from _pieces(child, depth + 1)
                yield "\n"
        yield one_space(child.tail or "")


def _number(text: str, default: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else default
