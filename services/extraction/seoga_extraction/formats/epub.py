"""EPUB books: the chapters in the order of the spine, with their headings or their names."""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from seoga.errors import ExtractionFailed, Reason
from seoga.models import DocumentInfo, Section, SectionKind
from seoga_extraction.format import Format, Input, Outline, Parsed, corrupt, one_line, under

if TYPE_CHECKING:
    from lxml.etree import _Element

_DRAWING = "image/svg+xml"
_PAGES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml", _DRAWING)
_HEAD = 1024
# Fonts may be scrambled in a book that anybody may read.
_FONTS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_META = {"creator": "author", "language": "language", "date": "date", "publisher": "publisher"}


def parse(source: Input) -> Parsed:
    """Levels of headings stay as they are in the chapters; the book's title is no heading."""
    _check_rights(source)
    path, package = _package(source)
    folder = dirname(path)
    title, meta = _about(package)
    chapters, others = _spine(package, folder)
    if others:
        kinds = ", ".join(sorted(set(others)))
        meta["note"] = f"Of its order of reading, what is {kinds} is not read ({len(others):,})."
    yield DocumentInfo("epub", title, meta)
    names = _contents(source, package, folder)
    # Neither the package document itself nor what is outside of the book is a chapter.
    missing = [one for one in chapters if one == path or one not in source.archive.names]
    for part in chapters:
        if part not in missing:
            yield from _chapter(source, part, names.get(part, ""))
    if not chapters:
        raise corrupt("The EPUB book names no chapters in its order of reading.")
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise corrupt(f"The chapter {missing[0]}{more} is missing from the EPUB book.")


def _chapter(source: Input, part: str, name: str) -> Iterator[Section]:
    data = source.archive.read(part)
    if not data:
        return
    if part.endswith(".svg") or (b"<svg" in data[:_HEAD] and b"<html" not in data[:_HEAD]):
        # A page that is a drawing.
        data = b"<html><body>%s</body></html>" % data
    outline = Outline()
    named = False
    try:
        for event in source.inner("chapter.html", data):
            if isinstance(event, DocumentInfo):
                if note := event.meta.get("note"):
                    text = f"{part}: {note}"
                    yield Section(text, SectionKind.NOTE, meta={"note": "chapter", "name": part})
                continue
            if not named and event.kind is not SectionKind.HEADING and name:
                yield outline.heading(1, name)
            named = True
            # Below a name that stands in the contents only, headings are a level deeper.
            yield under(event, outline.path, len(outline.path)) if outline.path else event
    except ExtractionFailed as error:
        if error.reason is not Reason.EMPTY:
            raise


def _package(source: Input) -> tuple[str, _Element]:
    """The name of the package document, and its root."""
    container = source.archive.xml("META-INF/container.xml")
    found = next(_all(container, "rootfile"), None)
    path = "" if found is None else unquote(found.get("full-path", ""))
    root = source.archive.xml(path) if path else None
    if root is None:
        raise corrupt("The EPUB book names no package document.")
    return path, root


def _check_rights(source: Input) -> None:
    if "META-INF/encryption.xml" not in source.archive.names:
        return
    root = source.archive.xml("META-INF/encryption.xml")
    for method in _all(root, "EncryptionMethod"):
        if method.get("Algorithm", "") not in _FONTS:
            raise ExtractionFailed(
                "The book is protected (DRM).", "Use a copy without protection.", Reason.ENCRYPTED
            )


def _about(package: _Element) -> tuple[str, dict[str, Any]]:
    title = ""
    meta: dict[str, Any] = {}
    metadata = next(_all(package, "metadata"), None)
    for one in metadata if metadata is not None else ():
        name, text = _local(one), one_line(one.text or "")
        if name == "title" and text and not title:
            title = text
        elif (key := _META.get(name)) and text:
            meta.setdefault(key, text)
    return title, meta


def _manifest(package: _Element, folder: str) -> dict[str, tuple[str, str, str]]:
    """Path, media type and properties by id."""
    return {
        one.get("id", ""): (
            normpath(join(folder, unquote(one.get("href", "").partition("#")[0]))),
            one.get("media-type", ""),
            one.get("properties", ""),
        )
        for one in _all(package, "item")
    }


def _spine(package: _Element, folder: str) -> tuple[list[str], list[str]]:
    """The pages in reading order, each once, without navigation pages; and the media types of
    what is there too and no page."""
    manifest = _manifest(package, folder)
    found: dict[str, None] = {}
    others = []
    for one in _all(package, "itemref"):
        path, kind, properties = manifest.get(one.get("idref", ""), ("", "", ""))
        if kind in _PAGES and "nav" not in properties.split():
            found[path] = None
        elif kind and kind not in _PAGES:
            others.append(one_line(kind))
    return list(found), others


def _contents(source: Input, package: _Element, folder: str) -> dict[str, str]:
    """The name of each page in the table of contents (EPUB 3 navigation, else NCX)."""
    names: dict[str, str] = {}
    for path, kind, properties in _manifest(package, folder).values():
        if "nav" in properties.split():
            for link in _all(_tolerant(source, path), "a"):
                _name(names, path, link.get("href", ""), "".join(map(str, link.itertext())))
        elif kind == "application/x-dtbncx+xml":
            for point in _all(_tolerant(source, path), "navPoint"):
                label = next(_all(point, "text"), None)
                content = next(_all(point, "content"), None)
                if label is not None and content is not None:
                    _name(names, path, content.get("src", ""), label.text or "")
    return names


def _tolerant(source: Input, path: str) -> _Element | None:
    """A part that the book can be read without."""
    try:
        return source.archive.xml(path)
    except ExtractionFailed as error:
        if error.reason is Reason.TOO_LARGE:
            raise
        return None


def _name(names: dict[str, str], base: str, href: str, text: str) -> None:
    target = normpath(join(dirname(base), unquote(href.partition("#")[0])))
    if one_line(text):
        names.setdefault(target, one_line(text))


def _local(element: _Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _all(element: _Element | None, name: str) -> Iterator[_Element]:
    if element is not None:
        yield from element.iter(f"{{*}}{name}")


def sniff(source: Input) -> bool:
    """A zip file that says where its package document is."""
    return source.is_zip and "META-INF/container.xml" in source.archive.names and _is_book(source)


def _is_book(source: Input) -> bool:
    """HWPX and other formats have a container too: a book has its package document."""
    names = source.archive.names
    return b"epub" in source.archive.read("mimetype") or any(one.endswith(".opf") for one in names)


FORMAT = Format(
    "epub", parse, extensions=(".epub",), sniff=sniff, needs=("lxml",), nests=True, version="4"
)
