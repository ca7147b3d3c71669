"""Word (docx, docm): headings, lists with their numbers, tables, notes, comments, equations.

Read from the XML itself: python-docx neither opens ISO strict files nor gives content controls.
"""

from __future__ import annotations

from seoga.models import DocumentInfo
from seoga_extraction.enclosed import Enclosed
from seoga_extraction.format import Format, Input, Parsed, corrupt
from seoga_extraction.formats.docx.body import Body
from seoga_extraction.formats.docx.margins import margins
from seoga_extraction.formats.docx.package import Package


def parse(source: Input) -> Parsed:
    """Tracked changes as accepted: inserted text is text, deleted text is not."""
    package = Package(source.archive)
    root = package.document
    if root is None:
        raise corrupt("The Word file has no document part.")
    body = Body(package, source)
    sections = [*body.sections(root), *margins(package, body, root)]
    yield DocumentInfo("docx", package.title or body.title, package.properties)
    yield from sections
    yield from Enclosed(source).rest(alone=not sections)
    source.tell_cuts()


def sniff(source: Input) -> bool:
    """A zip file with a Word part."""
    return source.is_zip and any(name.startswith("word/") for name in source.archive.names)


FORMAT = Format(
    "docx",
    parse,
    extensions=(".docx", ".docm", ".dotx", ".dotm"),
    sniff=sniff,
    needs=("lxml",),
    nests=True,
    version="3",
)
