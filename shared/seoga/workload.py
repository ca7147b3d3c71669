"""How many requests each worker of a service has under way, in memory that all of them share.

Whichever worker is awake first takes a new connection, and with it all that comes over it later:
one of two can have six of eight clients. The numbers let a worker that has more than another give
back a connection, and the idle one is the first to take it.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

# More workers than that are served, and give nothing back.
_PLACES: Final = 256
_NOBODY: Final = -1
# With one request less this worker would still have as many as the other.
_MORE: Final = 2


class Workload:
    """A number for each worker. Made by the process that the workers are forked from."""

    def __init__(self) -> None:
        self._counts = memoryview(mmap.mmap(-1, 8 * _PLACES)).cast("q")
        self._mine: int | None = None
        for place in range(_PLACES):
            self._counts[place] = _NOBODY

    def claim(self) -> int | None:
        """A place for a worker that is about to start; None when all are taken."""
        for place in range(_PLACES):
            if self._counts[place] == _NOBODY:
                self._counts[place] = 0
                return place
        return None

    def release(self, place: int | None) -> None:
        """The worker of this place has ended."""
        if place is not None:
            self._counts[place] = _NOBODY

    def work_at(self, place: int | None) -> None:
        """This process is the worker of this place."""
        self._mine = place

    @contextmanager
    def request(self) -> Iterator[None]:
        """The block is a request under way in this process. One thread at a time."""
        if (mine := self._mine) is None:
            yield
            return
        self._counts[mine] += 1
        try:
            yield
        finally:
            self._counts[mine] -= 1

    @property
    def heavy(self) -> bool:
        """Whether another worker would still have fewer with one request more."""
        if self._mine is None:
            return False
        least = min(count for count in self._counts if count != _NOBODY)
        return self._counts[self._mine] >= least + _MORE


WORKLOAD: Final = Workload()
