"""The part of a passage that answers the query best, with its words marked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from seoga.text.tokens import index_text

SNIPPET_CHARS: Final = 240
_WORD = re.compile(r"\S+")
# What a mark may hold of that: words, identifiers, paths; not the brackets of a link around them.
_MARKED = re.compile(r"\w+(?:[-./:'’@&+,]+\w+)*(?:\+\+(?!\w)|#(?!\w))?")


class Marker:
    """Marks what a query asked for. `weights` are its terms, as the index has them, with their
    idf; hits of one search share it, for words repeat."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        self.weights = weights
        self._known: dict[str, float] = {}

    def snippet(self, text: str, chars: int = SNIPPET_CHARS) -> str:
        """About `chars` characters of `text` around the words worth most, those as `**word**`, on
        one line; the beginning when there is no such word. Marks of the text itself are left out,
        so that `**` always means a mark of ours."""
        words = [(found.start(), found.end()) for found in _WORD.finditer(text)]
        if not words:
            return ""
        worth = [self._worth(text[start:end]) for start, end in words]
        first, last = _window(words, worth, chars)
        shown = []
        for (start, end), value in zip(words[first:last], worth[first:last], strict=True):
            word = text[start:end].replace("**", "")[:chars]
            if word:
                shown.append(self._marked(word) if value > 0 else word)
        before = "… " if first else ""
        after = " …" if last < len(words) else ""
        return f"{before}{' '.join(shown)}{after}"

    def _marked(self, word: str) -> str:
        """Something without blanks, with the marks around those of its words that count."""

        def mark(found: re.Match[str]) -> str:
            return f"**{found.group()}**" if self._worth(found.group()) > 0 else found.group()

        marked = _MARKED.sub(mark, word)
        return marked if "**" in marked else f"**{word}**"

    def _worth(self, word: str) -> float:
        value = self._known.get(word)
        if value is None:
            tokens = set(index_text(word).split()) if self.weights else ()
            value = sum(self.weights.get(token, 0.0) for token in tokens)
            self._known[word] = value
        return value


def _window(words: list[tuple[int, int]], worth: list[float], chars: int) -> tuple[int, int]:
    """The run of words within `chars` characters that is worth most, widened to fill them: forward
    first, then so that something stands before the first mark."""
    best, best_at, total, first = -1.0, (0, 1), 0.0, 0
    for last, (_, end) in enumerate(words):
        total += worth[last]
        while first < last and end - words[first][0] > chars:
            total -= worth[first]
            first += 1
        if total > best + 1e-9:
            best, best_at = total, (first, last + 1)
    first, last = best_at
    while last < len(words) and words[last][1] - words[first][0] <= chars:
        last += 1
    while first and words[last - 1][1] - words[first - 1][0] <= chars:
        first -= 1
    return first, last
