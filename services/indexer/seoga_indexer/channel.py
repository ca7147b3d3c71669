"""What the threads of a run pass work through: bounded, so that no stage outruns the memory."""

from __future__ import annotations

import threading
from collections import deque
from typing import Generic, TypeVar

T = TypeVar("T")


class Stopped(Exception):
    """The run is over; the thread that meets this just ends."""


class Stop(threading.Event):
    """Set when the run is over: whoever waits at a channel or a tally of it goes on at once."""

    def __init__(self) -> None:
        super().__init__()
        self._waits: list[threading.Condition] = []

    def condition(self, lock: threading.Lock | None = None) -> threading.Condition:
        """One that is told when the run is over."""
        made = threading.Condition(lock)
        self._waits.append(made)
        return made

    def set(self) -> None:
        """The run is over."""
        super().set()
        for condition in self._waits:
            with condition:
                condition.notify_all()


class Channel(Generic[T]):
    """A bounded queue whose waits end with Stopped once `stop` is set."""

    def __init__(self, size: int, stop: Stop) -> None:
        self._values: deque[T] = deque()
        self._size, self._stop = size, stop
        lock = threading.Lock()
        self._filled, self._freed = stop.condition(lock), stop.condition(lock)

    def put(self, value: T) -> None:
        """Waits for room."""
        with self._freed:
            self._freed.wait_for(lambda: len(self._values) < self._size or self._stop.is_set())
            if self._stop.is_set():
                raise Stopped
            self._values.append(value)
            self._filled.notify()

    def get(self) -> T:
        """Waits for a value."""
        with self._filled:
            self._filled.wait_for(lambda: self._values or self._stop.is_set())
            if self._stop.is_set():
                raise Stopped
            return self._taken()

    def poll(self, seconds: float) -> T | None:
        """The next value, or None when none came within so many seconds."""
        with self._filled:
            self._filled.wait_for(lambda: self._values, max(0.0, seconds))
            return self._taken() if self._values else None

    def _taken(self) -> T:
        value = self._values.popleft()
        self._freed.notify()
        return value


class Tally:
    """How many pieces of work are on their way; `wait` returns when there are none."""

    def __init__(self, stop: Stop) -> None:
        self._open = 0
        self._changed = stop.condition()
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
            self._changed.wait_for(lambda: not self._open or self._stop.is_set())
        if self._stop.is_set():
            raise Stopped
