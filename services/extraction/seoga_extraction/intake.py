"""What every file goes through: whether it is one to read, and what its events may hold."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

from seoga.contracts.extraction import Event
from seoga.errors import ExtractionFailed, Reason
from seoga.models import DocumentInfo
from seoga.text.normal import nfc
from seoga_extraction.format import Input
from seoga_extraction.lanes import Lane
from seoga_extraction.limits import MIB


def input_of(path: Path, name: str, lane: Lane) -> Input:
    """A file as a child of this lane reads it."""
    source = Input(path, name, lane.limits)
    source.options = lane.options
    source.lane = lane.name
    return source


def check_file(source: Input) -> None:
    """Raises ExtractionFailed for what is no file, or a larger one than is read; OSError."""
    if not stat.S_ISREG(source.status.st_mode):
        raise ExtractionFailed("This is not a regular file.", "Exclude it.", Reason.UNREADABLE)
    if source.size > source.limits.file_mb * MIB:
        raise ExtractionFailed(
            f"The file has {source.size // MIB} MiB; at most {source.limits.file_mb} are read.",
            "Raise SEOGA_MAX_FILE_MB or exclude it.",
            Reason.TOO_LARGE,
        )


def cleaned(event: Event) -> Event:
    """The event with its text as it may be stored: NFC, without NUL."""
    if isinstance(event, DocumentInfo):
        title = _clean(event.title)
        return event if title is event.title else replace(event, title=title)
    text = _clean(event.text)
    path = tuple(_clean(title) for title in event.heading_path)
    if text is event.text and path == event.heading_path:
        return event
    return replace(event, text=text, heading_path=path)


def _clean(text: str) -> str:
    return nfc(text.replace("\x00", "") if "\x00" in text else text)
