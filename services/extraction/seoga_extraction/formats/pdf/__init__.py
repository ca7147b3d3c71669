"""PDF: `## Page N`, then that page's paragraphs and tables in reading order; scans recognised;
files inside at the end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from seoga.errors import ExtractionFailed, Reason
from seoga.models import DocumentInfo, Section, SectionKind
from seoga_extraction.attached import attachments
from seoga_extraction.format import Format, Input, Outline, Parsed, corrupt, one_line
from seoga_extraction.formats.pdf import xfa
from seoga_extraction.formats.pdf.embedded import embedded
from seoga_extraction.formats.pdf.opening import ends, opened
from seoga_extraction.formats.pdf.page import UNREADABLE
from seoga_extraction.formats.pdf.rendering import mupdf
from seoga_extraction.formats.pdf.stream import Pages

_JUNK_TITLE = re.compile(
    r"^(?:microsoft word - |untitled|\(anonymous\)|제목 없음|.*\.(?:docx?|hwpx?|pptx?|pdf)$)", re.I
)

# Runs of pages that a message names.
_RUNS = 10


def parse(source: Input) -> Parsed:
    """Recognised pages say so in their metadata (`ocr`), and those that could not be (`needs_ocr`).

    Raises ExtractionFailed: encrypted, corrupt; without text on any page no_text, or why its
    pages could not be recognised (missing_dependency, timeout).
    """
    pymupdf = mupdf()
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    document, counted = opened(source)
    with document:
        shell = xfa.is_shell(document)
        note = {"note": xfa.NOTE} if shell else {}
        yield DocumentInfo("pdf", _title(document), {"pages": document.page_count, **note})
        pages = Pages(document, source)
        said = xfa.sections(document, source.cut) if shell else pages.sections()
        yield from _whole(document, source, pages, said)
        unread = _numbers(pages.broken)
        if document.is_repaired and not ends(source):
            but = f", without the damaged {unread}" if unread else ""
            raise corrupt(f"The PDF is cut off: the pages that were found in it are read{but}.")
        if unread:
            raise corrupt(f"Of the PDF, {unread} cannot be read whole; the others are.")
        if not counted:
            raise corrupt("The PDF counts its pages wrongly: those that were found are read.")
        source.tell_cuts()


def _whole(
    document: Any, source: Input, pages: Pages, said: Iterator[Section]
) -> Iterator[Section]:
    """What the pages say, then the files inside. Raises ExtractionFailed for what could not be
    read; pages without any text are no fault where files inside have some."""
    failed: ExtractionFailed | None = None
    try:
        yield from said
    except ExtractionFailed as error:
        failed = error
    found = False
    for section in attachments(source, embedded(document, pages.pinned), Outline(), level=1):
        found = found or (not section.level and section.kind is not SectionKind.NOTE)
        yield section
    if failed is not None and not (found and failed.reason is Reason.NO_TEXT):
        raise failed


def _numbers(pages: Sequence[int]) -> str:
    """`page 3`, or `pages 3 to 5, 9 and 4 more`; "" for none."""
    runs: list[list[int]] = []
    for page in pages:
        if runs and page == runs[-1][-1] + 1:
            runs[-1][1:] = [page]
        else:
            runs.append([page])
    shown = ", ".join(" to ".join(map(str, run)) for run in runs[:_RUNS])
    rest = sum(page > runs[_RUNS - 1][-1] for page in pages) if len(runs) > _RUNS else 0
    more = f" and {rest:,} more" if rest else ""
    return f"page{'s' if len(pages) > 1 else ''} {shown}{more}" if pages else ""


def _title(document: Any) -> str:
    title = one_line((document.metadata or {}).get("title") or "")
    return "" if _JUNK_TITLE.match(title) or UNREADABLE.search(title) else title


def sniff(source: Input) -> bool:
    """`%PDF` within the first KiB, as readers accept it; without it the name must say so too."""
    marked = b"%PDF" in source.head[:1024]
    return marked or (source.extension == ".pdf" and b" obj" in source.head[:4096])


FORMAT = Format(
    "pdf", parse, extensions=(".pdf",), sniff=sniff, needs=("pymupdf", "PIL"), version="15"
)
