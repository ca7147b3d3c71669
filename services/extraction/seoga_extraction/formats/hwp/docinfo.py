"""The DocInfo stream of an HWP 5 document: paragraph shapes, styles, numberings."""

from __future__ import annotations

from collections.abc import Iterator

from seoga_extraction.formats._hancom.lists import SHAPES
from seoga_extraction.formats._hancom.model import Head, Level, Styles
from seoga_extraction.formats.hwp.records import Record, Tag, records

_KINDS = ("", "outline", "number", "bullet")
_LEVELS = 7


def styles_of(data: bytes) -> Styles:
    """The styles of a document; numberings count from 1, the others from 0."""
    styles = Styles()
    for record in records(data):
        if record.tag == Tag.PARA_SHAPE:
            styles.heads[len(styles.heads)] = _head(record)
        elif record.tag == Tag.STYLE:
            styles.names[len(styles.names)] = record.text(0)[0]
        elif record.tag == Tag.NUMBERING:
            styles.levels[len(styles.levels) + 1] = dict(enumerate(_levels(record)))
    return styles


def _head(shape: Record) -> Head:
    bits = shape.long(0)
    return Head(_KINDS[bits >> 23 & 3], shape.word(30), bits >> 25 & 7)


def _levels(numbering: Record) -> Iterator[Level]:
    levels: list[tuple[str, str]] = []
    at = 0
    for _ in range(_LEVELS):
        code = numbering.long(at) >> 5 & 0xF
        text, at = numbering.text(at + 12)
        levels.append((SHAPES[code] if code < len(SHAPES) else "DIGIT", text))
    # One start for the first level in old files, one for each after it in newer ones.
    first = numbering.word(at, 1)
    for index, (shape, text) in enumerate(levels):
        start = numbering.long(at + 2 + 4 * index, first if index == 0 else 1)
        # 0 is what files carry that mean 1.
        yield Level(shape, text, start if 0 < start < 100_000 else 1)
