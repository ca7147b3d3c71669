"""XFA: a PDF whose one page only asks for another program; the form itself is XML beside it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from seoga.errors import ExtractionFailed, Reason
from seoga.models import Place, Section, SectionKind
from seoga_extraction.format import parse_xml
from seoga_extraction.formats.pdf import contents
from seoga_extraction.formats.pdf.fields import WIDGET
from seoga_extraction.formats.pdf.forms import Forms
from seoga_extraction.formats.pdf.rendering import mupdf
from seoga_extraction.formats.pdf.xfa_form import Form, child, local
from seoga_extraction.limits import MIB

NOTE = "It is an XFA form: its words and values are read without the pages that they stand on."
# The largest forms of authorities have a quarter of it.
MOST = 16 * MIB
# What the page says in place of the form; the names of the programs stand in every language.
_SHELL = re.compile(r"please wait|adobe\s+(?:acrobat\s+)?reader|acrobat\s+reader", re.IGNORECASE)
_REFERENCE = re.compile(r"(\d+) \d+ R")
_LINES = 30


def is_shell(document: Any) -> bool:
    """Whether the form is in the XML alone: the file says so, or its one page has no field and asks
    for a program."""
    pymupdf = mupdf()
    try:
        if not document.is_pdf or not _streams(document):
            return False
        if document.xref_get_key(document.pdf_catalog(), "NeedsRendering")[1] == "true":
            return True
        if document.page_count != 1:
            return False
        page = document[0]
        if not contents.check(document, page):
            return False
        Forms(document).check(page)
        fields = any(mark[1] == WIDGET for mark in page.annot_xrefs())
        return not fields and _SHELL.search(page.get_text()) is not None
    except (ExtractionFailed, pymupdf.mupdf.FzErrorBase, RuntimeError, ValueError):
        # What is wrong with it is told where its pages are read.
        return False


def sections(document: Any, cut: Callable[[str], None]) -> Iterator[Section]:
    """The words and values of the form, all on page 1. Raises ExtractionFailed where it has none
    that can be read; `cut` is told of what is too much."""
    place = Place(page=1)
    held: list[str] = []
    said = False
    for line in (*_lines(document, cut), ""):
        if held and (not line or len(held) >= _LINES):
            if not said:
                yield Section("## Page 1", SectionKind.PAGE, place=place)
            said = True
            yield Section("\n".join(held), place=place)
            held = []
        held += [line] if line else []
    if not said:
        raise _unread("it holds no words")


def _lines(document: Any, cut: Callable[[str], None]) -> Iterator[str]:
    template, data = None, None
    for root in _roots(document):
        for one in (root, *root):
            if local(one) == "template" and template is None:
                template = one
            elif local(one) == "datasets" and data is None:
                data = child(one, "data")
    if template is None and data is None:
        raise _unread("its description is missing")
    yield from Form(data, cut).lines(template)


def _roots(document: Any) -> list[Any]:
    """The XML of the form, as a whole where its parts together are that, else each part."""
    parts = [_stream(document, xref) for xref in _streams(document)]
    if sum(map(len, parts)) > MOST:
        raise _too_much()
    try:
        return [parse_xml(b"".join(parts))]
    except ExtractionFailed as error:
        if error.reason is not Reason.CORRUPT:
            raise
    found = []
    for part in parts:
        try:
            found.append(parse_xml(part))
        except ExtractionFailed as error:
            if error.reason is not Reason.CORRUPT:
                raise
    if not found:
        raise _unread("its description is damaged")
    return found


def _streams(document: Any) -> list[int]:
    """The references of the streams that the form is in: one, or a list of names and streams."""
    key, text = document.xref_get_key(document.pdf_catalog(), "AcroForm/XFA")
    if key == "xref":
        number = int(text.split()[0])
        if document.xref_is_stream(number):
            return [number]
        text = document.xref_object(number, compressed=True)
    if key not in ("xref", "array"):
        return []
    found = dict.fromkeys(map(int, _REFERENCE.findall(text)))
    return [one for one in found if 0 < one < document.xref_length()]


def _stream(document: Any, xref: int) -> bytes:
    if contents.is_larger(document, xref, MOST):
        raise _too_much()
    pymupdf = mupdf()
    try:
        return document.xref_stream(xref) or b""
    except (pymupdf.mupdf.FzErrorBase, RuntimeError, ValueError) as error:
        raise _unread("its description is damaged") from error


def _too_much() -> ExtractionFailed:
    return ExtractionFailed(
        f"The PDF is an XFA form with more than {MOST // MIB} MiB of XML: it is not read.",
        "Print it to a new PDF in Adobe Reader.",
        Reason.TOO_LARGE,
    )


def _unread(why: str) -> ExtractionFailed:
    return ExtractionFailed(
        f"The PDF is an XFA form, which Adobe Reader alone shows, and {why}.",
        "Open it in Adobe Reader and print it to a new PDF.",
        Reason.UNSUPPORTED,
    )
