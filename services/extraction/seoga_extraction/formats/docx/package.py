"""The parts of a Word package: main document, styles, numbering, notes, headers, properties."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from seoga_extraction.format import Archive, one_line
from seoga_extraction.formats.docx.lists import Numbering, read_numbering
from seoga_extraction.ooxml.package import (
    Relations,
    attribute,
    child,
    children,
    local,
    number,
    title_of,
)

if TYPE_CHECKING:
    from lxml.etree import _Element

MAX_BASED_ON = 30
_HEADING = re.compile(
    r"^(?:heading|제목|개요|見出し|标题|標題|überschrift|titre|título|titolo|rubrik|kop|nagłówek|"
    r"заголовок)\s*(\d)$",
    re.IGNORECASE,
)
_TITLES = frozenset(("title", "제목", "표제", "タイトル", "标题", "titel", "titre"))
_CODE = frozenset(
    (
        "html preformatted",
        "source code",
        "code",
        "code block",
        "미리 서식이 지정된 html",
        "소스 코드",
    )
)
_PROPERTIES = {
    "creator": "author",
    "created": "created",
    "modified": "modified",
    "subject": "subject",
    "keywords": "keywords",
}


@dataclass(slots=True)
class Style:
    """What a paragraph style says that matters here."""

    id: str = ""
    name: str = ""
    based_on: str = ""
    outline: int | None = None
    num_id: str = ""
    num_level: str = ""


class Package:
    """Gives the parts by their role, found through the relationships."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        main = Relations(archive, "").parts("officeDocument")
        self._main = main[0] if main else "word/document.xml"
        self._relations: dict[str, Relations] = {}
        self.default_style = ""

    def part(self, role: str) -> _Element | None:
        """A part that the main document relates to, such as "styles" or "footnotes"."""
        found = self.relations.parts(role)
        return self._archive.xml(found[0]) if found else None

    @cached_property
    def relations(self) -> Relations:
        """The relationships of the main document."""
        return Relations(self._archive, self._main)

    def related(self, relation_id: str) -> _Element | None:
        """The XML part behind a relationship of the main document."""
        name = self.relations.part(relation_id)
        return self._archive.xml(name) if name else None

    def bytes_of(self, relation_id: str) -> tuple[str, bytes]:
        """Name and bytes of the part behind a relationship of the main document."""
        name = self.relations.part(relation_id)
        return name, self._archive.read(name) if name else b""

    @cached_property
    def document(self) -> _Element | None:
        """The root of the main part."""
        return self._archive.xml(self._main)

    @cached_property
    def title(self) -> str:
        """The title of the core properties."""
        return one_line(title_of(self._archive))

    @cached_property
    def properties(self) -> dict[str, Any]:
        """Author, dates, subject and keywords of the core properties, where they are set."""
        out: dict[str, Any] = {}
        for name in Relations(self._archive, "").parts("core-properties"):
            root = self._archive.xml(name)
            for one in root if root is not None else ():
                key, text = _PROPERTIES.get(local(one)), one_line(one.text or "")
                if key and text:
                    out[key] = text
        return out

    @cached_property
    def even_pages(self) -> bool:
        """Whether even pages have headers of their own."""
        setting = child(self.part("settings"), "evenAndOddHeaders")
        return setting is not None and attribute(setting, "val") not in ("0", "false", "off")

    @cached_property
    def styles(self) -> dict[str, Style]:
        """Paragraph styles by id; "" is the one of paragraphs that name none."""
        out: dict[str, Style] = {}
        for one in children(self.part("styles"), "style"):
            if attribute(one, "type") in ("paragraph", ""):
                style = _style(one)
                out[style.id] = style
                if attribute(one, "default") in ("1", "true", "on"):
                    out.setdefault("", style)
        return out

    def chain(self, style_id: str) -> Iterator[Style]:
        """A style and those it is based on; cycles end."""
        for _ in range(MAX_BASED_ON):
            style = self.styles.get(style_id)
            if style is None:
                return
            yield style
            style_id = style.based_on
            if not style_id:
                return

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

    def is_code(self, style_id: str) -> bool:
        """Whether paragraphs of this style are program text."""
        return any(style.name.lower() in _CODE for style in self.chain(style_id))

    def contents_level(self, style_id: str) -> int:
        """1..9 for a line of a table of contents, 0 for others."""
        style = self.styles.get(style_id)
        name = style.name.lower() if style else ""
        return number(name[4:]) if name.startswith(("toc ", "목차 ")) else 0

    @cached_property
    def numbering(self) -> Numbering:
        """The list definitions."""
        return read_numbering(self.part("numbering"))


def _style(element: _Element) -> Style:
    properties = child(element, "pPr")
    outline = attribute(child(properties, "outlineLvl"), "val")
    # Several names of one style are separated by commas.
    name = attribute(child(element, "name"), "val").partition(",")[0]
    return Style(
        id=attribute(element, "styleId"),
        name=name.strip(),
        based_on=attribute(child(element, "basedOn"), "val"),
        outline=number(outline) if outline else None,
        num_id=attribute(child(properties, "numPr", "numId"), "val"),
        num_level=attribute(child(properties, "numPr", "ilvl"), "val"),
    )
