"""Files that hang on a document (mail, PDF), read by whatever format their content asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from seoga.errors import ExtractionFailed, Reason
from seoga.models import Section, SectionKind
from seoga_extraction.format import Input, Outline, one_line, under

MAX_ATTACHMENTS = 200
_WAITING = (Reason.ENCRYPTED, Reason.MISSING_MODEL, Reason.MISSING_DEPENDENCY)


class Attached(NamedTuple):
    """One file: its name ("" where it has none), its kind in words, and what gives its bytes.

    `data` may raise ExtractionFailed.
    """

    name: str
    kind: str
    size: int
    data: Callable[[], bytes]


def attachments(
    source: Input, files: Iterable[Attached], outline: Outline, level: int = 2
) -> Iterator[Section]:
    """A heading and the sections of each; one that gives none says why in a note.

    One that a password or a model would open is told at the end too, by ExtractionFailed, so that
    a person hears of it.
    """
    waiting: ExtractionFailed | None = None
    for count, one in enumerate(files):
        name = one_line(one.name) or f"attachment {count + 1}"
        yield outline.heading(level, f"Attachment: {name}")
        path = outline.path
        if count >= MAX_ATTACHMENTS:
            yield _unread(name, one, "there are too many attachments", path)
            continue
        said = False
        try:
            for event in source.inner(name, one.data()):
                if isinstance(event, Section):
                    said = True
                    yield under(event, path, len(path))
                elif note := event.meta.get("note"):
                    # What a file says of itself as a whole has no other place here.
                    yield _note(f"{name}: {note}", name, path)
        except ExtractionFailed as error:
            yield _unread(name, one, error.message, path, whole=not said)
            if error.reason in _WAITING:
                waiting = waiting or error
            continue
        if not said:
            yield _unread(name, one, "it holds no text", path)
    if waiting is not None:
        raise waiting


def _unread(
    name: str, one: Attached, why: str, path: tuple[str, ...], whole: bool = True
) -> Section:
    """The note on an attachment of which nothing is read, or (not `whole`) not all."""
    # What libraries say in brackets names files of this machine.
    why = why.partition(" (")[0]
    size = f"{one.size} bytes" if one.size < 1024 else f"{one.size // 1024} KiB"
    text = f"{name} ({one.kind}, {size}) is attached and not read{'' if whole else ' whole'}: {why}"
    return _note(text.rstrip(".") + ".", name, path)


def _note(text: str, name: str, path: tuple[str, ...]) -> Section:
    meta: dict[str, Any] = {"note": "attachment", "name": name}
    return Section(text, SectionKind.NOTE, path, meta=meta)
