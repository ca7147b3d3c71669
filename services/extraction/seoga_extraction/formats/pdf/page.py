"""One page of a PDF: its text layer in reading order, its tables, and if it needs OCR."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from seoga_extraction.format import pipes
from seoga_extraction.formats.pdf.fields import among, placed, textpage
from seoga_extraction.formats.pdf.overprint import APART, joined_letters, once, seen
from seoga_extraction.formats.pdf.pasted import Pasted, area, pasted, size
from seoga_extraction.formats.pdf.rendering import mupdf, unturned
from seoga_extraction.formats.pdf.tables import Word, fill, grids
from seoga_extraction.formats.pdf.vertical import columns
from seoga_extraction.formats.pdf.vertical import words as stacked
from seoga_extraction.layout import LEVEL, Line, compounds, paragraphs, regions, turned
from seoga_extraction.symbols import symbol

# A page with less text than this and images over half of it is a scan with a stub of text.
STUB_CHARS = 200
# A running header; with less, an image need not cover so much to be the body of the page.
HEADER_CHARS = 50
# With more text than a stub: a full page of 10 points covers a third of itself, a header and a
# footer of 300 letters a fiftieth. Behind those the image must be the page, not a figure on it.
WRITTEN = 0.05
BODY = 0.7
# Letters drawn as outlines take hundreds of paths, a frame or a rule one.
OUTLINES = 200
UNREADABLE = re.compile("[\x00-\x08\x0e-\x1f\ufffd\ue000-\uf8ff]")
# What the library calls a block of what is drawn, and a bold font.
_VECTOR = 3
_BOLD = 16
# What it calls text of render mode 3.
_UNPAINTED = 3
_SIGNS = re.compile("[\x00-\x08\x0e-\x1f\ufffd]")
# The number of a page, as printed on it. It never goes back: years would be cut in all ways.
_NUMBER = re.compile(
    r"(?:page|of|p|제|쪽|페이지|[ivxlc]++|\d{1,4}+|[-–—|·•/()\[\].,\s]++)++", re.IGNORECASE
)
# Stands for a picture until it is recognised; no text has this sign.
_PICTURE = "\ufdd0"
# Fonts of signs, by what the library calls them, whose text may be codes (up to U+00FF) of theirs.
_SYMBOLS = {
    "ZapfDingbats": "zapfdingbats",
    "Wingdings": "wingdings",
    "Wingdings-Regular": "wingdings",
    "Wingdings2": "wingdings 2",
}
_CODES = "\xff"
_UNSEEN = ("clip", "ignore")
_WORD = re.compile(r"\w\w")
# The dots of a table of contents, and rules made of dots.
_LEADER = re.compile(r"(?:[.·…]\s?){5,}")


@dataclass(frozen=True, slots=True)
class PageLayer:
    """What the text layer of a page gives; `tables` are those of the texts that are tables, and
    `unseen` what a scan holds beside what it shows."""

    texts: list[str]
    tables: frozenset[str] = frozenset()
    scan: bool = False
    # Text that is not painted: no recognition of a scan can find it.
    unseen: tuple[str, ...] = ()
    # Scans pasted beside the text, each with the index of the text that it stands before.
    pasted: tuple[tuple[int, Pasted], ...] = ()

    @property
    def wordless(self) -> bool:
        """Whether no two letters stand together: a font whose signs mean other letters."""
        return not any(_WORD.search(text) for text in self.texts)


def read(page: Any, fields: bool = False, cut: Callable[[str], object] = str) -> PageLayer:
    """The text layer; with `fields` those of a form stand beside their labels, and `cut` is told
    of those that do not. Raises what the library raises for a broken page."""
    layer, filled = _text(page, fields, cut)
    blocks = layer.extractDICT()["blocks"]
    raw = [line for block in blocks for line in block.get("lines", ())]
    made = [_line(one) for one in raw]
    if any(line is not None and APART.fullmatch(line.text) for line in made):
        made = _letters_joined(made, layer)
    lines = [line for line in made if line is not None]
    if filled:
        lines = among(lines, filled, _words(layer))
    lines = turned(columns(seen(lines)))
    if filled:
        lines = placed(lines)
    # Without a single line or box on it no page has a table: to ask for paths costs as much
    # again as a third of the text.
    if any(block["type"] == _VECTOR for block in blocks):
        for table in _tables(page, layer, lines, filled):
            lines = _instead(lines, table)
    return _layer(page, lines)


def _text(page: Any, fields: bool, cut: Callable[[str], object]) -> tuple[Any, list[Line]]:
    if fields:
        return textpage(page, _flags(), cut)
    return page.get_textpage(flags=_flags()), []


def _words(layer: Any) -> list[Word]:
    return [Word(*word[:5]) for word in layer.extractWORDS()]


@cache
def _flags() -> int:
    """Text as it stands, and after it what is drawn: lines of text are not cut by it."""
    library = mupdf()
    drawn = library.TEXT_COLLECT_VECTORS | library.TEXT_LAZY_VECTORS
    return int(library.TEXT_PRESERVE_WHITESPACE | library.TEXT_MEDIABOX_CLIP | drawn)


def _layer(page: Any, lines: Sequence[Line]) -> PageLayer:
    layer = _written_on(lines)
    if _is_scan(page, layer, lines):
        said = [line.text for line in lines if line.filled and _WORD.search(line.text)]
        return replace(layer, scan=True, unseen=(*_unpainted(page), *said))
    # What is wrong with an image must not cost the text.
    with suppress(mupdf().mupdf.FzErrorBase, RuntimeError, ValueError):
        if found := pasted(page):
            return _placed(lines, found)
    return layer


def _written_on(lines: Sequence[Line]) -> PageLayer:
    hyphened = compounds(lines)
    texts = [text for region in regions(lines) for text in paragraphs(region, hyphened)]
    known = frozenset(line.text for line in lines if line.whole and line.text.startswith("|"))
    bad = sum(len(UNREADABLE.findall(text)) for text in texts if _suspicious(text))
    if bad:
        # A few signs without a meaning are blanks or bullets of a symbol font; many are a font
        # without a way back to letters.
        known = frozenset(_SIGNS.sub(" ", text) for text in known)
        many = bad * 10 > sum(map(len, texts)) * 3
        texts = [] if many else [_SIGNS.sub(" ", text) for text in texts]
    return PageLayer([text for text in texts if not text.isspace()], known)


def _placed(lines: Sequence[Line], found: Sequence[Pasted]) -> PageLayer:
    """The texts in reading order with the pictures among them; below a text on its side."""
    level = sum(len(line.text) for line in lines if line.direction == LEVEL)
    on_side = 2 * level < sum(len(line.text) for line in lines)
    placed = list(lines)
    for number, one in enumerate(found):
        x0, y0, x1, y1 = one.box
        below = (i for i, line in enumerate(placed) if line.y0 >= y0 and x0 < line.x1 <= x1)
        at = next(below, len(placed))
        if not on_side:
            placed.insert(at, Line(x0, y0, x1, y1, f"{_PICTURE}{number}", whole=True))
    layer = _written_on(placed)
    texts: list[str] = []
    stands: list[tuple[int, Pasted]] = []
    for text in layer.texts:
        if text.startswith(_PICTURE):
            stands.append((len(texts), found[int(text[1:])]))
        else:
            texts.append(text)
    stands += [(len(texts), one) for one in found if one not in [known for _, known in stands]]
    return replace(layer, texts=texts, pasted=tuple(stands))


def _suspicious(text: str) -> bool:
    """Whether a sign without a meaning may be in it: most texts have none, and this is quick."""
    return "\ufffd" in text or not text.isprintable()


def _line(raw: dict[str, Any]) -> Line | None:
    spans = raw["spans"]
    widest = spans[0]
    for span in spans:
        if span["font"] in _SYMBOLS:
            span["text"] = _meant(span["text"], _SYMBOLS[span["font"]])
    text = widest["text"]
    bold = bool(widest["flags"] & _BOLD)
    if len(spans) > 1:
        widest = max(spans, key=lambda span: len(span["text"]))
        text = "".join([span["text"] for span in spans])
        bold = all(span["flags"] & _BOLD for span in spans if not span["text"].isspace())
    text = text.replace("\xa0", " ")
    if text.count(".") > 4 or "·" in text or "…" in text:
        text = _LEADER.sub(" … ", text)
    if not text.strip(" …"):
        return None
    x0, y0, x1, y1 = raw["bbox"]
    return Line(x0, y0, x1, y1, text.strip(), widest["size"], bold, raw["dir"])


def _meant(text: str, font: str) -> str:
    """Text of a font without letters: what has no meaning outside it is a letter's code."""
    known = (
        sign if sign > _CODES and sign < "\uf000" else symbol(ord(sign), font) for sign in text
    )
    return "".join([meant or sign for meant, sign in zip(known, text, strict=True)])


