"""What travels beside a chunk, and how much of it: it comes again with every chunk, so that a
document with a long title, heading or header row would be stored many times over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from seoga_indexer.boundaries import Span

# Characters of a heading, headings of a path, and characters of a header row; of titles too.
HEADING: Final = 300
LEVELS: Final = 10
OUTERMOST: Final = 3
HEADER_ROW: Final = 1000
# Longer values of a section go with its first chunk alone.
SMALL_META: Final = 500
_MORE: Final = "…"


def shortened(text: str, most: int = HEADING) -> str:
    """At most so many characters; "…" says where it was cut."""
    return text if len(text) <= most else text[: most - 1].rstrip() + _MORE


def heading_path(path: tuple[str, ...]) -> tuple[str, ...]:
    """The path with headings that are not too long; of very many the outermost and the nearest."""
    if len(path) > LEVELS:
        path = (*path[:OUTERMOST], _MORE, *path[OUTERMOST + 1 - LEVELS :])
    return tuple(shortened(heading) for heading in path)


def header_row(row: str) -> str:
    """A header row of a pipe table: the first cells of a very wide one, and the start of a very
    long cell."""
    if len(row) <= HEADER_ROW:
        return row
    cut = row.rfind("|", 0, HEADER_ROW - 4)
    return f"{row[: cut + 1]} {_MORE} |" if cut > 0 else shortened(row, HEADER_ROW)


def merged_meta(spans: Sequence[Span], start: int) -> Mapping[str, Any]:
    """What the sections of a chunk that begins at `start` say; of two values the first stands."""
    meta: dict[str, Any] = {}
    for span in reversed(spans):
        said = span.section.meta
        if said and span.start < start:
            said = {key: value for key, value in said.items() if len(str(value)) <= SMALL_META}
        meta.update(said)
    return meta
