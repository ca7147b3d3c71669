"""The text form of hits: the lines that the command line and search_notes print."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from seoga.models import Hit
from seoga.text.places import describe

# Five passages of this length fit on a screen.
SHOWN_CHARS = 400


def head_line(hit: Hit, shown: Callable[[str], str] = str) -> str:
    """`[label]  path › Heading > Subheading  [date]  page 3` (slide, cells, seconds where there are
    some). `shown` is applied to what the document's author wrote."""
    heading = " > ".join(map(shown, hit.heading_path))
    head = f"{shown(hit.label)}  {shown(hit.path)}" + (f" › {heading}" if heading else "")
    date = hit.modified[:10]
    # Lines of extracted text are no place that a reader of the original could turn to.
    place = describe(replace(hit.place, line_start=None, line_end=None))
    return "  ".join(filter(None, (head, f"[{date}]" if date else "", place)))


def body(hit: Hit, full: bool = True) -> str:
    """The text: whole, or where it is long the part around the words of the question."""
    text = "\n".join(part for part in (hit.header_row, hit.text) if part)
    return text if full or len(text) <= SHOWN_CHARS else hit.snippet.replace("**", "")
