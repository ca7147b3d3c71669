"""The outline of a PDF: its entries become headings where their titles stand on their pages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

from seoga.models import Place, Section
from seoga_extraction.format import Outline, one_line

# A number before the title may be missing on one of both sides.
_NUMBER = re.compile(
    r"^[\W_]*(?:(?:chapter|section|part|제)?[\dIVXivx]+[.\d]*[장절조편관]?)?[\W_]+"
)
_BETWEEN = re.compile(r"[\W_]+")
MOST_ENTRIES = 20_000


class Bookmarks:
    """The outline, used page by page in order."""

    def __init__(self, entries: Sequence[tuple[int, str, int]]) -> None:
        self._by_page: dict[int, list[tuple[int, str]]] = {}
        for level, title, page in entries[:MOST_ENTRIES]:
            if title := one_line(title):
                self._by_page.setdefault(page, []).append((level, title))
        self._outline = Outline()

    @property
    def path(self) -> tuple[str, ...]:
        """The headings above the current position."""
        return self._outline.path

    def walk(self, number: int, texts: Sequence[str]) -> Iterator[Section | str]:
        """The texts of a page, those that are titles as headings; `path` moves on meanwhile.

        An entry whose title is not on its page counts from where the one before it stands.
        """
        entries = self._by_page.get(number, [])
        titles = [(level, title, _folded(title)) for level, title in entries]
        longest = max([len(title) for _, _, title in titles], default=0)
        folded = [_beginning(text, longest) for text in texts] if entries else []
        at = 0
        places: dict[int, list[tuple[int, str, bool]]] = {}
        for level, title, short in titles:
            found = _find(folded, short, at)
            at = at if found is None else found[0]
            places.setdefault(at, []).append((level, title, found is not None and found[1]))
        for index, text in enumerate(texts):
            whole = False
            for level, title, is_title in places.pop(index, ()):
                heading = self._outline.heading(level, title, Place(page=number), text)
                if is_title and not whole:
                    yield heading
                    whole = True
            if not whole:
                yield text
        for left in places.values():
            for level, title, _ in left:
                self._outline.heading(level, title)


def entries(document: Any) -> list[tuple[int, str, int]]:
    """Level, title and page of each entry of the outline; [] when there is none or it is broken."""
    try:
        return [(level, title, page) for level, title, page, *_ in document.get_toc(simple=True)]
    except (RuntimeError, ValueError, IndexError, TypeError):
        return []


def _find(texts: Sequence[str], title: str, start: int) -> tuple[int, bool] | None:
    """Where the title stands from `start` on, and whether that text is it and nothing else."""
    if not title:
        return None
    begins: int | None = None
    for index in range(start, len(texts)):
        text = texts[index]
        if text == title:
            return index, True
        if begins is None and text.startswith(title):
            begins = index
    return None if begins is None else (begins, False)


def _beginning(text: str, length: int) -> str:
    """A text folded as far as a title of `length` can be compared with it: begun by it, or it."""
    begun = _folded(text[: 2 * length + 50])
    # The last letters may have been one with what was cut off.
    return begun if len(begun) > length + 10 else _folded(text)


def _folded(text: str) -> str:
    bare = _NUMBER.sub("", text, count=1) or text
    whole = bare if bare.isascii() else unicodedata.normalize("NFKC", bare)
    return _BETWEEN.sub("", whole.casefold())
