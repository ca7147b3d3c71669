"""PDF: `## Page N`, then that page's paragraphs and tables in reading order; scans recognised;
files inside at the end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from seoga.errors import ExtractionFailed, Reason
from seoga.models import DocumentInfo, Section, SectionKind
from seoga_extraction.attached import attachments
from seoga_extraction.format import Format, Input, Outline, Parsed, corrupt, one_line
from seoga_extraction.formats.pdf.embedded import embedded
from seoga_extraction.formats.pdf.page import UNREADABLE, mupdf
from seoga_extraction.formats.pdf.stream import Pages

_JUNK_TITLE = re.compile(
    r"^(?:microsoft word - |untitled|\(anonymous\)|제목 없음|.*\.(?:docx?|hwpx?|pptx?|pdf)$)", re.I
)

# Where the last marks of a file are looked for: some have a little behind it.
_TAIL = 4096
# The V of the encryption dictionary (ISO 32000-2, table 20).
_CIPHERS = {"1": " (RC4)", "2": " (RC4)", "4": " (AES-128)", "5": " (AES-256)"}


def parse(source: Input) -> Parsed:
    """Recognised pages say so in their metadata (`ocr`), and those that could not be (`needs_ocr`).

    Raises ExtractionFailed: encrypted, corrupt; without text on any page no_text, or why its
    pages could not be recognised (missing_dependency, timeout).
    """
    pymupdf = mupdf()
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    try:
        with _named(source.path) as path:
            document = pymupdf.open(path, filetype="pdf")
    except (pymupdf.FileDataError, RuntimeError) as error:
        raise corrupt("The PDF is damaged or cut off: it cannot be opened.") from error
    with document:
        _unlock(document, source)
        if _count(document) < 1:
            raise corrupt("The PDF is damaged or cut off: no page can be found in it.")
        yield DocumentInfo("pdf", _title(document), {"pages": document.page_count})
        yield from _whole(document, source)
        if document.is_repaired and not _ends(source):
            raise corrupt("The PDF is cut off: the pages that were found in it are read.")


@contextmanager
def _named(path: Path) -> Iterator[Path]:
    """A path that the library takes while it opens the file: its own are UTF-8, names need not."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        with TemporaryDirectory(prefix="seoga-pdf-") as folder:
            link = Path(folder) / "document.pdf"
            link.symlink_to(path.absolute())
            yield link
        return
    yield path


def _whole(document: Any, source: Input) -> Iterator[Section]:
    """The pages, then the files inside. Raises ExtractionFailed for what could not be read; pages
    without any text are no fault where files inside have some."""
    pages = Pages(document, source)
    failed: ExtractionFailed | None = None
    try:
        yield from pages.sections()
    except ExtractionFailed as error:
        failed = error
    found = False
    for section in attachments(source, embedded(document, pages.pinned), Outline(), level=1):
        found = found or (not section.level and section.kind is not SectionKind.NOTE)
        yield section
    if failed is not None and not (found and failed.reason is Reason.NO_TEXT):
        raise failed


def _count(document: Any) -> int:
    try:
        return int(document.page_count)
    except RuntimeError:
        return 0


def _ends(source: Input) -> bool:
    """Whether its last marks are there: programs forgive much, but what is behind a cut is gone."""
    with source.path.open("rb") as stream:
        stream.seek(max(source.size - _TAIL, 0))
        tail = stream.read()
    return any(mark in tail for mark in (b"%%EOF", b"startxref", b"trailer"))


def _unlock(document: Any, source: Input) -> None:
    """Many files are encrypted only against printing: the empty password opens them."""
    if not document.needs_pass or document.authenticate(""):
        return
    _, version = document.xref_get_key(-1, "Encrypt/V")

    def attempt(password: str) -> bool | None:
        return bool(document.authenticate(password)) or None

    source.unlock(f"The PDF is protected by a password{_CIPHERS.get(version, '')}", attempt)


def _title(document: Any) -> str:
    title = one_line((document.metadata or {}).get("title") or "")
    return "" if _JUNK_TITLE.match(title) or UNREADABLE.search(title) else title


def sniff(source: Input) -> bool:
    """`%PDF` within the first KiB, as readers accept it; without it the name must say so too."""
    marked = b"%PDF" in source.head[:1024]
    return marked or (source.extension == ".pdf" and b" obj" in source.head[:4096])


FORMAT = Format(
    "pdf", parse, extensions=(".pdf",), sniff=sniff, needs=("pymupdf", "PIL"), version="6"
)
