"""How much of what a query asks for stands in a passage, word by word, and how near together."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import Final

# Tokens within which words stand together: one or two sentences.
SPAN: Final = 40
# A word stands where so much of its tokens does: the endings of Hangul words vary.
_STANDS: Final = 0.5
# So many of the words, and half of all, are no chance however common each of them is.
_SEVERAL: Final = 4


def idf_of(passages: int, holding: int) -> float:
    """What a term weighs that so many of the passages hold, in the form that is never negative: one
    in every passage still counts a little."""
    return math.log(1 + (passages - holding + 0.5) / (holding + 0.5))


@dataclass(frozen=True, slots=True)
class Worth:
    """What a token of the query weighs: `mass`, its idf (of one that nobody wrote: that of a term
    in no passage), and `found`, what of it a passage has that holds it; less for one only spelt
    like it, which is not `sure`."""

    mass: float
    found: float
    sure: bool


class AskedWords:
    """The words of one query that ask for something, against a KB of so many passages."""

    def __init__(
        self, words: Sequence[frozenset[str]], worth: Mapping[str, Worth], passages: int
    ) -> None:
        self._worth = worth
        known = (frozenset(word & worth.keys()) for word in words)
        self._words = tuple(word for word in known if word)
        self._chance = math.log(max(passages, 2))

    @property
    def single(self) -> bool:
        """True when there is one word, or none, to look for."""
        return len(self._words) < 2

    @cached_property
    def _mass(self) -> float:
        return sum(self._worth[token].mass for word in self._words for token in word)

    @cached_property
    def _weights(self) -> tuple[float, ...]:
        # The bigrams of one word come together wherever it stands: only the rarest says how rare.
        return tuple(max(self._worth[token].mass for token in word) for word in self._words)

    def share(self, held: AbstractSet[str]) -> float:
        """The part of the idf mass that a passage with these tokens has, 0..1."""
        # Asked of every candidate: nothing here is found out anew.
        found = self._found
        return sum(found[token] for token in held if token in found)

    @cached_property
    def _found(self) -> Mapping[str, float]:
        tokens = Counter(token for word in self._words for token in word)
        worth = {token: times * self._worth[token].found for token, times in tokens.items()}
        return {token: each / self._mass for token, each in worth.items()} if self._mass else {}

    def together(self, named: Iterable[str], places: Sequence[tuple[int, str]]) -> float:
        """The idf of the words that stand within SPAN tokens of one another, as a multiple of
        ln(passages): above 1, fewer than one passage is expected to hold them by chance, were they
        strangers. Infinite for several words that are half of all, and for a single word, which
        has nothing to stand beside.

        `named`: the tokens of title and heading, which stand beside everything; `places`: where
        those of the text stand, in reading order.
        """
        if self.single:
            return math.inf
        near = Counter(token for token in named if self._is_sure(token))
        sure = [(at, token) for at, token in places if self._is_sure(token)]
        best, first = self._weight(near), 0
        for at, token in sure:
            near[token] += 1
            while at - sure[first][0] > SPAN:
                near[sure[first][1]] -= 1
                first += 1
            best = max(best, self._weight(near))
        return best / self._chance

    def _is_sure(self, token: str) -> bool:
        return token in self._worth and self._worth[token].sure

    def _weight(self, near: Mapping[str, int]) -> float:
        pairs = zip(self._words, self._weights, strict=True)
        there = [weight for word, weight in pairs if self._stands(word, near)]
        return math.inf if len(there) >= max(_SEVERAL, len(self._words) / 2) else sum(there)

    @staticmethod
    def _stands(word: frozenset[str], near: Mapping[str, int]) -> bool:
        return sum(near[token] > 0 for token in word) >= _STANDS * len(word)
