"""Listings that a server gives in pieces: each piece says where the next begins."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from seoga_indexer.source import SourceUnavailable

MOST_PIECES = 100_000
# One after another: what the key may not see can leave gaps.
MOST_EMPTY = 1_000

Json = dict[str, Any]
Step = Mapping[str, Any]
Following = Callable[[Json], Step | None]


def pieces(
    ask: Callable[[Step], Json], following: Following, entries: str, what: str
) -> Iterator[Json]:
    """The answers of all pieces: `ask` is given where a piece begins (nothing for the first),
    `following` says where the next does, None after the last one. Each holds a list called
    `entries`; `what` names the listing.

    Raises SourceUnavailable for one that goes on for ever, in a circle, or with nothing new.
    """
    step: Step = {}
    seen: set[tuple[tuple[str, Any], ...]] = set()
    news = _News(entries)
    for _ in range(MOST_PIECES):
        answer = ask(step)
        goes_on = news.take(answer)
        yield answer
        after = following(answer)
        if after is None:
            return
        if not goes_on:
            raise SourceUnavailable(f"{what} repeats itself: a page brings nothing new")
        step = after
        mark = tuple(sorted(step.items()))
        if not step or mark in seen:
            break
        seen.add(mark)
    raise SourceUnavailable(f"{what} never ends")


class _News:
    """Whether pieces of a listing still bring entries that were not there before."""

    def __init__(self, entries: str) -> None:
        self._entries = entries
        self._seen: set[int] = set()
        self._empty = 0

    def take(self, answer: Json) -> bool:
        """False for a piece that has entries, all of them known, and after too many empty ones."""
        entries = answer.get(self._entries)
        if not isinstance(entries, list) or not entries:
            self._empty += 1
            return self._empty < MOST_EMPTY
        self._empty, before = 0, len(self._seen)
        # Hashes of 8 bytes: a listing may have a million entries.
        self._seen.update(hash(_identity(one)) for one in entries)
        return len(self._seen) > before


def _identity(entry: Any) -> str:
    found = (entry.get("id") or entry.get("key")) if isinstance(entry, dict) else None
    return str(found or entry)
