"""Embedding: passages and queries in, unit vectors out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from seoga.errors import EmbeddingFailed
from seoga.models import EmbeddingSpec, ModelCard

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk to embed: `text` as it stands, `heading` its path joined by " > ", `context` of an
    LLM or empty."""

    text: str
    heading: str = ""
    context: str = ""


@dataclass(frozen=True, slots=True)
class PassageVectors:
    """The vectors of one passage: `vectors` (k, d) float32 of unit length, k >= 1, one a window;
    `penalties` (k,)
    float32, subtracted from the cosine of that window. The passage scores as its best window."""

    vectors: Vector
    penalties: Vector


class Embedding(Protocol):
    """The port of the embedding service."""

    def card(self, spec: EmbeddingSpec) -> ModelCard:
        """The identity of the model; may ask the provider once. Raises ConfigError for an
        unknown provider."""
        ...

    def embed_passages(
        self, passages: Sequence[Passage], spec: EmbeddingSpec
    ) -> list[PassageVectors | EmbeddingFailed]:
        """One result per passage, in order: its vectors, or the error that is about that passage
        alone.

        Raises EmbeddingFailed (auth, rate, outage) when the provider as a whole failed.
        """
        ...

    def embed_query(self, text: str, spec: EmbeddingSpec) -> Vector:
        """(d,) float32 of unit length. Raises EmbeddingFailed or ServiceUnavailable."""
        ...

    def close(self) -> None:
        """Ends worker processes and connections."""
        ...
