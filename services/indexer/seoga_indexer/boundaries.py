"""Where a run of sections may be cut: paragraphs, sentences, rows, items; and what is never cut."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from seoga.models import Place, Section, SectionKind
from seoga.text.sentences import sentence_spans

_BLANK = re.compile(r"\n[^\S\n]*+\n\s*+")
_LINE = re.compile(r"\n+")
_SPACE = re.compile(r"\s++")
_TYING = frozenset({SectionKind.HEADING, SectionKind.PAGE})
_WHOLE = frozenset({SectionKind.CODE, SectionKind.TABLE})
_UNCUT = frozenset({SectionKind.CODE, SectionKind.PAGE})
# A paragraph of at most this many characters before a list is its lead line.
_LEAD_CHARS = 200


class Span(NamedTuple):
    """A section and where its text stands; `place` is its own or that of its page."""

    start: int
    end: int
    section: Section
    place: Place


@dataclass(slots=True)
class Cuts:
    """Positions of a text where a chunk may begin, ascending.

    `strong` begin paragraphs; `fine` begin sentences, rows, items or lines and hold `strong` too.
    `atoms` are stretches (start, end) that stay whole: page marks, and code blocks and table rows
    that fit the cap.
    """

    strong: list[int] = field(default_factory=list)
    fine: list[int] = field(default_factory=list)
    atoms: list[tuple[int, int]] = field(default_factory=list)

    def atom_around(self, at: int) -> tuple[int, int] | None:
        """The stretch that a cut at `at` would break."""
        index = bisect_left(self.atoms, (at, -1)) - 1
        if index >= 0 and self.atoms[index][0] < at < self.atoms[index][1]:
            return self.atoms[index]
        return None

    def last_atom_end(self, at: int) -> int:
        """Where the last whole stretch at or before `at` ends, -1 when there is none."""
        index = bisect_right(self.atoms, at, key=lambda atom: atom[1]) - 1
        return self.atoms[index][1] if index >= 0 else -1


def last_in(cuts: Sequence[int], low: int, high: int) -> int:
    """The last position in low..high (both included), or -1."""
    index = bisect_right(cuts, high) - 1
    return cuts[index] if index >= 0 and cuts[index] >= low else -1


def first_in(cuts: Sequence[int], low: int, high: int) -> int:
    """The first position in low..high (high excluded), or -1."""
    index = bisect_left(cuts, low)
    return cuts[index] if index < len(cuts) and cuts[index] < high else -1


def word_start_before(text: str, low: int, high: int) -> int:
    """The last position in low..high that follows white space; `high` where there is none."""
    for at in range(high, low - 1, -1):
        if text[at - 1].isspace():
            return at
    return high


def word_start_after(text: str, low: int, high: int) -> int:
    """The first position after `low` that follows white space, `high` where there is none."""
    found = _SPACE.search(text, low, high)
    return found.end() if found else high


def header_of(text: str, span: Span) -> tuple[str, int]:
    """The header row of a Markdown table, and where its body begins; ("", start) without one."""
    first = text.find("\n", span.start, span.end)
    if first < 0:
        return "", span.start
    second = text.find("\n", first + 1, span.end)
    second = span.end if second < 0 else second
    rule = text[first + 1 : second]
    if "-" not in rule or rule.strip(" \t|:+=-"):
        return "", span.start
    return text[span.start : first].strip(), min(second + 1, span.end)


def find_cuts(text: str, spans: Sequence[Span], cap: int) -> Cuts:
    """The cuts of neighbouring sections that lie under one heading. Linear in their length."""
    cuts = Cuts()
    for index, span in enumerate(spans):
        before = spans[index - 1] if index else None
        if before is not None and not _tied(text, before, span):
            cuts.fine.append(span.start)
            if not _mid_sentence(text, span):
                cuts.strong.append(span.start)
        if span.section.kind in _UNCUT:
            _cut_whole(text, span, cap, cuts)
        elif span.section.kind is SectionKind.TABLE:
            _cut_table(text, span, cap, cuts)
        else:
            _cut_prose(text, span, cuts)
    return cuts


def _tied(text: str, before: Span, span: Span) -> bool:
    """Whether `span` stays with what stands before it: a heading, a page mark, a lead line."""
    kind = before.section.kind
    if kind in _TYING or (kind not in _WHOLE and _leads(text, before.end)):
        return True
    short = before.end - before.start <= _LEAD_CHARS
    return kind is SectionKind.PARAGRAPH and short and span.section.kind is SectionKind.LIST


def _leads(text: str, end: int) -> bool:
    return text[end - 1] in ":："


def _mid_sentence(text: str, span: Span) -> bool:
    """A page mark inside a sentence is a poor place to cut."""
    if span.section.kind is not SectionKind.PAGE:
        return False
    before = text[max(0, span.start - 8) : span.start].rstrip()
    return bool(before) and before[-1] not in ".?!…。！？:|`\"”')]"


def _cut_prose(text: str, span: Span, cuts: Cuts) -> None:
    body = text[span.start : span.end]
    paragraphs = {blank.end() for blank in _BLANK.finditer(body)}
    end = 0
    for start, after in sentence_spans(body):
        if end and not _leads(body, end):
            cuts.fine.append(span.start + start)
            if start in paragraphs:
                cuts.strong.append(span.start + start)
        end = after


def _cut_whole(text: str, span: Span, cap: int, cuts: Cuts) -> None:
    if span.end - span.start <= cap:
        cuts.atoms.append((span.start, span.end))
        return
    for line in _LINE.finditer(text, span.start, span.end):
        cuts.fine.append(line.end())
        if len(line[0]) > 1:
            cuts.strong.append(line.end())


def _cut_table(text: str, span: Span, cap: int, cuts: Cuts) -> None:
    for start, end in _rows(text, span):
        if start > span.start:
            cuts.fine.append(start)
        if end - start <= cap:
            cuts.atoms.append((start, end))


def _rows(text: str, span: Span) -> Iterator[tuple[int, int]]:
    """The rows of a table; its header goes with the first of them."""
    start, (_, search) = span.start, header_of(text, span)
    while start < span.end:
        found = text.find("\n", search, span.end)
        end = span.end if found < 0 else found
        yield start, end
        start = search = end + 1
