"""Walks the tree of a page and yields its sections."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from seoga.models import Section, SectionKind
from seoga_extraction.format import Outline, fenced, one_line, pipes
from seoga_extraction.formats.html.lists import LISTS, list_lines
from seoga_extraction.formats.html.tables import caption_of, is_layout, own_cells, table_rows
from seoga_extraction.formats.html.tree import (
    INLINE,
    MAX_DEPTH,
    dropped,
    has_block,
    inline,
    one_space,
    tidy,
)

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_LANGUAGE = re.compile(r"\b(?:language|lang|highlight-source|sourceCode)[- ]([\w+#-]+)")
# How pages mark what readers have said below them (schema.org).
_COMMENT = "//schema.org/Comment"


class Walker:
    """Walks a tree and yields sections; text between blocks gathers into paragraphs."""

    def __init__(self) -> None:
        self._outline = Outline()
        self._inline: list[str] = []
        self._kind = SectionKind.PARAGRAPH

    def walk(self, element: HtmlElement) -> Iterator[Section]:
        """The sections of the element's content."""
        yield from self._content(element, 0)
        yield from self._flush()

    def _content(self, element: HtmlElement, depth: int) -> Iterator[Section]:
        self._inline.append(one_space(element.text or ""))
        for child in element:
            if not dropped(child):
                yield from self._child(child, depth + 1)
            self._inline.append(one_space(child.tail or ""))

    def _child(self, child: HtmlElement, depth: int) -> Iterator[Section]:
        tag = child.tag
        if depth > MAX_DEPTH or (tag in INLINE and not has_block(child)):
            self._inline.append(inline(child))
            return
        special = self._special(tag)
        if special is None and tag in INLINE:
            yield from self._content(child, depth)
            return
        yield from self._flush()
        if special is None:
            outer = self._kind
            if _COMMENT in child.get("itemtype", ""):
                self._kind = SectionKind.COMMENT
            yield from self._content(child, depth)
            yield from self._flush()
            self._kind = outer
        else:
            yield from special(child, depth)

    def _special(self, tag: str) -> Callable[[HtmlElement, int], Iterator[Section]] | None:
        if len(tag) == 2 and tag[0] == "h" and tag[1] in "123456":
            return self._heading
        if tag in LISTS:
            return self._list
        return {"pre": self._code, "table": self._table, "hr": _nothing}.get(tag)

    def _flush(self) -> Iterator[Section]:
        text = tidy("".join(self._inline))
        self._inline = []
        if text:
            yield Section(text, self._kind, self._outline.path)

    def _heading(self, element: HtmlElement, _: int) -> Iterator[Section]:
        title = one_line(inline(element)).removesuffix("¶").strip()
        if title:
            yield self._outline.heading(int(element.tag[1]), title)

    def _code(self, element: HtmlElement, _: int) -> Iterator[Section]:
        code = element.text_content().strip("\n").rstrip()
        around = element.getparent()
        marked = (element, *element.iter("code"), *(() if around is None else (around,)))
        found = _LANGUAGE.search(" ".join(one.get("class", "") for one in marked))
        if code.strip():
            text = fenced(code, found.group(1) if found else "")
            yield Section(text, SectionKind.CODE, self._outline.path)

    def _list(self, element: HtmlElement, depth: int) -> Iterator[Section]:
        held: list[str] = []
        for piece in list_lines(element):
            if isinstance(piece, str):
                held.append(piece)
                continue
            yield from self._held(held)
            held = []
            yield from self._child(piece, depth + 1)
        yield from self._held(held)

    def _held(self, lines: list[str]) -> Iterator[Section]:
        if lines:
            yield Section("\n".join(lines), SectionKind.LIST, self._outline.path)

    def _table(self, element: HtmlElement, depth: int) -> Iterator[Section]:
        """A table that only arranges blocks gives its cells one after another."""
        if caption := caption_of(element):
            yield Section(caption, heading_path=self._outline.path)
        if not is_layout(element):
            if text := pipes(table_rows(element)):
                yield Section(text, SectionKind.TABLE, self._outline.path)
            return
        for cell in own_cells(element):
            yield from self._content(cell, depth)
            yield from self._flush()


def _nothing(_: HtmlElement, __: int) -> Iterator[Section]:
    return iter(())
