"""The part of a passage that answers the query best, with its words marked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final

from seoga.text.tokens import index_text

SNIPPET_CHARS: Final = 240
_WORD = re.compile(r"\S+")
# What a mark may hold of that: words, identifiers, paths; not the brackets of a link around them.
_MARKED = re.compile(r"\w+(?:[-./:'’@&+,]+\w+)*(?:\+\+(?!\w)|#(?!\w))?")


class Marker:
    """Marks what a query asked for. `weights` are its terms, as the index has them, with their
    idf (one with a blank inside is two words in a row), `parts` the terms that each of its
    identifiers is made of: where that stands whole, they are no marks elsewhere. Hits of one search
    share it, for words repeat."""

    def __init__(
        self, weights: Mapping[str, float], parts: Mapping[str, frozenset[str]] | None = None
    ) -> None:
        self.weights, self.parts = weights, parts or {}
        self._known: dict[str, frozenset[str]] = {}
        self._rows = [tuple(form.split(" ")) for form in weights if " " in form]

    def snippet(self, text: str, chars: int = SNIPPET_CHARS) -> str:
        """About `chars` characters of `text` around the words worth most, those as `**word**`, on
        one line; the beginning when there is no such word. Marks of the text itself are left out,
        so that `**` always means a mark of ours."""
        words = [(found.start(), found.end()) for found in _WORD.finditer(text)]
        if not words:
            return ""
        dull = self._dull(text[start:end] for start, end in words)
        worth = [self._worth(text[start:end], dull) for start, end in words]
        rows = self._in_a_row([text[start:end] for start, end in words]) if self._rows else {}
        worth = [rows.get(at, value) for at, value in enumerate(worth)]
        first, last = _window(words, worth, chars)
        shown = []
        for at, (start, end) in enumerate(words[first:last], first):
            word = text[start:end].replace("**", "")[:chars]
            if word and at in rows:
                shown.append(_MARKED.sub(r"**\g<0>**", word))
            elif word:
                shown.append(self._marked(word, dull) if worth[at] > 0 else word)
        before = "… " if first else ""
        after = " …" if last < len(words) else ""
        return f"{before}{' '.join(shown)}{after}"

    def _in_a_row(self, words: Sequence[str]) -> dict[int, float]:
        """The numbers of the words that stand in a row as the query asks for them, with what each
        of them is worth."""
        tokens = [index_text(word).split() for word in words]
        out: dict[int, float] = {}
        for at, (one, next_one) in enumerate(pairwise(tokens)):
            for row in self._rows:
                if (*one[-1:], *next_one[:1]) == row:
                    out[at] = out[at + 1] = self.weights[" ".join(row)] / 2
        return out

    def _dull(self, words: Iterable[str]) -> frozenset[str]:
        """The parts of the identifiers that stand whole among these words."""
        if not self.parts:
            return frozenset()
        there = frozenset().union(*map(self._asked, words))
        return frozenset().union(*(self.parts[name] for name in there & self.parts.keys()))

    def _marked(self, word: str, dull: frozenset[str]) -> str:
        """Something without blanks, with the marks around those of its words that count."""

        def mark(found: re.Match[str]) -> str:
            part = found.group()
            return f"**{part}**" if self._worth(part, dull) > 0 else part

        marked = _MARKED.sub(mark, word)
        return marked if "**" in marked else f"**{word}**"

    def _worth(self, word: str, dull: frozenset[str]) -> float:
        asked = self._asked(word)
        if dull and not asked & self.parts.keys():
            asked = asked - dull
        return sum(self.weights[token] for token in asked)

    def _asked(self, word: str) -> frozenset[str]:
        """The terms of the query that a word holds."""
        asked = self._known.get(word)
        if asked is None:
            tokens = frozenset(index_text(word).split()) if self.weights else frozenset()
            asked = self._known[word] = tokens.intersection(self.weights)
        return asked


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
