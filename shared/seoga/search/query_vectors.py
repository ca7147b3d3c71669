"""The query's vector in the identity that a KB's stored vectors have, or why there is none."""

from __future__ import annotations

import weakref
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from seoga.contracts.deadline import within
from seoga.contracts.embedding import Embedding
from seoga.errors import EmbeddingFailed, SeogaError
from seoga.kb import Kb
from seoga.models import EmbeddingSpec, ModelCard
from seoga.search.turns import aside
from seoga.settings import settings

Float32 = NDArray[np.float32]

# Asking a provider who it is may be a call over the network: once an embedder and identity.
_verified: Final[weakref.WeakKeyDictionary[Embedding, set[str]]] = weakref.WeakKeyDictionary()


class QueryVectors:
    """Embeds one query, once an identity, for any number of KBs."""

    def __init__(self, text: str, embedding: Embedding | None) -> None:
        self.text, self.embedding = text, embedding
        self._made: dict[str, Float32 | SeogaError] = {}

    def get(self, kb: Kb, card: ModelCard) -> Float32:
        """(d,) float32 of unit length, comparable with vectors of `card`.

        Raises a SeogaError that says what is missing; the second KB with the same identity gets the
        same answer without another call.
        """
        if card.key not in self._made:
            try:
                with aside(), within(settings().query_timeout_s):
                    self._made[card.key] = self._embed(kb, card)
            except SeogaError as error:
                self._made[card.key] = error
        made = self._made[card.key]
        if isinstance(made, SeogaError):
            raise made
        return made

    def _embed(self, kb: Kb, card: ModelCard) -> Float32:
        if self.embedding is None:
            raise EmbeddingFailed("No embedder is there.")
        spec = spec_of(kb, card)
        if card.key not in _verified.setdefault(self.embedding, set()):
            now = self.embedding.card(spec)
            if now.key != card.key:
                raise EmbeddingFailed(
                    f"The index was made with another model ({card.model} {card.digest}) than the"
                    f" embedder has ({now.model} {now.digest}).",
                    "Re-index with partial embedding.",
                )
            _verified[self.embedding].add(card.key)
        vector = np.asarray(self.embedding.embed_query(self.text, spec), np.float32).reshape(-1)
        if vector.shape != (card.dimension,) or not np.isfinite(vector).all():
            raise EmbeddingFailed(
                f"The embedder gave a vector of {vector.size} numbers for {card.dimension}."
            )
        return vector


def spec_of(kb: Kb, card: ModelCard) -> EmbeddingSpec:
    """What to ask for a vector of `card`: the recorded model; address and key from the config,
    where it names the same provider."""
    asked = kb.embedding_spec()
    if asked.provider != card.provider:
        return EmbeddingSpec(card.provider, card.model, dimension=card.dimension)
    return replace(asked, model=card.model, dimension=card.dimension)
