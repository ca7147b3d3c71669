"""English stemming of the keyword index: `tests`, `tested` and `testing` are one term.

Snowball's English stemmer (Porter 2), in C. Measured nDCG@10, keyword only: no stemming, plural
only (Harman 1991), Porter 2: scifact_en 0.717, 0.733, 0.753; xquad_en 0.948, 0.955, 0.955.
"""

from __future__ import annotations

import threading

import Stemmer

_MIN_LETTERS = 3
_MAX_LETTERS = 32


class _Own(threading.local):
    # The library's stemmer keeps the word it works on in itself: one a thread.
    def __init__(self) -> None:
        self.stem_word = Stemmer.Stemmer("english", 0).stemWord


_own = _Own()


def stem(word: str) -> str:
    """The stem of a casefolded word; one with digits or letters other than a-z stays as it is."""
    if not (_MIN_LETTERS <= len(word) <= _MAX_LETTERS and word.isascii() and word.isalpha()):
        return word
    stemmed: str = _own.stem_word(word)
    return stemmed
