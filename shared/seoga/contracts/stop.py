"""Whether the one who asks still wants the answer: kept beside the call, as its deadline is."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import TypeVar

from seoga.errors import Cancelled

T = TypeVar("T")

_LOOK_S = 0.1

_stop: ContextVar[threading.Event | None] = ContextVar("stop", default=None)


@contextmanager
def until(stop: threading.Event) -> Iterator[None]:
    """Once `stop` is set, calls made in this block by this thread ask nobody anything new."""
    token = _stop.set(stop)
    try:
        yield
    finally:
        _stop.reset(token)


def stopped() -> bool:
    """Whether nothing new may be asked for by this thread; False where nobody can stop it."""
    found = _stop.get()
    return found is not None and found.is_set()


def stoppable() -> bool:
    """Whether somebody may stop what this thread does."""
    return _stop.get() is not None


def unless_stopped(call: Callable[[], T]) -> T:
    """What `call` returns or raises. Raises Cancelled once the stop is set: a call that is under
    way is left to end by itself, in a thread that holds up no end of the process."""
    stop = _stop.get()
    if stop is None:
        return call()
    if stop.is_set():
        raise Cancelled("stopped")
    answer: Future[T] = Future()

    def work() -> None:
        try:
            answer.set_result(call())
        except BaseException as error:  # whoever waits for the answer raises it
            answer.set_exception(error)

    thread = threading.Thread(target=copy_context().run, args=(work,), name="call", daemon=True)
    thread.start()
    while not wait((answer,), _LOOK_S).done:
        if stop.is_set():
            raise Cancelled("stopped")
    return answer.result()
