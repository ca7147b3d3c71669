"""`extract`, `smoke-ocr`: what a file gives, section by section, before anything is indexed."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seoga.cli.options import AsJson, chosen_settings, named_path, opened_stack
from seoga.cli.output import emit, say, show, show_text
from seoga.errors import ExtractionFailed, InvalidArgument, NotFound, Reason, SeogaError, wire
from seoga.models import DocumentInfo, Section, SectionKind
from seoga.text.places import describe

if TYPE_CHECKING:
    from seoga.contracts.extraction import Event

_File = Annotated[
    Path,
    typer.Argument(
        parser=named_path, metavar="FILE", help="The file to read; - reads standard input."
    ),
]
_Name = Annotated[
    str, typer.Option("--name", help="What standard input is called, for its extension.")
]
_PDF = Annotated[
    Path,
    typer.Option(
        "--pdf",
        parser=named_path,
        metavar="FILE",
        help="A scanned PDF, or an image of a page.",
    ),
]
# A program or a language that is missing, or does not run here, says so in its own message.
_PDF_REASONS = {
    Reason.ENCRYPTED: "unreadable PDF: ",
    Reason.CORRUPT: "unreadable PDF: ",
    Reason.UNREADABLE: "unreadable PDF: ",
    Reason.UNSUPPORTED: "unreadable PDF: ",
    Reason.BINARY: "unreadable PDF: ",
    Reason.TOO_LARGE: "unreadable PDF: ",
    Reason.NO_TEXT: "empty result: ",
    Reason.EMPTY: "empty result: ",
    Reason.TIMEOUT: "too slow: ",
    Reason.NEEDS_OCR: "not recognised: ",
}
_PAGED = ("pdf", "image")


def register(app: typer.Typer) -> None:
    """Adds the commands of this file."""
    app.command("extract")(extract)
    app.command("smoke-ocr")(smoke_ocr)


def extract(file: _File, name: _Name = "", as_json: AsJson = False) -> int:
    """Print what the index would see of a file: every section with its place."""
    report = _Report(file, as_json)
    with opened_stack(chosen_settings()) as stack, _given(file) as path:
        failed = report.take(stack.extraction.extract(path, name or file.name))
    if as_json:
        emit(report.to_json(failed))
    elif failed is None and not report.count:
        say(f"no text: {report.note} The index will hold nothing of it but its name.")
    elif failed is None:
        say(f"{report.count} sections, {report.chars} characters")
    if failed is not None and not as_json:
        raise failed
    return 0 if failed is None else failed.exit_code


def smoke_ocr(pdf: _PDF) -> int:
    """Recognise a scanned PDF and print its text; exit 1 when there is none, saying why."""
    count = 0
    with opened_stack(chosen_settings()) as stack:
        try:
            for event in stack.extraction.extract(existing(pdf), pdf.name):
                if isinstance(event, DocumentInfo):
                    _must_have_pages(event, pdf)
                    continue
                _tell(event)
                count += event.kind is not SectionKind.PAGE
                show_text(event.text)
        except ExtractionFailed as error:
            what = _PDF_REASONS.get(error.reason, "")
            raise ExtractionFailed(f"{what}{error.message}", error.hint, error.reason) from error
    if not count:
        raise ExtractionFailed("empty result: the PDF has no text and no images.", "", Reason.EMPTY)
    return 0


def _must_have_pages(info: DocumentInfo, pdf: Path) -> None:
    if info.format not in _PAGED:
        raise ExtractionFailed(f"{pdf} is no PDF but {info.format}.", "", Reason.UNSUPPORTED)


def _tell(section: Section) -> None:
    """How the recognition of a page went, beside its text."""
    if section.kind is not SectionKind.PAGE or not (ocr := section.meta.get("ocr")):
        return
    failed = ocr.get("error")
    how = f"not recognised ({failed})" if failed else f"confidence {ocr['confidence']:.2f}"
    say(f"page {section.place.page}: {how}")


class _Report:
    """The events of one file: printed as they come, or gathered for JSON."""

    def __init__(self, file: Path, as_json: bool) -> None:
        self._file = file
        self._as_json = as_json
        self._info: DocumentInfo | None = None
        self._sections: list[dict[str, Any]] = []
        self.count = 0
        self.chars = 0
        self.note = "The file is blank."

    def take(self, events: Iterable[Event]) -> SeogaError | None:
        """All events; the error that ended them, None at a whole end."""
        try:
            for event in events:
                if isinstance(event, DocumentInfo):
                    self._open(event)
                else:
                    self._section(event)
        except SeogaError as error:
            return error
        return None

    def _open(self, info: DocumentInfo) -> None:
        self._info = info
        self.note = str(info.meta.get("note", self.note))
        if not self._as_json:
            meta = ", ".join(f"{name}: {value}" for name, value in info.meta.items())
            show(
                f"{info.format}  {info.title or self._file.name}" + (f"  ({meta})" if meta else "")
            )

    def _section(self, section: Section) -> None:
        self.count += 1
        self.chars += len(section.text)
        if self._as_json:
            self._sections.append(section.to_json())
            return
        parts = [section.kind.value, describe(section.place), " > ".join(section.heading_path)]
        parts += [f"{name}={value}" for name, value in section.meta.items()]
        show("")
        show("[" + " · ".join(part for part in parts if part) + "]")
        show_text(section.text)

    def to_json(self, failed: SeogaError | None) -> dict[str, Any]:
        """The whole report."""
        return {
            "file": str(self._file),
            "document": self._info.to_json() if self._info else None,
            "sections": self._sections,
            "characters": self.chars,
            "error": wire(failed) if failed else None,
        }


@contextmanager
def _given(file: Path) -> Iterator[Path]:
    """The file, or what comes from standard input as one."""
    if str(file) != "-":
        yield existing(file)
        return
    if sys.stdin.isatty():
        raise InvalidArgument("Nothing comes from standard input.", "Name a file, or pipe one in.")
    with tempfile.NamedTemporaryFile(prefix="seoga-stdin-") as held:
        shutil.copyfileobj(sys.stdin.buffer, held)
        held.flush()
        yield Path(held.name)


def existing(file: Path) -> Path:
    """The path of a file that a command reads.

    Raises NotFound (also for a link that leads nowhere) and InvalidArgument (a folder, a pipe).
    """
    path = file.expanduser().absolute()
    if not path.exists():
        if path.is_symlink():
            raise NotFound(f"{file} is a link that leads nowhere.", "Name the file itself.")
        raise NotFound(f"{file} is not there.", "Check the path.")
    if path.is_dir():
        raise InvalidArgument(f"{file} is a folder.", f"seoga index {file} reads folders.")
    if not path.is_file():
        # Opening a FIFO would wait for its writer.
        raise InvalidArgument(f"{file} is not a regular file.", "Copy it to a file first.")
    return path
