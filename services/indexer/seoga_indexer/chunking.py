"""Sections in, chunks out: exact slices, never across a heading. Pure, linear in the text."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from seoga.cells import Cells
from seoga.models import Chunk, DocumentInfo, Place, Section, SectionKind
from seoga_indexer import beside
from seoga_indexer.boundaries import (
    Cuts,
    Span,
    find_cuts,
    first_in,
    header_of,
    last_in,
    word_start_after,
    word_start_before,
)

CHUNKER_VERSION = "3"
SEPARATOR = "\n\n"
# A piece shorter than this share of the target is not worth a chunk of its own.
_LEAST_SHARE = 0.3
_TEXTFUL = re.compile(r"[^\W_]|[^\s\x00-\x7f\u2000-\u206f\ufeff]")
_UNSEEN_KINDS = frozenset({SectionKind.HEADING, SectionKind.PAGE})
_NOWHERE = Place()


@dataclass(frozen=True, slots=True)
class Assembled:
    """A document as one text: `text` is its sections joined by a blank line.

    `marks` (offset, place) say where in the original the text from that offset on stands, `spans`
    which section each stretch came from.
    """

    info: DocumentInfo
    text: str
    marks: tuple[tuple[int, Place], ...]
    spans: tuple[Span, ...]


class _Sizes(NamedTuple):
    target: int
    overlap: int
    cap: int


class _Group(NamedTuple):
    """The sections under one heading (or slide, or sheet)."""

    spans: list[Span]
    heading_path: tuple[str, ...]
    has_heading: bool


def assemble(info: DocumentInfo, sections: Iterable[Section]) -> Assembled:
    """Joins sections into the document's text, in NFC. Empty sections are left out.

    A section without a page of its own stands on the page of the last PAGE section before it.
    """
    parts: list[str] = []
    spans: list[Span] = []
    marks: list[tuple[int, Place]] = []
    at, page, last = 0, None, _NOWHERE
    for section in sections:
        text = section.text
        if not text or text.isspace():
            continue
        if not text.isascii():
            text = unicodedata.normalize("NFC", text)
        place = section.place
        if section.kind is SectionKind.PAGE:
            page = place.page
        elif page is not None and place.page is None:
            place = replace(place, page=page)
        if place != last:
            marks.append((at, place))
            last = place
        spans.append(Span(at, at + len(text), section, place))
        parts.append(text)
        at += len(text) + len(SEPARATOR)
    return Assembled(info, SEPARATOR.join(parts), tuple(marks), tuple(spans))


def chunk_document(
    assembled: Assembled, target_chars: int = 1000, overlap_chars: int = 150, max_chars: int = 4000
) -> list[Chunk]:
    """The chunks of a document in reading order; none where it has no text.

    Sizes are in code points. A chunk is near `target_chars`, repeats at most `overlap_chars` of the
    one before it in its section, and never exceeds `max_chars`.
    """
    cap = max(1, max_chars)
    target = max(1, min(target_chars, cap))
    sizes = _Sizes(target, max(0, min(overlap_chars, target // 3)), cap)
    groups = list(_groups(assembled.spans))
    places = _Places(assembled.text)
    chunks: list[Chunk] = []
    for index, group in enumerate(groups):
        following = groups[index + 1] if index + 1 < len(groups) else None
        if _said_below(group, following):
            continue
        maker = _ChunkMaker(assembled.text, group, places)
        for start, end in _windows(assembled.text, group.spans, sizes):
            chunks.append(maker.make(len(chunks), start, end))
    return chunks


def _groups(spans: Iterable[Span]) -> Iterator[_Group]:
    group: _Group | None = None
    for span in spans:
        if group is not None and _continues(group, span):
            group.spans.append(span)
            continue
        if group is not None:
            yield group
        section = span.section
        heads = section.kind is SectionKind.HEADING
        path = section.heading_path
        if heads and not path:
            path = (section.text.strip().lstrip("#").strip(),)
        group = _Group([span], path, heads)
    if group is not None:
        yield group


def _continues(group: _Group, span: Span) -> bool:
    section = span.section
    if section.kind is SectionKind.PAGE:
        return True
    if section.kind is SectionKind.HEADING:
        return False
    if section.heading_path and section.heading_path != group.heading_path:
        return False
    last = group.spans[-1].place
    return (last.slide, last.sheet) == (span.place.slide, span.place.sheet)


def _said_below(group: _Group, following: _Group | None) -> bool:
    """A heading with nothing under it but further headings, whose paths carry it."""
    if not group.has_heading or following is None:
        return False
    if any(span.section.kind not in _UNSEEN_KINDS for span in group.spans):
        return False
    depth = len(group.heading_path)
    path = following.heading_path
    return len(path) > depth and path[:depth] == group.heading_path


def _windows(text: str, spans: Sequence[Span], sizes: _Sizes) -> Iterator[tuple[int, int]]:
    """The chunks of one group as trimmed (start, end)."""
    trim = _Trimmer(text, spans)
    start, end = trim(spans[0].start, spans[-1].end)
    if end - start <= sizes.target:
        if _TEXTFUL.search(text, start, end):
            yield start, end
        return
    cutter = _Cutter(text, find_cuts(text, spans, sizes.cap), sizes, end)
    done = shown = start
    while done < end:
        start, cut = cutter.next(start, done)
        first, last = trim(start, cut)
        # A stretch may hold nothing new but a page mark, which trimming takes off again.
        if last > shown and _TEXTFUL.search(text, first, last):
            shown = last
            yield first, last
        start, done = cutter.restart(start, cut), cut


class _Trimmer:
    """Takes white space and page marks off both ends of a stretch."""

    def __init__(self, text: str, spans: Sequence[Span]) -> None:
        pages = [span for span in spans if span.section.kind is SectionKind.PAGE]
        self._text = text
        self._page_ends = {page.start: page.end for page in pages}
        self._page_starts = {page.end: page.start for page in pages}

    def __call__(self, start: int, end: int) -> tuple[int, int]:
        text = self._text
        while start < end:
            if text[start].isspace():
                start += 1
            elif start in self._page_ends:
                start = min(end, self._page_ends[start])
            else:
                break
        while end > start:
            if text[end - 1].isspace():
                end -= 1
            elif end in self._page_starts:
                end = max(start, self._page_starts[end])
            else:
                break
        return start, end


class _Cutter:
    """Chooses where the chunks of one group begin and end."""

    def __init__(self, text: str, cuts: Cuts, sizes: _Sizes, end: int) -> None:
        self._text, self._cuts, self._sizes, self._end = text, cuts, sizes, end
        self._least = int(sizes.target * _LEAST_SHARE)

    def next(self, start: int, done: int) -> tuple[int, int]:
        """The stretch of the next chunk; it reaches past `done`, where the one before it ended."""
        cut = self._cut(start, done)
        if cut - start > self._sizes.cap:
            # What must stay whole does not fit beside the overlap: the overlap goes.
            start, cut = done, self._cut(done, done)
        if self._end - cut < self._least and self._end - start <= self._sizes.cap:
            cut = self._end
        return start, cut

    def restart(self, start: int, cut: int) -> int:
        """Where the chunk after `cut` begins: at a sentence, else a word, of the overlap."""
        low = max(cut - self._sizes.overlap, start + 1, self._cuts.last_atom_end(cut))
        if low >= cut:
            return cut
        at = first_in(self._cuts.fine, low, cut)
        return at if at >= 0 else word_start_after(self._text, low, cut)

    def _cut(self, start: int, done: int) -> int:
        target, cuts = self._sizes.target, self._cuts
        limit = start + target
        if limit >= self._end:
            return self._end
        if (atom := cuts.atom_around(limit)) is not None:
            opens, closes = atom
            if opens <= done or (opens - start < self._least and closes - start <= self._sizes.cap):
                return closes
            limit = opens
        lowest = max(done + 1, start + self._least)
        half = max(done + 1, start + target // 2)
        for positions, low in ((cuts.strong, half), (cuts.fine, half), (cuts.fine, lowest)):
            if (at := last_in(positions, low, limit)) >= 0:
                return at
        if atom is not None:
            return limit
        return word_start_before(self._text, half, limit)


class _Places:
    """Where in the original a stretch of one section stands."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._breaks: list[int] | None = None

    def part(self, span: Span, start: int, end: int) -> Place:
        """The place of start..end; lines are counted where a line of text is a line of the file,
        or a row of a sheet."""
        place = span.place
        if place.cells is not None and span.section.kind is SectionKind.TABLE:
            return self._rows(span, start, end)
        first, last = place.line_start, place.line_end
        if first is None or last is None or (start <= span.start and end >= span.end):
            return place
        if self._lines(span.start, span.end) != last - first:
            found = self._below(span, start, end, first, last)
            opens, closes = found or (first, last)
            return replace(place, line_start=opens, line_end=closes)
        opens = first + self._lines(span.start, max(start, span.start))
        closes = first + self._lines(span.start, min(end, span.end))
        return replace(place, line_start=opens, line_end=closes)

    def _rows(self, span: Span, start: int, end: int) -> Place:
        """The rows of a sheet that stand in start..end, where its table has a line for each."""
        cells = Cells.parse(span.place.cells)
        found = cells and self._below(span, start, end, cells.top, cells.bottom)
        if not cells or not found:
            return span.place
        return replace(span.place, cells=str(cells._replace(top=found[0], bottom=found[1])))

    def _below(
        self, span: Span, start: int, end: int, first: int, last: int
    ) -> tuple[int, int] | None:
        """Which of the rows `first` to `last` stand in start..end; None where the section is no
        table that has a line for each of them."""
        lines = self._lines(span.start, span.end) + 1
        # The line below the header is no row; a later part repeats the header itself, too.
        if span.section.kind is not SectionKind.TABLE:
            return None
        if last - first + 1 not in (lines - 1, lines - 2):
            return None
        top = last - self._lines(max(start, span.start), span.end)
        bottom = last - self._lines(min(end, span.end), span.end)
        return max(top, first), max(bottom, first)

    def _lines(self, start: int, end: int) -> int:
        if self._breaks is None:
            self._breaks = [found.start() for found in re.finditer("\n", self._text)]
        return bisect_left(self._breaks, end) - bisect_left(self._breaks, start)


