"""PDF with a text layer: `## Page N`, then that page's paragraphs in reading order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from seoga.errors import ExtractionFailed, Reason
from seoga.models import DocumentInfo, Place, Section, SectionKind
from seoga_extraction.format import Format, Input, Parsed, corrupt, one_line
from seoga_extraction.layout import Line, compounds, paragraphs, regions, turned

# MuPDF keeps fonts and images of past pages; long documents give them back now and then.
SHRINK_PAGES = 20
# A page with less text than this and an image over half of it is a scan with a stub of text.
STUB_CHARS = 200
_UNREADABLE = re.compile("[\x00-\x08\x0e-\x1f\ufffd\ue000-\uf8ff]")
# The dots of a table of contents, and rules made of dots.
_LEADER = re.compile(r"(?:[.·…]\s?){5,}")
_JUNK_TITLE = re.compile(
    r"^(?:microsoft word - |untitled|\(anonymous\)|제목 없음|.*\.(?:docx?|hwpx?|pptx?|pdf)$)", re.I
)


def parse(source: Input) -> Parsed:
    """Pages without usable text are told in the metadata of their page section (`needs_ocr`).

    Raises ExtractionFailed: encrypted, corrupt, or needs_ocr when no page has text.
    """
    pymupdf = _mupdf()
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
        yield from _pages(document)


def _mupdf() -> Any:
    # Its types are partial: given as Any, or mypy refuses every call.
    return import_module("pymupdf")


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
    return "" if _JUNK_TITLE.match(title) or _UNREADABLE.search(title) else title


def _pages(document: Any) -> Iterator[Section]:
    """All pages; nothing is yielded before the first text."""
    pymupdf = _mupdf()
    held: list[Section] = []
    scans = found = 0
    for number in range(1, document.page_count + 1):
        place = Place(page=number)
        try:
            page = document[number - 1]
            texts = _page_texts(page)
            scan = _is_scan(page, texts)
        except (pymupdf.mupdf.FzErrorBase, RuntimeError, ValueError):
            # One broken page costs that page.
            texts, scan = [], True
        scans += scan
        found += len(texts)
        meta = {"needs_ocr": True} if scan else {}
        held.append(Section(f"## Page {number}", SectionKind.PAGE, place=place, meta=meta))
        held += [Section(text, place=place) for text in texts]
        if found:
            yield from held
            held.clear()
        if number % SHRINK_PAGES == 0:
            pymupdf.TOOLS.store_shrink(100)
    if not found and scans:
        raise ExtractionFailed(
            f"The PDF has no text: {scans} of its {document.page_count} pages are images.",
            "It needs text recognition (OCR).",
            Reason.NEEDS_OCR,
        )


def _page_texts(page: Any) -> list[str]:
    pymupdf = _mupdf()
    flags = pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP
    content = page.get_text("dict", flags=flags)
    raw = (line for block in content["blocks"] for line in block.get("lines", ()))
    lines = turned([line for one in raw if (line := _line(one)) is not None])
    hyphened = compounds(lines)
    texts = [text for region in regions(lines) for text in paragraphs(region, hyphened)]
    bad = sum(len(_UNREADABLE.findall(text)) for text in texts)
    total = sum(len(text) for text in texts)
    if bad * 10 > total * 3:
        return []
    # A few signs without a meaning are blanks or bullets of a symbol font.
    return [text.replace("\ufffd", " ") for text in texts] if bad else texts


def _line(raw: dict[str, Any]) -> Line | None:
    spans = raw["spans"]
    text = "".join(span["text"] for span in spans).replace("\xa0", " ")
    text = _LEADER.sub(" … ", text)
    if not text.strip(" …"):
        return None
    widest = max(spans, key=lambda span: len(span["text"]))
    bold = all(span["flags"] & 16 for span in spans if span["text"].strip())
    x0, y0, x1, y1 = raw["bbox"]
    return Line(x0, y0, x1, y1, text.strip(), widest["size"], bold, raw["dir"])


def _is_scan(page: Any, texts: list[str]) -> bool:
    """Whether the page shows more than its text says: images or drawn letters without text."""
    count = sum(len(text) for text in texts)
    if count >= STUB_CHARS:
        return False
    marks = page.get_bboxlog()
    if not count:
        return any(not kind.startswith(("clip", "ignore")) for kind, _ in marks)
    half = abs(page.rect) / 2
    images = (box for kind, box in marks if kind in ("fill-image", "fill-imgmask"))
    return any((x1 - x0) * (y1 - y0) >= half for x0, y0, x1, y1 in images)


def sniff(source: Input) -> bool:
    """`%PDF` within the first KiB, as readers accept it; without it the name must say so too."""
    marked = b"%PDF" in source.head[:1024]
    return marked or (source.extension == ".pdf" and b" obj" in source.head[:4096])


FORMAT = Format("pdf", parse, extensions=(".pdf",), sniff=sniff, needs=("pymupdf",))
