"""One sheet: its frame (what stands around the rows), merged cells, links, comments, drawings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from seoga.errors import ExtractionFailed
from seoga_extraction.format import Archive, parse_xml
from seoga_extraction.formats.xlsx.rows import PIECE, Row, cell_place
from seoga_extraction.ooxml.package import Relations, attribute, descendants, related

if TYPE_CHECKING:
    from lxml.etree import _Element

_FRAME_BYTES = 32 * 1024 * 1024
_OPENS = re.compile(rb"<(?:[\w.-]{1,40}:)?sheetData[\s/>]")
_CLOSES = re.compile(rb"</(?:[\w.-]{1,40}:)?sheetData\s*>")
_LONGEST = 64
MAX_LINKS = 50_000


@dataclass(slots=True)
class Frame:
    """What a sheet says outside its rows. `merges` gives the last row of each cell that is merged
    downwards, `links` the addresses, both by (row, column)."""

    merges: dict[tuple[int, int], int] = field(default_factory=dict)
    links: dict[tuple[int, int], str] = field(default_factory=dict)


def read_frame(archive: Archive, part: str, relations: Relations) -> Frame:
    """The frame of a sheet part; an empty one where it cannot be read (its rows still can)."""
    try:
        data = _without_rows(archive, part)
        root = parse_xml(data, part) if data else None
    except ExtractionFailed:
        return Frame()
    if root is None:
        return Frame()
    links = _links(root, relations)
    if len(links) > MAX_LINKS:
        archive.cut(f"Of {len(links):,} links on a sheet, {MAX_LINKS:,} are read.")
        links = dict(islice(links.items(), MAX_LINKS))
    return Frame(_merges(root), links)


def _without_rows(archive: Archive, part: str) -> bytes:
    """The XML of a sheet with the rows cut out; b"" when what is left is unusually large.

    Merged cells are listed after the rows that they change, so this is read before them.
    """
    kept: list[bytes] = []
    buffer = b""
    state: re.Pattern[bytes] | None = _OPENS
    with archive.stream(part) as stream:
        while piece := stream.read(PIECE):
            buffer += piece
            if state is _OPENS and (found := _OPENS.search(buffer)):
                kept.append(buffer[: found.start()])
                buffer, state = buffer[found.start() :], _CLOSES
            if state is _CLOSES:
                found = _CLOSES.search(buffer)
                if found is None:
                    buffer = buffer[-_LONGEST:]
                    continue
                buffer, state = buffer[found.end() :], None
            if len(buffer) > _FRAME_BYTES:
                mib = _FRAME_BYTES // (1024 * 1024)
                archive.cut(
                    f"A sheet has more than {mib} MiB beside its rows: merged cells are not "
                    "repeated and links are not read."
                )
                return b""
    # An empty <sheetData/> is never closed: there were no rows, and nothing to merge or to link.
    return b"" if state is _CLOSES else b"".join([*kept, buffer])


def _merges(root: _Element) -> dict[tuple[int, int], int]:
    found: dict[tuple[int, int], int] = {}
    for one in descendants(root, "mergeCell"):
        first, _, last = attribute(one, "ref").partition(":")
        top, bottom = cell_place(first), cell_place(last)
        if bottom[0] > top[0] > 0:
            found[top] = bottom[0]
    return found


def _links(root: _Element, relations: Relations) -> dict[tuple[int, int], str]:
    found: dict[tuple[int, int], str] = {}
    for one in descendants(root, "hyperlink"):
        address = relations.address(related(one))
        if address.startswith(("http://", "https://", "mailto:")):
            found[cell_place(attribute(one, "ref").partition(":")[0])] = address
    return found


def framed(rows: Iterator[Row], frame: Frame) -> Iterator[tuple[Row, bool]]:
    """Rows with the texts of cells merged downwards repeated, so that each can be read alone, and
    with their links; the flag says that a merged cell spans the gap to the row before."""
    down: dict[int, tuple[int, str]] = {}
    for number, cells in rows:
        joined = any(last >= number for last, _ in down.values())
        if down:
            down = {at: one for at, one in down.items() if one[0] >= number}
        for at, (_, text) in down.items():
            cells.setdefault(at, text)
        for at, text in cells.items():
            if frame.merges and (last := frame.merges.get((number, at))):
                down[at] = (last, text)
            if frame.links and (address := frame.links.get((number, at))):
                cells[at] = _linked(text, address)
        yield (number, cells), joined


def _linked(text: str, address: str) -> str:
    bare = address.removeprefix("mailto:")
    if bare.rstrip("/") in text:
        return text
    return f"[{text}]({address})"
