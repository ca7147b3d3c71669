"""A model without weights: hashed words and character trigrams, for tests and offline trials.

Feature hashing with signs (Weinberger et al. 2009, "Feature Hashing for Large Scale Multitask
Learning").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from hashlib import blake2b

import numpy as np

from seoga.models import EmbeddingSpec
from seoga_embedding.provider import ModelRow, ProviderInfo, Role, Vector

_WORD = re.compile(r"\w+")


class Hashing:
    """Texts that share words or parts of words are near; languages are worlds apart."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension

    def digest(self) -> str:
        """The version of the features."""
        return "1"

    def embed(self, texts: Sequence[str], role: Role) -> Vector:
        """(n, d) float32 of unit length; a text without a word gives one fixed vector."""
        del role
        out = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(out, texts, strict=True):
            for feature in _features(text):
                number = int.from_bytes(blake2b(feature.encode(), digest_size=8).digest(), "big")
                row[number % self.dimension] += 1.0 if number >> 63 else -1.0
            if not row.any():
                row[0] = 1.0
        unit: Vector = out / np.linalg.norm(out, axis=1, keepdims=True)
        return unit

    def close(self) -> None:
        """Nothing to free."""


def _features(text: str) -> Iterator[str]:
    for word in _WORD.findall(text.casefold()):
        yield word
        yield from (word[at : at + 3] for at in range(len(word) - 2))


def _open(_: EmbeddingSpec, row: ModelRow) -> Hashing:
    return Hashing(row.dimension)


PROVIDER = ProviderInfo("hashing", "ngrams-256", local=False, open=_open)
