"""What the threads of a run pass work through: bounded, so that no stage outruns the memory."""

from __future__ import annotations

import queue
import threading
from typing import Generic, TypeVar

T = TypeVar("T")
# How long a waiting thread may fail to notice that the run has ended.
_TICK_S = 0.1


class Stopped(Exception):
    """The run is over; the thread that meets this just ends."""


class Channel(Generic[T]):
    """A bounded queue whose waits end with Stopped once `stop` is set."""

    def __init__(self, size: int, stop: threading.Event) -> None:
        self._queue: queue.Queue[T] = queue.Queue(size)
        self._stop = stop

    def put(self, value: T) -> None:
        """Waits for room."""
        while not self._stop.is_set():
            try:
                self._queue.put(value, timeout=_TICK_S)
            except queue.Full:
                continue
            return
        raise Stopped

    def get(self) -> T:
        """Waits for a value."""
        while not self._stop.is_set():
            if (value := self.poll(_TICK_S)) is not None:
                return value
        raise Stopped

    def poll(self, seconds: float) -> T | None:
        """The next value, or None when none came within so many seconds."""
        try:
            return self._queue.get(timeout=seconds) if seconds > 0 else self._queue.get_nowait()
        except queue.Empty:
            return None


class Tally:
    """How many pieces of work are on their way; `wait` returns when there are none."""

    def __init__(self, stop: threading.Event) -> None:
        self._open = 0
        self._changed = threading.Condition()
        self._stop = stop

    def begin(self) -> None:
        """One more piece is on its way."""
        with self._changed:
            self._open += 1

    def end(self) -> None:
        """One piece is done."""
        with self._changed:
            self._open -= 1
            if not self._open:
                self._changed.notify_all()

    def wait(self) -> None:
        """Returns when all pieces are done. Raises Stopped."""
        with self._changed:
            while self._open and not self._stop.is_set():
                self._changed.wait(_TICK_S)
        if self._stop.is_set():
            raise Stopped