class _ChunkMaker:
    """Makes the chunks of one group."""

    def __init__(self, text: str, group: _Group, places: _Places) -> None:
        self._text, self._group, self._places = text, group, places
        self._heading_path = beside.heading_path(group.heading_path)
        self._starts = [span.start for span in group.spans]

    def make(self, ordinal: int, start: int, end: int) -> Chunk:
        """The chunk of text[start:end] with what travels beside it."""
        low = bisect_right(self._starts, start) - 1
        spans = self._group.spans[low : bisect_left(self._starts, end)]
        first = spans[0]
        place = self._places.part(first, start, end)
        for span in spans[1:]:
            # All of them: a remark on the first cell may come after the table.
            place = place.until(self._places.part(span, start, end))
        kinds = {span.section.kind for span in spans} - _UNSEEN_KINDS
        return Chunk(
            ordinal=ordinal,
            text=self._text[start:end],
            start=start,
            end=end,
            heading_path=self._heading_path,
            header_row=self._header(first, start),
            place=place,
            kind=kinds.pop() if len(kinds) == 1 else SectionKind.PARAGRAPH,
            meta=beside.merged_meta(spans, start),
        )

    def _header(self, span: Span, start: int) -> str:
        if span.section.kind is not SectionKind.TABLE or start <= span.start:
            return ""
        header, body = header_of(self._text, span)
        return beside.header_row(header) if start >= body else ""
