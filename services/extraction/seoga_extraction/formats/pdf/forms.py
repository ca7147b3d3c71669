"""Drawings inside drawings: how often a page draws them, counted before it is drawn.

Thirty forms, each drawing the next one twice, are a small file and a billion drawings; patterns
that are painted with patterns too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from seoga.errors import ExtractionFailed, Reason

MAX_DRAWN = 20_000
MAX_DEPTH = 100
_MOST_PARENTS = 50
# A form is drawn, a pattern taken up, what is painted with it painted.
_DRAWS = re.compile(
    rb"/([^\s/<>\[\](){}%]*)\s*(Do|scn|SCN)\b|(?<![^\s)\]>])(?:[fbB]\*?|[FSs]|TJ|Tj)(?![^\s/\[(<])"
)
_NAMED = re.compile(r"/([^\s/<>\[\](){}%]*)\s*(\d+) \d+ R")
_REFERENCE = re.compile(r"(\d+) \d+ R")
_ESCAPED = re.compile(r"#([0-9A-Fa-f]{2})")


class Forms:
    """The forms and patterns of one document, and what each of them draws."""

    def __init__(self, document: Any) -> None:
        self._document = document
        self._drawn: dict[int, list[int]] = {}
        self._drawing: dict[int, bool] = {}

    def check(self, page: Any) -> None:
        """Raises ExtractionFailed (too_large) where the page draws too often or too deep."""
        holder = self._holder(page.xref)
        names = self._named(holder)
        starts: list[Iterable[int]] = [
            self._looks(page.xref, mark[0]) for mark in page.annot_xrefs()
        ]
        if any(self._is_drawing(one) for one in names.values()):
            starts.append(_draws(page.read_contents(), names))
        # What draws nothing itself is no more than the page says.
        first = [one for one in chain(*starts) if self._of(one, names)]
        if first and self._is_too_much(first, names):
            raise _too_many(page.number + 1)

    def _is_too_much(self, starts: Sequence[int], names: dict[str, int]) -> bool:
        """Goes where drawing would go: not into a form from within itself."""
        inside: list[int] = []
        steps = [iter(starts)]
        count = 0
        while steps:
            form = next(steps[-1], None)
            if form is None:
                steps.pop()
                del inside[-1:]
            elif form not in inside:
                count += 1
                if count > MAX_DRAWN or len(steps) > MAX_DEPTH:
                    return True
                steps.append(iter(self._of(form, names)))
                inside.append(form)
        return False

    def _of(self, form: int, above: dict[str, int]) -> list[int]:
        """What a form draws; names that it does not know itself are those of the page."""
        if form not in self._drawn:
            data = self._document.xref_stream(form) if self._is_drawing(form) else None
            self._drawn[form] = _draws(data, self._named(form) or above) if data else []
        return self._drawn[form]

    def _is_drawing(self, xref: int) -> bool:
        # Pages share what they draw.
        if xref not in self._drawing:
            key = self._document.xref_get_key
            form = key(xref, "Subtype")[1] == "/Form"
            self._drawing[xref] = form or key(xref, "PatternType")[1] == "1"
        return self._drawing[xref]

    def _holder(self, page: int) -> int:
        """The page, or what it inherits its resources from."""
        for _ in range(_MOST_PARENTS):
            if self._document.xref_get_key(page, "Resources")[0] != "null":
                break
            kind, parent = self._document.xref_get_key(page, "Parent")
            if kind != "xref":
                break
            page = int(parent.split()[0])
        return page

    def _named(self, owner: int) -> dict[str, int]:
        names: dict[str, int] = {}
        for group in ("Pattern", "XObject"):
            kind, text = self._document.xref_get_key(owner, f"Resources/{group}")
            if kind == "xref":
                text = self._document.xref_object(int(text.split()[0]), compressed=True)
            if kind in ("xref", "dict"):
                names |= {_plain(name): int(xref) for name, xref in _NAMED.findall(text)}
        return names

    def _looks(self, page: int, mark: int) -> Iterator[int]:
        """What a remark on the page or a field may look like; one that is no object of its own (0)
        has it among what the page says of all of them."""
        kind, text = self._document.xref_get_key(mark or page, "AP/N" if mark else "Annots")
        if kind == "xref" and not mark:
            text = self._document.xref_object(int(text.split()[0]), compressed=True)
        yield from map(int, _REFERENCE.findall(text))


def _draws(data: bytes, names: dict[str, int]) -> list[int]:
    """What content draws, as often as it does."""
    if not names or not (b"Do" in data or b"scn" in data or b"SCN" in data):
        return []
    drawn: list[int] = []
    pattern = 0
    for found in _DRAWS.finditer(data):
        name = found.group(1)
        form = names.get(_plain(name.decode("latin-1")), 0) if name is not None else pattern
        if found.group(2) in (b"scn", b"SCN"):
            pattern = form
        elif form:
            drawn.append(form)
    return drawn


def _plain(name: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found.group(1), 16)), name) if "#" in name else name


def _too_many(number: int) -> ExtractionFailed:
    return ExtractionFailed(
        f"Page {number} of the PDF draws forms inside forms more than {MAX_DRAWN:,} times, or more "
        f"than {MAX_DEPTH} deep: it is not read.",
        "Print it to a new PDF.",
        Reason.TOO_LARGE,
    )
