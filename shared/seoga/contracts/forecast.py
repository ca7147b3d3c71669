"""What the embedding service says of work to come: what it would take, and what is under way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BatchReport:
    """How batches of contexts stand: `open` ones at the provider, questions that are `waiting` for
    an answer, and answers `collected` just now."""

    open: int
    waiting: int
    collected: int


@dataclass(frozen=True, slots=True)
class Forecast:
    """What some work would take, told without a call to a provider: `asked` of which of what was
    given (by number; what is answered already is not), tokens in and out, calls, seconds
    (`measured`: from what calls took before), and `price` in US dollars (None: nobody knows).
    `kept`: what was answered before, as (number, context, keywords)."""

    asked: Sequence[int] = ()
    tokens: int = 0
    tokens_out: int = 0
    calls: int = 0
    seconds: float = 0.0
    measured: bool = False
    price: float | None = None
    kept: Sequence[tuple[int, str, str]] = ()
