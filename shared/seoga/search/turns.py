"""How many threads of this process search at once. The interpreter runs one thread at a time, and
each row that SQLite gives is a chance to lose it: on two cores eight searches at once give half the
answers a second that one after the other do."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from seoga.settings import settings

# More than this share one interpreter badly, however many cores there are.
_MOST = 2

_mine = threading.local()


@cache
def _turns() -> threading.BoundedSemaphore:
    cores = (os.cpu_count() or 1) // max(1, settings().workers)
    return threading.BoundedSemaphore(min(_MOST, max(1, cores)))


@contextmanager
def turn() -> Iterator[None]:
    """The block is a search: it waits until few enough others are under way."""
    with _turns():
        _mine.held = True
        try:
            yield
        finally:
            _mine.held = False


@contextmanager
def aside() -> Iterator[None]:
    """The block waits for somebody else (a provider): others search meanwhile."""
    if not getattr(_mine, "held", False):
        yield
        return
    _turns().release()
    try:
        yield
    finally:
        _turns().acquire()
