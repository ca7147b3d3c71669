"""From passages to their vectors with one provider: windows, headings, checks at the door."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from seoga.contracts.embedding import Passage, PassageVectors
from seoga.errors import EmbeddingFailed, ProviderFault
from seoga_embedding.provider import ModelRow, Provider, Vector
from seoga_embedding.split import clean, plain, shorten, windows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Result = PassageVectors | EmbeddingFailed


@dataclass(slots=True)
class Embedded:
    """Vectors of some texts: (n, d) float32, `errors` by index of the text (its row means nothing),
    and the tokens that the provider counted for each (0: it does not say)."""

    vectors: Vector
    tokens: list[int]
    errors: dict[int, EmbeddingFailed] = field(default_factory=dict)


def texts_of(passage: Passage, row: ModelRow) -> list[tuple[str, float]]:
    """(text, penalty) of every vector that this passage gets; empty when there is nothing to embed.

    A passage that is markup only is embedded as it stands, and an empty one by its heading.
    """
    raw = passage.context + "\n" + passage.text if passage.context else passage.text
    pieces = windows(plain(raw), row.window) or windows(clean(raw).strip(), row.window)[:1]
    heading = " ".join(plain(passage.heading).split())
    if short := shorten(heading, row.heading_chars):
        # A window out of its context says too little: with the heading, English claims find their
        # abstracts 12 % better (the README has the numbers).
        pieces = [f"{short}: {piece}" for piece in pieces] or [heading]
    out = [(piece, 0.0) for piece in pieces]
    if heading and row.heading_penalty is not None:
        out += [(piece, row.heading_penalty) for piece in windows(heading, row.window)[:1]]
    return out


def embed_all(provider: Provider, row: ModelRow, passages: Sequence[Passage]) -> list[Result]:
    """`embed_with` a model of this process."""

    def embed(texts: Sequence[str]) -> Embedded:
        return Embedded(provider.embed(texts, "document"), [0] * len(texts))

    return embed_with(embed, row, row.dimension, passages)


def embed_with(
    embed: Callable[[Sequence[str]], Embedded],
    row: ModelRow,
    dimension: int,
    passages: Sequence[Passage],
) -> list[Result]:
    """One result a passage, in order; equal windows are embedded once.

    Raises EmbeddingFailed when the provider as a whole failed.
    """
    plans = [texts_of(passage, row) for passage in passages]
    # Headings and boilerplate repeat; sorted by length, the provider's batches are even.
    unique = sorted(
        {text for plan in plans for text, _ in plan}, key=lambda text: (len(text), text)
    )
    where = {text: at for at, text in enumerate(unique)}
    if not unique:
        return [_nothing() for _ in plans]
    done = embed([row.document_prefix + text for text in unique])
    vectors, good = checked(done.vectors, len(unique), dimension)
    done.vectors = vectors
    return [_result(plan, where, done, good) for plan in plans]


def _result(
    plan: list[tuple[str, float]],
    where: dict[str, int],
    done: Embedded,
    good: NDArray[np.bool_],
) -> Result:
    import numpy as np

    if not plan:
        return _nothing()
    rows = [where[text] for text, _ in plan]
    if told := next((done.errors[at] for at in rows if at in done.errors), None):
        return told
    if not good[rows].all():
        return EmbeddingFailed(
            "The model gave a vector that is empty or not finite.", fault=ProviderFault.BAD_OUTPUT
        )
    penalties = np.array([penalty for _, penalty in plan], np.float32)
    return PassageVectors(done.vectors[rows], penalties, sum(done.tokens[at] for at in rows))


def _nothing() -> EmbeddingFailed:
    return EmbeddingFailed("The passage holds nothing to embed.", fault=ProviderFault.BAD_OUTPUT)


def checked(raw: Vector, count: int, dimension: int) -> tuple[Vector, NDArray[np.bool_]]:
    """(n, d) float32 of unit length, and which rows are usable (finite, not zero).

    Raises EmbeddingFailed (bad_output) when count or dimension are not what was asked for.
    """
    import numpy as np

    if raw.shape != (count, dimension):
        raise EmbeddingFailed(
            f"The model gave vectors of shape {raw.shape}; asked for ({count}, {dimension}).",
            fault=ProviderFault.BAD_OUTPUT,
        )
    vectors = np.asarray(raw, np.float32)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    good = np.isfinite(norms[:, 0]) & (norms[:, 0] > 1e-6)
    norms[~good] = 1.0
    unit: Vector = vectors / norms
    return unit, good
