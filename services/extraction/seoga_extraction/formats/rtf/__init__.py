"""RTF: headings, lists with their marks, tables, notes, comments, text boxes; any code page."""

from __future__ import annotations

from seoga.models import DocumentInfo
from seoga_extraction.format import Format, Input, Parsed, corrupt
from seoga_extraction.formats.rtf.reader import Reader
from seoga_extraction.formats.rtf.story import margins
from seoga_extraction.formats.rtf.tokens import tokens


def parse(source: Input) -> Parsed:
    """Tracked changes as accepted; fields show their result."""
    cuts: list[int] = []
    document = Reader().read(tokens(source.data, cuts))
    meta = {key: text for key, text in document.info.items() if key != "title"}
    if document.note:
        meta["note"] = document.note
    yield DocumentInfo("rtf", document.info.get("title", "") or document.title, meta)
    yield from document.sections
    yield from margins(document.margins)
    if not document.ends and not cuts:
        raise corrupt("The RTF document is cut off: what was read is all there is.")
    if cuts:
        raise corrupt("The RTF document breaks off inside a picture: what stood behind it is lost.")


def sniff(source: Input) -> bool:
    """The mark that every RTF file begins with."""
    return source.head.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{\\rtf")


FORMAT = Format("rtf", parse, extensions=(".rtf",), sniff=sniff, version="4")
