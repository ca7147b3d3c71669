"""One gate a provider: how many calls are in flight, how fast, and when there is no point.

The circuit follows Nygard, "Release It!" (2007): a few failures in a row open it, after a pause
one call tries again, and a success closes it.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from seoga_embedding.remote.faults import CallFailed, NotMade, Trouble

# With these a provider that is down costs four calls, then one every half minute and rarer.
FAILURES: Final = 4
OPEN_S = 30.0
_LONGEST_OPEN_S: Final = 600.0
# A refused key stays refused for the rest of a run, and a corrected one is another key.
REFUSED_S = 300.0
# What a provider may ask to wait within a run; beyond it the run ends, and a later one goes on.
MOST_WAIT_S = 120.0
# Whoever asks a question does not stand in line behind documents.
_URGENT: Final = 4


class Gate:
    """Thread-safe. `calls` counts the calls that were let through."""

    def __init__(self, name: str, in_flight: int, per_minute: int = 0) -> None:
        self.name = name
        self.calls = 0
        self._slots = {
            False: threading.BoundedSemaphore(in_flight),
            True: threading.BoundedSemaphore(_URGENT),
        }
        self._per_minute = per_minute
        self._recent: deque[float] = deque()
        self._lock = threading.Lock()
        self._failures = 0
        self._open_until = 0.0
        self._open_for = OPEN_S
        self._not_before = 0.0
        self._refused: dict[str, tuple[float, CallFailed]] = {}

    @contextmanager
    def turn(self, key: str, *, urgent: bool = False) -> Iterator[None]:
        """One call. Raises CallFailed at once where it would be in vain; what the call raises
        teaches the gate."""
        self._look(key)
        with self._slots[urgent]:
            self._wait(urgent)
            self._look(key, enters=True)
            with self._lock:
                self.calls += 1
            try:
                yield
            except NotMade:
                raise
            except CallFailed as error:
                self._failed(error, key)
                raise
            self._succeeded()

    def _look(self, key: str, *, enters: bool = False) -> None:
        now = time.monotonic()
        with self._lock:
            until, refusal = self._refused.get(key, (0.0, None))
            if refusal is not None and now < until:
                raise NotMade(refusal.trouble, refusal.message, refusal.hint)
            if self._open_until > now:
                raise NotMade(
                    Trouble.OUTAGE,
                    f"failed {self._failures} times in a row and is left alone for"
                    f" {self._open_until - now:.0f} s",
                )
            if self._open_until and enters:
                # Half open: this caller tries, the others still meet a closed door.
                self._open_until = now + self._open_for

    def _wait(self, urgent: bool) -> None:
        while (pause := self._pause(urgent)) > 0:
            threading.Event().wait(pause)

    def _pause(self, urgent: bool) -> float:
        """Seconds to wait before the next call; 0 takes a place in this minute."""
        now = time.monotonic()
        with self._lock:
            if urgent:
                return 0.0
            if self._not_before > now:
                return within(self._not_before - now)
            if not self._per_minute:
                return 0.0
            while self._recent and now - self._recent[0] >= 60.0:
                self._recent.popleft()
            if len(self._recent) >= self._per_minute:
                return 60.0 - (now - self._recent[0])
            self._recent.append(now)
            return 0.0

    def _succeeded(self) -> None:
        with self._lock:
            self._failures, self._open_until, self._open_for = 0, 0.0, OPEN_S

    def _failed(self, error: CallFailed, key: str) -> None:
        now = time.monotonic()
        with self._lock:
            if error.trouble in (Trouble.AUTH, Trouble.QUOTA):
                self._refused[key] = (now + REFUSED_S, error)
            if error.trouble is Trouble.RATE and error.wait_s:
                self._not_before = max(self._not_before, now + error.wait_s)
            if error.trouble is not Trouble.OUTAGE:
                # It answered: whatever it said, it is there.
                if error.trouble is not Trouble.RATE:
                    self._failures, self._open_until, self._open_for = 0, 0.0, OPEN_S
                return
            self._failures += 1
            if self._failures >= FAILURES:
                self._open_until = now + self._open_for
                self._open_for = min(2 * self._open_for, _LONGEST_OPEN_S)


def within(wait_s: float) -> float:
    """The same, if it is worth waiting for. Raises CallFailed."""
    if wait_s > MOST_WAIT_S:
        raise NotMade(
            Trouble.RATE,
            f"asks to wait {wait_s:.0f} s",
            "What is done stays; start the run again later.",
        )
    return wait_s
