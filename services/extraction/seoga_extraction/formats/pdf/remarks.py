"""What readers wrote on a page: sticky notes, and what they said on marked or stricken text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from seoga_extraction.format import one_line
from seoga_extraction.formats.pdf.rendering import mupdf
from seoga_extraction.ooxml.remarks import Remark

# Text boxes and stamps are drawn on the page and read with it; fields and links are no remarks.
_KINDS = (
    "TEXT",
    "HIGHLIGHT",
    "UNDERLINE",
    "SQUIGGLY",
    "STRIKE_OUT",
    "CARET",
    "INK",
    "LINE",
    "SQUARE",
    "CIRCLE",
    "POLYGON",
    "POLY_LINE",
)
MOST = 2000
_DATE = re.compile(r"(?:D:)?(\d{4})(\d{2})?(\d{2})?")


def remarks(page: Any, cut: Callable[[str], None]) -> Iterator[str]:
    """Each remark as a passage, in the order of the file; `cut` is told of those beyond MOST."""
    kinds = [getattr(mupdf(), f"PDF_ANNOT_{kind}") for kind in _KINDS]
    count = sum(mark[1] in kinds for mark in page.annot_xrefs())
    if count > MOST:
        cut(f"Of {count:,} remarks on page {page.number + 1}, {MOST:,} are read.")
    for mark in islice(page.annots(types=kinds), MOST):
        info = mark.info
        found = _DATE.match(info.get("creationDate") or info.get("modDate") or "")
        when = "-".join(part for part in found.groups() if part) if found else ""
        shown = Remark(one_line(info.get("title", "")), when, info.get("content", "")).shown()
        if shown:
            yield shown
