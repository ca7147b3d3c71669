"""Turns at the cores: at most so many recognitions at once, over all parser processes."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_POLL_S = 0.02


class Turns:
    """`count` turns, shared by all processes that name the same file. Thread-safe.

    Byte n of the file is locked while turn n is taken; the system frees it when a process dies.
    Without a file (or where it cannot be opened) the turns are those of this process alone.
    """

    def __init__(self, path: str, count: int) -> None:
        self._count = max(count, 1)
        self._descriptor = _opened(path)
        # Record locks belong to a process: between its threads this set stands in for them.
        self._mine: set[int] = set()
        self._guard = threading.Lock()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Waits for a turn and holds it."""
        number = self._take()
        while number is None:
            time.sleep(_POLL_S)
            number = self._take()
        try:
            yield
        finally:
            self._give(number)

    def _take(self) -> int | None:
        with self._guard:
            for number in range(self._count):
                if number not in self._mine and self._lock(number):
                    self._mine.add(number)
                    return number
        return None

    def _lock(self, number: int) -> bool:
        if self._descriptor is None:
            return True
        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, number)
        except OSError:
            return False
        return True

    def _give(self, number: int) -> None:
        with self._guard:
            self._mine.discard(number)
            if self._descriptor is not None:
                fcntl.lockf(self._descriptor, fcntl.LOCK_UN, 1, number)

    def close(self) -> None:
        """Gives everything back."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _opened(path: str) -> int | None:
    if not path:
        return None
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        return None
