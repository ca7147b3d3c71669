"""`smoke-audio`: whether recordings can be transcribed here, shown on one of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from seoga.cli.extracting import existing
from seoga.cli.options import chosen_settings, named_path, opened_stack
from seoga.cli.output import say, show_text
from seoga.errors import ExtractionFailed, Reason
from seoga.models import DocumentInfo

_File = Annotated[
    Path,
    typer.Option(
        "--file",
        parser=named_path,
        metavar="FILE",
        help="An audio file, or a video with sound.",
    ),
]
# A missing library and one of another architecture say so in their own message.
_REASONS = {
    Reason.MISSING_MODEL: "missing model: ",
    Reason.CORRUPT: "unreadable file: ",
    Reason.UNREADABLE: "unreadable file: ",
    Reason.UNSUPPORTED: "unreadable file: ",
    Reason.BINARY: "unreadable file: ",
    Reason.EMPTY: "unreadable file: ",
    Reason.TIMEOUT: "too slow: ",
}


def register(app: typer.Typer) -> None:
    """Adds the command of this file."""
    app.command("smoke-audio")(smoke_audio)


def smoke_audio(file: _File) -> int:
    """Transcribe a recording and print its text; exit 1 when there is none, saying why."""
    path = existing(file)
    count, note = 0, "no speech was found."
    with opened_stack(chosen_settings()) as stack:
        try:
            for event in stack.extraction.extract(path, path.name):
                if isinstance(event, DocumentInfo):
                    _introduce(event, file)
                    note = event.meta.get("note", note)
                else:
                    count += 1
                    show_text(event.text)
        except ExtractionFailed as error:
            what = _REASONS.get(error.reason, "")
            raise ExtractionFailed(f"{what}{error.message}", error.hint, error.reason) from error
    if not count:
        raise ExtractionFailed(f"empty result: {note}", "", Reason.EMPTY)
    return 0


def _introduce(info: DocumentInfo, file: Path) -> None:
    if info.format != "audio":
        raise ExtractionFailed(f"{file} is no recording but {info.format}.", "", Reason.UNSUPPORTED)
    if device := info.meta.get("audio.device"):
        say(f"model {info.meta['audio.model_size']} on {device}")
