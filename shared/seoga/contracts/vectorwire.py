"""The forms in which passages, vectors and contexts cross the wire of the embedding port."""

from __future__ import annotations

import base64
import binascii
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from seoga.errors import EmbeddingFailed, ProviderFault, unwire, wire

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Vector: TypeAlias = "NDArray[np.float32]"


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
    `penalties` (k,) float32, subtracted from the cosine of that window. The passage scores as its
    best window. `tokens` is what a provider charges for it (an estimate where it does not say)."""

    vectors: Vector
    penalties: Vector
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A chunk that an LLM is to set in its place: `text` as it stands, `title` and `outline` (its
    headings) of its document, `heading` its own path, and what stands `before` and `after` it."""

    text: str
    title: str = ""
    heading: str = ""
    outline: str = ""
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Context:
    """What an LLM adds to a chunk: one or two sentences, and keywords in Korean and English with
    ", " between. Tokens are 0 for an answer from the cache; `cost` is US dollars, 0 where the price
    is not known."""

    text: str
    keywords: str
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0


def result_to(result: PassageVectors | EmbeddingFailed) -> dict[str, Any]:
    """One result for a passage as JSON."""
    if isinstance(result, EmbeddingFailed):
        return {"error": wire(result)}
    out: dict[str, Any] = {
        "vectors": pack(result.vectors),
        "penalties": pack(result.penalties),
    }
    return out | ({"tokens": result.tokens} if result.tokens else {})


def context_to(result: Context | EmbeddingFailed) -> dict[str, Any]:
    """One result for an excerpt as JSON."""
    return {"error": wire(result)} if isinstance(result, EmbeddingFailed) else asdict(result)


def result_of(data: dict[str, Any]) -> PassageVectors | EmbeddingFailed:
    """Inverse of `result_to`. Raises EmbeddingFailed (bad output)."""
    if (error := error_of(data)) is not None:
        return error
    penalties = unpack(data["penalties"])
    vectors = unpack(data["vectors"])
    if not len(penalties) or len(vectors) % len(penalties):
        raise EmbeddingFailed(
            "The embedding service gave vectors of unequal length.", fault=ProviderFault.BAD_OUTPUT
        )
    return PassageVectors(vectors.reshape(len(penalties), -1), penalties, data.get("tokens", 0))


def error_of(data: dict[str, Any]) -> EmbeddingFailed | None:
    """The error in a result; None where it is none."""
    if "error" not in data:
        return None
    error = unwire(data["error"])
    return error if isinstance(error, EmbeddingFailed) else EmbeddingFailed(error.message)


def pack(vector: Vector) -> str:
    """Base64 of little-endian float32."""
    import numpy as np

    return base64.b64encode(np.ascontiguousarray(vector, "<f4").tobytes()).decode("ascii")


def unpack(text: str) -> Vector:
    """(n,) float32; inverse of `pack`. Raises EmbeddingFailed (bad output)."""
    import numpy as np

    try:
        return np.frombuffer(base64.b64decode(text, validate=True), "<f4").astype(np.float32)
    except (binascii.Error, ValueError) as error:
        raise EmbeddingFailed(
            "The embedding service gave a vector that cannot be read.",
            fault=ProviderFault.BAD_OUTPUT,
        ) from error


def utf8(text: str) -> str:
    """The text with what UTF-8 has no form for replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")
