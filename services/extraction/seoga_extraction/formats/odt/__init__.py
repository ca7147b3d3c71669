"""OpenDocument text (odt): headings, lists with their numbers, tables, notes, comments."""

from __future__ import annotations

from seoga.models import DocumentInfo
from seoga_extraction.enclosed import Enclosed
from seoga_extraction.format import Format, Input, Parsed, corrupt
from seoga_extraction.formats.odt.body import Body
from seoga_extraction.formats.odt.package import Package

_KINDS = (b"opendocument.text", b"opendocument.text-template", b"opendocument.text-master")


def parse(source: Input) -> Parsed:
    """Tracked changes as accepted."""
    whole = source.unseal("The OpenDocument text")
    if whole is not None:
        yield from source.inner(source.name, whole)
        return
    package = Package(source.archive)
    root = package.text
    if root is None:
        raise corrupt("The OpenDocument file has no text.")
    body = Body(package, source.cut)
    sections = [*body.sections(root), *body.margins()]
    yield DocumentInfo("odt", package.title or body.title, package.properties)
    yield from sections
    yield from Enclosed(source).rest(alone=not sections)
    source.tell_cuts()


def sniff(source: Input) -> bool:
    """A zip file whose media type is a text, or a content that holds one."""
    names = source.archive.names if source.is_zip else ()
    if "content.xml" not in names and "encrypted-package" not in names:
        return False
    kind = source.archive.read("mimetype").strip()
    return kind.endswith(_KINDS) or (
        not kind and b"<office:text" in source.archive.read("content.xml")
    )


FORMAT = Format(
    "odt",
    parse,
    extensions=(".odt", ".ott", ".odm"),
    sniff=sniff,
    needs=("lxml", "cryptography"),
    version="5",
    nests=True,
)
