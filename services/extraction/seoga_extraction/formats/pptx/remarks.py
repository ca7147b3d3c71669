"""Speaker notes and comments of a slide."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from seoga.errors import ExtractionFailed
from seoga_extraction.format import Archive
from seoga_extraction.formats.pptx.layouts import placeholder
from seoga_extraction.formats.pptx.text import body_text
from seoga_extraction.ooxml.drawing import plain_text
from seoga_extraction.ooxml.package import (
    Relations,
    attribute,
    child,
    children,
    descendants,
    local,
)
from seoga_extraction.ooxml.remarks import Remark

if TYPE_CHECKING:
    from lxml.etree import _Element

MAX_COMMENTS = 10_000


def _xml(archive: Archive, part: str) -> _Element | None:
    try:
        return archive.xml(part)
    except ExtractionFailed:
        return None


def notes(archive: Archive, relations: Relations) -> str:
    """What the speaker is to say: the body of the notes page, without its number and dates."""
    found = []
    for part in relations.parts("notesSlide"):
        for shape in descendants(_xml(archive, part), "sp"):
            own = placeholder(shape)
            if own is not None and own[0] == "body":
                found.append(body_text(child(shape, "txBody")).text)
    return "\n".join(text for text in found if text)


def authors(archive: Archive, relations: Relations) -> dict[str, str]:
    """Names of the authors of comments by id, classic and threaded, with their initials."""
    out: dict[str, str] = {}
    for part in (*relations.parts("commentAuthors"), *relations.parts("authors")):
        for one in descendants(_xml(archive, part), "cmAuthor", "author"):
            name, initials = attribute(one, "name"), attribute(one, "initials")
            if initials and f"({initials})" not in name:
                name = f"{name} ({initials})".strip()
            out[attribute(one, "id")] = name
    return out


def remarks(archive: Archive, relations: Relations, names: dict[str, str]) -> Iterator[Remark]:
    """The comments of a slide with their replies, in the order of the file."""
    count = 0
    for part in relations.parts("comments"):
        for one in descendants(_xml(archive, part), "cm", "reply"):
            count += 1
            if count > MAX_COMMENTS:
                continue
            text = _text(one)
            when = attribute(one, "dt") or attribute(one, "created")
            if text:
                author = names.get(attribute(one, "authorId"), "")
                yield Remark(author, when.partition(".")[0].removesuffix("Z"), text)
    if count > MAX_COMMENTS:
        archive.cut(f"Of {count:,} comments on a slide, {MAX_COMMENTS:,} are read.")


def _text(comment: _Element) -> str:
    for one in comment:
        if local(one) == "txBody":
            return plain_text(one)
        if local(one) == "text":
            return (one.text or "").strip()
    return ""


def presentation_slides(root: _Element) -> Iterator[_Element]:
    """The entries of the slide list, in the order they are shown."""
    yield from children(child(root, "sldIdLst"), "sldId")
