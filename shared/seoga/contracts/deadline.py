"""How long the one who asks is ready to wait: kept beside the call, so that no port needs a
parameter for it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_deadline: ContextVar[tuple[float, float] | None] = ContextVar("deadline", default=None)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Calls made in this block by this thread end `seconds` from now: a person waits for them."""
    token = _deadline.set((time.monotonic() + seconds, seconds))
    try:
        yield
    finally:
        _deadline.reset(token)


def remaining() -> float | None:
    """Seconds left for a call of this thread, at least 0; None where nobody waits."""
    found = _deadline.get()
    return None if found is None else max(0.0, found[0] - time.monotonic())


def given() -> float:
    """Seconds that the block was given in all; 0 outside of one."""
    found = _deadline.get()
    return found[1] if found else 0.0