def _letters_joined(lines: Sequence[Line | None], layer: Any) -> list[Line | None]:
    """The lines with those set wide as words: asked again with the place of each character."""
    blocks = layer.extractRAWDICT()["blocks"]
    raw = [line for block in blocks for line in block.get("lines", ())]
    if len(raw) != len(lines):
        return list(lines)
    out: list[Line | None] = []
    for line, own in zip(lines, raw, strict=True):
        if line is None or line.direction != LEVEL or not APART.fullmatch(line.text):
            out.append(line)
            continue
        signs = [sign for span in own["spans"] for sign in span["chars"]]
        out.append(line._replace(text=joined_letters(signs, line.size) or line.text))
    return out


def _tables(page: Any, layer: Any, lines: Sequence[Line], filled: Sequence[Line]) -> list[Line]:
    """Each table as a block; none where the text does not run level."""
    if len(lines) < 4 or lines[0].direction != (1.0, 0.0):
        return []
    found = grids(page.get_cdrawings(), (page.rect.width, page.rect.height))
    if not found:
        return []
    words = stacked(once(_words(layer)))
    words += [Word(*line[:5]) for line in filled]
    tables = []
    for grid in found:
        x0, y0, x1, y1 = grid.box
        inside = [word for word in words if _centred(word, grid.box)]
        if rows := fill(grid, inside):
            tables.append(Line(x0, y0, x1, y1, pipes(rows), whole=True))
    return tables


