"""HWPML: a Hangul document as one XML file (Hancom's format 2.x), often named .hwp or .hml."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice
from typing import TYPE_CHECKING

from seoga.models import DocumentInfo, Section
from seoga_extraction.format import Format, Input, Parsed, one_line, parse_xml
from seoga_extraction.formats._hancom.model import (
    Box,
    Cell,
    Equation,
    Head,
    Level,
    Note,
    Paragraph,
    Piece,
    Styles,
    Table,
)
from seoga_extraction.formats._hancom.story import TITLE_WITHIN, Story, title_of

if TYPE_CHECKING:
    from lxml.etree import _Element

_ROOT = re.compile(r"^\ufeff?\s*<(?:\?xml|HWPML|!--|!DOCTYPE HWPML)")
_KINDS = {"Outline": "outline", "Number": "number", "Bullet": "bullet"}
_SIGNS = {"TAB": "\t", "LINEBREAK": "\n", "NBSPACE": " ", "FWSPACE": " ", "HYPEN": "-"}
_NOTES = {
    "HEADER": "header",
    "FOOTER": "footer",
    "FOOTNOTE": "footnote",
    "ENDNOTE": "endnote",
    "HIDDENCOMMENT": "hidden",
}
_BOXES = frozenset(["DRAWTEXT", "CAPTION"])
_SILENT = frozenset(["SECDEF", "COLDEF", "SHAPECOMMENT", "PARAMETERSET"])
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_META = {"AUTHOR": "author", "SUBJECT": "subject", "KEYWORDS": "keywords", "DATE": "date"}
MAX_SPAN = 10_000


def parse(source: Input) -> Parsed:
    """Sections as they stand; headers and footers once, at the end."""
    root = parse_xml(source.data)
    properties = {
        str(one.tag): one_line(one.text or "") for one in root.iterfind(".//DOCSUMMARY/*")
    }
    meta = {_META[name]: text for name, text in properties.items() if name in _META and text}
    sections = _sections(root)
    first = list(islice(sections, TITLE_WITHIN))
    yield DocumentInfo("hwpml", title_of(properties.get("TITLE", ""), first), meta)
    yield from chain(first, sections)


def _sections(root: _Element) -> Iterator[Section]:
    styles = _styles(root)
    story, body = Story(styles), _Body(styles)
    for section in root.iterfind("./BODY/SECTION"):
        yield from story.sections(body.paragraphs(section))
    yield from story.margins()


class _Body:
    def __init__(self, styles: Styles) -> None:
        self._styles = styles
        self._outline = 0

    def paragraphs(self, parent: _Element) -> Iterator[Paragraph]:
        for one in parent:
            if one.tag == "P":
                yield self._paragraph(one)
            elif one.tag == "PARALIST":
                yield from self.paragraphs(one)

    def _paragraph(self, element: _Element) -> Paragraph:
        pieces: list[Piece] = []
        self._gather(element, pieces)
        head = self._styles.heads.get(_number(element, "ParaShape", -1), Head())
        if head.kind == "outline":
            head = replace(head, list_id=self._outline or head.list_id)
        return Paragraph(pieces, self._styles.names.get(_number(element, "Style", -1), ""), head)

    def _gather(self, parent: _Element, pieces: list[Piece]) -> None:
        for one in parent:
            name = str(one.tag)
            if name == "CHAR":
                pieces.extend(_characters(one))
            elif name == "SECDEF":
                self._outline = _number(one, "OutlineShape", self._outline)
            elif name == "TABLE":
                pieces.append(self._table(one))
            elif name == "EQUATION":
                scripts = (script.text or "" for script in one.iterfind("SCRIPT"))
                pieces.extend(Equation(script.strip()) for script in scripts if script.strip())
            elif name in _NOTES:
                pieces.append(Note(_NOTES[name], list(self.paragraphs(one))))
            elif name == "FIELDBEGIN" and one.get("Type") == "Memo":
                pieces.append(Note("memo", list(self.paragraphs(one))))
            elif name in _BOXES:
                pieces.append(Box(list(self.paragraphs(one))))
            elif name not in _SILENT:
                self._gather(one, pieces)

    def _table(self, element: _Element) -> Table:
        cells = [
            Cell(
                _number(one, "RowAddr"),
                _number(one, "ColAddr"),
                list(self.paragraphs(one)),
                min(max(_number(one, "RowSpan", 1), 1), MAX_SPAN),
                min(max(_number(one, "ColSpan", 1), 1), MAX_SPAN),
            )
            for one in element.iterfind("./ROW/CELL")
        ]
        caption = [part for one in element.iterfind(".//CAPTION") for part in self.paragraphs(one)]
        return Table(cells, caption)


def _styles(root: _Element) -> Styles:
    styles = Styles()
    for shape in root.iterfind(".//PARASHAPE"):
        kind = _KINDS.get(str(shape.get("HeadingType")), "")
        head = Head(kind, _number(shape, "Heading"), _number(shape, "Level"))
        styles.heads[_number(shape, "Id")] = head
    for style in root.iterfind(".//STYLE"):
        styles.names[_number(style, "Id")] = str(style.get("Name", ""))
    for numbering in root.iterfind(".//NUMBERING"):
        styles.levels[_number(numbering, "Id")] = {
            _number(head, "Level", 1) - 1: Level(
                _CAMEL.sub("_", str(head.get("NumFormat", "Digit"))).upper(),
                "".join(str(piece) for piece in head.itertext()),
                _number(head, "Start", 1),
            )
            for head in numbering.iterfind("PARAHEAD")
        }
    return styles


def _characters(element: _Element) -> Iterator[str]:
    yield element.text or ""
    for one in element:
        yield _SIGNS.get(str(one.tag), "")
        yield one.tail or ""


def _number(element: _Element, name: str, default: int = 0) -> int:
    value = str(element.get(name, ""))
    return int(value) if value.isascii() and value.isdigit() and len(value) < 11 else default


def sniff(source: Input) -> bool:
    """XML whose first element is HWPML, in UTF-8 or UTF-16."""
    utf16 = source.head[:2] in (b"\xff\xfe", b"\xfe\xff")
    if not utf16 and b"<HWPML" not in source.head:
        return False
    start = source.head[:4096].decode("utf-16" if utf16 else "utf-8", "ignore")
    return _ROOT.match(start) is not None and "<HWPML" in start


FORMAT = Format("hwpml", parse, extensions=(".hml",), sniff=sniff, needs=("lxml",), version="2")
