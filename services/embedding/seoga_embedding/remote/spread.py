"""Pieces of one request at work side by side, each request in threads of its own.

A pool that requests share would let those to a slow provider stand before those to a quick one;
how many calls a provider gets at once is its gate's business.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextvars import copy_context
from typing import Generic, TypeVar

Piece = TypeVar("Piece")
Result = TypeVar("Result")


class _Round(Generic[Piece, Result]):
    """The pieces of one request; the first error stops what has not begun."""

    def __init__(self, work: Callable[[Piece], Result], pieces: Sequence[Piece]) -> None:
        self.results: dict[int, Result] = {}
        self.error: BaseException | None = None
        self._work, self._pieces = work, pieces
        self._next = iter(range(len(pieces)))
        self._lock = threading.Lock()

    def run(self) -> None:
        """Takes pieces until there are none."""
        while (at := self._take()) is not None:
            try:
                self.results[at] = self._work(self._pieces[at])
            except BaseException as error:  # whoever waits for the request raises it
                with self._lock:
                    self.error = self.error or error

    def _take(self) -> int | None:
        with self._lock:
            return None if self.error else next(self._next, None)


def spread(
    work: Callable[[Piece], Result], pieces: Sequence[Piece], lanes: int
) -> tuple[list[Result | None], BaseException | None]:
    """What `work` made of each piece, in order, at most `lanes` at once, and the first error.

    Nothing begins after an error; a piece that was not begun, or failed, has None.
    """
    round_ = _Round(work, pieces)
    # Daemons: a provider that hangs must not hold up the end of the process.
    threads = [
        threading.Thread(target=copy_context().run, args=(round_.run,), daemon=True)
        for _ in range(min(lanes, len(pieces)) - 1)
    ]
    for thread in threads:
        thread.start()
    round_.run()
    for thread in threads:
        thread.join()
    return [round_.results.get(at) for at in range(len(pieces))], round_.error
