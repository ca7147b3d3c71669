"""The part of a passage that answers the query best, with its words marked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from seoga.text.tokens import index_text

SNIPPET_CHARS: Final = 240
_WORD = re.compile(r"\S+")


def snippet(text: str, weights: Mapping[str, float], chars: int = SNIPPET_CHARS) -> str:
    """About `chars` characters of `text` around the words worth most, those as `**word**`, on one
    line; the beginning when there is no such word. `weights` are the query's terms with their idf.
    Marks of the text itself are left out, so that `**` always means a mark of ours."""
    words = [(found.start(), found.end()) for found in _WORD.finditer(text)]
    if not words:
        return ""
    worth = [_worth(text[start:end], weights) for start, end in words]
    first, last = _window(words, worth, chars)
    shown = []
    for (start, end), value in zip(words[first:last], worth[first:last], strict=True):
        word = text[start:end].replace("**", "")[:chars]
        if word:
            shown.append(f"**{word}**" if value > 0 else word)
    before = "… " if first else ""
    after = " …" if last < len(words) else ""
    return f"{before}{' '.join(shown)}{after}".replace("** **", " ")


def _worth(word: str, weights: Mapping[str, float]) -> float:
    return sum(weights.get(token, 0.0) for token in set(index_text(word).split()))


def _window(words: list[tuple[int, int]], worth: list[float], chars: int) -> tuple[int, int]:
    """The run of words within `chars` characters that is worth most; the earliest of equals, moved
    so that something stands before its first mark."""
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
