"""What a provider declares and can do; every module in `providers/` has one `PROVIDER`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from seoga.models import EmbeddingSpec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Vector: TypeAlias = "NDArray[np.float32]"
Role = Literal["query", "document"]


@dataclass(frozen=True, slots=True)
class ModelRow:
    """What is known of one model.

    `window` is the most characters of the text that a vector covers (0: the whole passage in one);
    `heading_chars` is how much of the heading path stands before each window; `heading_penalty` is
    subtracted from the cosine of the heading's own vector (None: it has none); `threshold` is the
    cosine below which an answer is not one; `max_chars` bounds a query.
    """

    model: str
    dimension: int
    threshold: float
    window: int = 0
    heading_chars: int = 400
    heading_penalty: float | None = None
    query_prefix: str = ""
    document_prefix: str = ""
    max_chars: int = 2000
    verified: bool = True


class Provider(Protocol):
    """One opened provider. Cheap to open: a model or a connection comes with the first `embed`."""

    def digest(self) -> str:
        """What tells two builds of a model apart; "" where unknown. May ask the provider once."""
        ...

    def embed(self, texts: Sequence[str], role: Role) -> Vector:
        """(n, d) float32, one row a text, in order. Raises EmbeddingFailed."""
        ...

    def close(self) -> None:
        """Ends connections and frees the model."""
        ...


@dataclass(frozen=True, slots=True)
class ProviderInfo:
    """A provider's declaration. `local`: it computes here, so documents go to child processes."""

    name: str
    default_model: str
    local: bool
    open: Callable[[EmbeddingSpec, ModelRow], Provider]
