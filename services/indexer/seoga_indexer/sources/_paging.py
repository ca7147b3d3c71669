"""Listings that a server gives in pieces: each piece says where the next begins."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from seoga_indexer.source import SourceUnavailable

MOST_PIECES = 100_000

Json = dict[str, Any]
Step = Mapping[str, Any]
Following = Callable[[Json], Step | None]


def pieces(ask: Callable[[Step], Json], following: Following, what: str) -> Iterator[Json]:
    """The answers of all pieces: `ask` is given where a piece begins (nothing for the first),
    `following` says where the next does, None after the last one. `what` names the listing.

    Raises SourceUnavailable for one that goes on for ever or in a circle.
    """
    step: Step = {}
    seen: set[tuple[tuple[str, Any], ...]] = set()
    for _ in range(MOST_PIECES):
        answer = ask(step)
        yield answer
        after = following(answer)
        if after is None:
            return
        step = after
        mark = tuple(sorted(step.items()))
        if not step or mark in seen:
            break
        seen.add(mark)
    raise SourceUnavailable(f"{what} never ends")
