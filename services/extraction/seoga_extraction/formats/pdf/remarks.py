"""What readers wrote on a page: sticky notes, and what they said on marked or stricken text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from seoga_extraction.format import one_line
from seoga_extraction.ooxml.remarks import Remark

# Text boxes and stamps are drawn on the page and read with it; fields and links are no remarks.
_KINDS = (
    "Text",
    "Highlight",
    "Underline",
    "Squiggly",
    "StrikeOut",
    "Caret",
    "Ink",
    "Line",
    "Square",
    "Circle",
    "Polygon",
    "PolyLine",
)
MOST = 2000
_DATE = re.compile(r"(?:D:)?(\d{4})(\d{2})?(\d{2})?")


def remarks(page: Any) -> Iterator[str]:
    """Each remark as a passage, in the order of the file."""
    for count, mark in enumerate(page.annots()):
        if count >= MOST:
            return
        if mark.type[1] not in _KINDS:
            continue
        info = mark.info
        found = _DATE.match(info.get("creationDate") or info.get("modDate") or "")
        when = "-".join(part for part in found.groups() if part) if found else ""
        shown = Remark(one_line(info.get("title", "")), when, info.get("content", "")).shown()
        if shown:
            yield shown
