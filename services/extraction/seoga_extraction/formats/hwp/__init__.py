"""HWP 5, the binary format of Hangul: compound file, inflated record streams, read directly."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import chain, islice

from seoga.errors import ExtractionFailed
from seoga.models import DocumentInfo, Section
from seoga_extraction.enclosed import Enclosed
from seoga_extraction.format import Format, Input, Parsed, corrupt, one_line, parse_xml
from seoga_extraction.formats._hancom.chart import chart_table
from seoga_extraction.formats._hancom.model import Table
from seoga_extraction.formats._hancom.story import TITLE_WITHIN, Story, title_of
from seoga_extraction.formats.hwp.body import Body
from seoga_extraction.formats.hwp.container import SIGNATURE, Container
from seoga_extraction.formats.hwp.docinfo import styles_of

_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_MARKS = (SIGNATURE, "HwpSummaryInformation".encode("utf-16-le"))
_WORD = "WordDocument".encode("utf-16-le")
EXTENSIONS = (".hwp", ".hwt")
# Numbers of the summary information (chapter 3.2.5 of the format).
_TITLE = 2
_META = {
    3: "subject",
    4: "author",
    5: "keywords",
    6: "description",
    12: "created",
    13: "modified",
}


def parse(source: Input) -> Parsed:
    """Distribution documents are read from their encrypted text, never from their notice."""
    container = Container(source)
    if not container.section_names:
        raise corrupt("The HWP file is damaged or cut off: it holds no text.")
    properties = container.properties()
    meta = {name: text for key, name in _META.items() if (text := _text(properties.get(key)))}
    if container.distribution:
        meta["distribution"] = "true"
    sections = _sections(container)
    first = list(islice(sections, TITLE_WITHIN))
    yield DocumentInfo("hwp", title_of(_text(properties.get(_TITLE)), first), meta)
    yield from chain(first, sections)
    yield from Enclosed(source, container).rest(alone=not first)
    source.tell_cuts()


def _sections(container: Container) -> Iterator[Section]:
    styles = styles_of(container.stream("DocInfo"))

    def chart(number: int) -> Table | None:
        data = container.embedded(number)
        try:
            return chart_table(parse_xml(data, "chart")) if data else None
        except ExtractionFailed:
            return None

    story, body = Story(styles), Body(styles, chart)
    for name in container.section_names:
        yield from story.sections(body.paragraphs(container.section(name)))
    yield from story.margins()


def _text(value: object) -> str:
    """A property as text: strings end at their NUL; dates are UTC."""
    if isinstance(value, datetime):
        return value.replace(microsecond=0).isoformat() + "Z" if value.year > 1601 else ""
    if isinstance(value, bytes):
        value = value.decode("cp949", "replace")
    return one_line(value.partition("\x00")[0]) if isinstance(value, str) else ""


def sniff(source: Input) -> bool:
    """A compound file with the signature of HWP 5 or, where a cut lost it, its streams."""
    if not source.head.startswith(_MAGIC):
        return False
    if roots := source.compound:
        return "fileheader" in roots
    if source.holds(_WORD):
        return False
    return source.extension in EXTENSIONS or source.holds(*_MARKS)


FORMAT = Format(
    "hwp",
    parse,
    extensions=EXTENSIONS,
    sniff=sniff,
    needs=("olefile", "cryptography"),
    version="3",
    nests=True,
)
