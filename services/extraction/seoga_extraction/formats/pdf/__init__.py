"""PDF: `## Page N`, then that page's paragraphs and tables in reading order; scans recognised."""

from __future__ import annotations

import re
from typing import Any

from seoga.errors import ExtractionFailed, Reason
from seoga.models import DocumentInfo
from seoga_extraction.format import Format, Input, Parsed, corrupt, one_line
from seoga_extraction.formats.pdf.page import UNREADABLE, mupdf
from seoga_extraction.formats.pdf.stream import Pages

_JUNK_TITLE = re.compile(
    r"^(?:microsoft word - |untitled|\(anonymous\)|제목 없음|.*\.(?:docx?|hwpx?|pptx?|pdf)$)", re.I
)


def parse(source: Input) -> Parsed:
    """Recognised pages say so in their metadata (`ocr`), and those that could not be (`needs_ocr`).

    Raises ExtractionFailed: encrypted, corrupt; without text on any page no_text, or why its
    pages could not be recognised (missing_dependency, timeout).
    """
    pymupdf = mupdf()
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    try:
        document = pymupdf.open(source.path, filetype="pdf")
    except (pymupdf.FileDataError, RuntimeError) as error:
        raise corrupt(f"The PDF cannot be opened ({error}).") from error
    with document:
        _unlock(document)
        if _count(document) < 1:
            raise corrupt("The PDF has no pages.")
        yield DocumentInfo("pdf", _title(document), {"pages": document.page_count})
        yield from Pages(document, source).sections()


def _count(document: Any) -> int:
    try:
        return int(document.page_count)
    except RuntimeError:
        return 0


def _unlock(document: Any) -> None:
    """Many files are encrypted only against printing: the empty password opens them."""
    if document.needs_pass and not document.authenticate(""):
        raise ExtractionFailed(
            "The PDF is protected by a password.", "Save it without a password.", Reason.ENCRYPTED
        )


def _title(document: Any) -> str:
    title = one_line((document.metadata or {}).get("title") or "")
    return "" if _JUNK_TITLE.match(title) or UNREADABLE.search(title) else title


def sniff(source: Input) -> bool:
    """`%PDF` within the first KiB, as readers accept it; without it the name must say so too."""
    marked = b"%PDF" in source.head[:1024]
    return marked or (source.extension == ".pdf" and b" obj" in source.head[:4096])


FORMAT = Format("pdf", parse, extensions=(".pdf",), sniff=sniff, needs=("pymupdf", "PIL"))