def _instead(lines: list[Line], table: Line) -> list[Line]:
    """The lines with the table in the place of those that it holds."""
    box = (table.x0, table.y0, table.x1, table.y1)
    out: list[Line] = []
    placed = False
    for line in lines:
        if not _centred(line, box):
            out.append(line)
        elif not placed:
            out.append(table)
            placed = True
    return out


def _centred(box: Line | Word, around: tuple[float, float, float, float]) -> bool:
    x0, y0, x1, y1 = around
    return x0 <= (box.x0 + box.x1) / 2 <= x1 and y0 <= (box.y0 + box.y1) / 2 <= y1


def _is_scan(page: Any, layer: PageLayer, lines: Sequence[Line]) -> bool:
    """Whether the page shows more than its text says: images or drawn letters without text."""
    count = sum(len(text) for text in layer.texts)
    if count >= STUB_CHARS and _written(lines) >= WRITTEN * size(page):
        return False
    marks = page.get_bboxlog()
    numbered = _NUMBER.fullmatch(" ".join(layer.texts)) is not None
    if layer.wordless and not numbered:
        return any(not kind.startswith(_UNSEEN) for kind, _ in marks)
    if any(kind == "ignore-text" for kind, _ in marks) and _is_recognised(page):
        return False
    if numbered and sum(kind.endswith("-path") for kind, _ in marks) >= OUTLINES:
        return True
    images = [box for kind, box in marks if kind in ("fill-image", "fill-imgmask")]
    # Scans may come in strips: together they cover the page.
    whole = unturned(page)
    shown = sum(area(box, whole) for box in images)
    return shown >= _share(count, numbered) * size(page)


def _is_recognised(page: Any) -> bool:
    """Whether its unpainted text is what another recognition left: as much as a page has, where
    programs for scans and for files of a court leave their name or a number."""
    return sum(map(len, _unpainted(page))) >= STUB_CHARS


def _unpainted(page: Any) -> list[str]:
    """The spans of text that are there to be found, not to be seen (render mode 3)."""
    spans = (span["chars"] for span in page.get_texttrace() if span["type"] == _UNPAINTED)
    texts = ("".join([chr(sign[0]) for sign in signs]).strip() for signs in spans)
    return [text for text in texts if text]


def _written(lines: Sequence[Line]) -> float:
    """How much of the page its text covers, in square points: a letter is half as wide as high.

    What is said again and again, such as a watermark, counts once. A table is more than a stub.
    """
    if any(line.whole for line in lines):
        return float("inf")
    sizes = {line.text: line.size for line in lines}
    return sum(len(text) * size * size / 2 for text, size in sizes.items())


def _share(count: int, numbered: bool) -> float:
    """How much of a page with so many characters its images must cover to be what it says."""
    if numbered:
        return 0.05
    if count >= STUB_CHARS:
        return BODY
    return 0.2 if count < HEADER_CHARS else 0.5
