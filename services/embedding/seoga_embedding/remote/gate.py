"""One gate a provider: how many calls are in flight, how fast, and when there is no point.

The circuit follows Nygard, "Release It!" (2007): a few failures in a row open it, after a pause
one call tries again, and a success closes it. A provider that has not answered yet, or no longer,
gets one call at a time; one that says "too fast" half as many as before, and one more for every
call that passes. Through an open circuit one more call may go, to see whether the provider only
breaks down at what it was asked.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from seoga.contracts.deadline import given, remaining
from seoga.contracts.stop import stoppable, stopped
from seoga_embedding.remote.faults import CallFailed, LeftAlone, NotMade, Trouble

# With these a provider that is down costs four calls, then one every half minute and rarer.
FAILURES: Final = 4
FIRST_PAUSE_S = 0.5
OPEN_S = 30.0
_LONGEST_OPEN_S: Final = 600.0
# A refused key stays refused for the rest of a run, and a corrected one is another key. A
# certificate that is not trusted is as final.
REFUSED_S = 300.0
# What a provider may ask to wait within a run; beyond it the run ends, and a later one goes on.
MOST_WAIT_S = 120.0
# Whoever asks a question does not stand in line behind documents.
URGENT: Final = 4
# Nobody sleeps through a change: whoever leaves wakes those who wait.
_LOOK_S: Final = 5.0
# A stop wakes nobody.
_STOP_LOOK_S: Final = 1.0
_PASSING: Final = (Trouble.OUTAGE, Trouble.RATE)


class Gate:
    """Thread-safe. `calls` counts the calls that were let through, at most `in_flight` at once."""

    def __init__(self, name: str, in_flight: int, per_minute: int = 0) -> None:
        self.name, self.in_flight = name, in_flight
        self.calls = 0
        self._per_minute = per_minute
        self._lock = threading.Lock()
        # Documents and questions wait apart: each place that is free wakes one of those it is for.
        self._line = {urgent: threading.Condition(self._lock) for urgent in (False, True)}
        self._inside = {False: 0, True: 0}
        self._width = 1
        self._known = False
        self._recent: deque[float] = deque()
        self._failures = 0
        self._last_failure = 0.0
        self._trouble = Trouble.OUTAGE
        self._open_until = 0.0
        self._open_for = OPEN_S
        self._not_before = 0.0
        self._refused: dict[str, tuple[float, CallFailed]] = {}
        # Whoever doubts waits for what another finds out.
        self.doubts = threading.Lock()
        self._doubted = False
        self._last_success = 0.0
        self._passed = False

    @property
    def known(self) -> bool:
        """Whether the provider answered when it was last called."""
        return self._known

    def passed_since(self, moment: float) -> bool:
        """Whether a call had an answer after `moment` (of time.monotonic)."""
        return self._last_success > moment

    @contextmanager
    def turn(self, key: str, *, urgent: bool = False, doubting: bool = False) -> Iterator[None]:
        """One call. Raises CallFailed at once where it would be in vain; what the call raises
        teaches the gate. `doubting`: once in an outage it goes though the circuit is open."""
        entered = self._enter(key, urgent, doubting)
        failed = True
        try:
            yield
            failed = False
        except NotMade:
            raise
        except CallFailed as error:
            self._failed(error, key, entered, doubting)
            raise
        else:
            self._succeeded(entered)
        finally:
            with self._lock:
                self._inside[urgent] -= 1
                self._wake(everyone=failed)

    def _enter(self, key: str, urgent: bool, doubting: bool) -> float:
        """Waits for a turn; when it came."""
        with self._lock:
            try:
                now = self._waited(key, urgent, doubting)
            except CallFailed:
                # Whoever was woken for a place and does not take it leaves it to the next.
                self._wake()
                raise
            if self._open_until:
                # Half open: this caller tries, the others still meet a closed door.
                self._open_until = now + self._open_for
                self._doubted = self._doubted or doubting
            if self._per_minute and not urgent:
                self._recent.append(now)
            self._inside[urgent] += 1
            self.calls += 1
            return now

    def _waited(self, key: str, urgent: bool, doubting: bool) -> float:
        """When the way was free."""
        while True:
            if stopped():
                raise NotMade(Trouble.OUTAGE, "is asked no more: the run was stopped")
            now = time.monotonic()
            if not (doubting and self._may_doubt(key)):
                self._look(key, urgent, now)
            pause = self._pause(urgent, now)
            if not pause:
                return now
            left = remaining()
            if left == 0:
                raise NotMade(Trouble.OUTAGE, f"had no turn within {given():g} s")
            look = _STOP_LOOK_S if stoppable() else _LOOK_S
            self._line[urgent].wait(min(pause, look if left is None else min(left, look)))

    def _wake(self, *, everyone: bool = False) -> None:
        """As many as there are places; `everyone` where there may be no point in waiting."""
        for urgent, line in self._line.items():
            if everyone:
                line.notify_all()
            else:
                line.notify(max(0, (URGENT if urgent else self._width) - self._inside[urgent]))

    def _may_doubt(self, key: str) -> bool:
        return self._trouble is Trouble.OUTAGE and not self._doubted and key not in self._refused

    def _look(self, key: str, urgent: bool, now: float) -> None:
        """Raises NotMade where a call would be in vain."""
        until, refusal = self._refused.get(key, (0.0, None))
        if refusal is not None and now < until:
            raise NotMade(refusal.trouble, refusal.message, refusal.hint)
        # Where documents are too fast, a question may still be answered.
        if self._open_until > now and not (urgent and self._trouble is Trouble.RATE):
            raise LeftAlone(
                self._trouble,
                f"failed {self._failures} times in a row and is left alone for"
                f" {self._open_until - now:.0f} s",
            )

    def _pause(self, urgent: bool, now: float) -> float:
        """Seconds to wait before looking again; 0 where the way is free."""
        if urgent:
            return _LOOK_S if self._inside[True] >= URGENT else 0.0
        if self._not_before > now:
            return within(self._not_before - now)
        if self._inside[False] >= self._width:
            return _LOOK_S
        if not self._per_minute:
            return 0.0
        while self._recent and now - self._recent[0] >= 60.0:
            self._recent.popleft()
        if len(self._recent) < self._per_minute:
            return 0.0
        return 60.0 - (now - self._recent[0])

    def _succeeded(self, entered: float) -> None:
        with self._lock:
            if self._trouble is Trouble.OUTAGE and entered < self._last_failure:
                # It was under way before the failure: it says nothing of the provider since.
                return
            # One that was told to slow down goes up step by step, another starts as it may.
            self._passed = True
            slowed = self._known and self._width < self.in_flight
            self._answered(self._width + 1 if slowed else self.in_flight)

    def _answered(self, width: int) -> None:
        self._last_success = time.monotonic()
        self._known, self._width, self._doubted = True, width, False
        self._failures, self._open_until, self._open_for = 0, 0.0, OPEN_S

    def _failed(self, error: CallFailed, key: str, entered: float, doubting: bool) -> None:
        now = time.monotonic()
        with self._lock:
            # Where the key was good before, a page may be about what was sent with it.
            final = error.trouble in (Trouble.AUTH, Trouble.QUOTA, Trouble.TLS)
            if final and not (error.page and self._passed):
                self._refused[key] = (now + REFUSED_S, error)
            if error.trouble not in _PASSING:
                # It answered: whatever it said, it is there. What it says to all of them (no such
                # model) costs one call where it is the first.
                self._answered(self._width)
                return
            if doubting and error.trouble is Trouble.RATE and self._trouble is Trouble.OUTAGE:
                # "Too fast" is an answer to whoever wondered whether there is one.
                self._failures, self._open_until = 0, 0.0
            if error.trouble is Trouble.RATE and error.wait_s:
                self._not_before = max(self._not_before, now + error.wait_s)
            # Calls that were in flight together fail together: that is one failure.
            if entered >= self._last_failure:
                self._count(error.trouble, now)

    def _count(self, trouble: Trouble, now: float) -> None:
        self._last_failure, self._trouble = now, trouble
        self._failures += 1
        self._width = max(1, self._width // 2) if trouble is Trouble.RATE else 1
        self._known = self._known and trouble is Trouble.RATE
        if self._failures >= FAILURES:
            self._open_until = now + self._open_for
            self._open_for = min(2 * self._open_for, _LONGEST_OPEN_S)
        else:
            self._not_before = max(self._not_before, now + pause_after(self._failures))


def pause_after(failures: int) -> float:
    """Seconds before the next try after so many failures in a row, with jitter. One failure is
    often of one call: another may show at once that it was."""
    if failures < 2:
        return 0.0
    most = FIRST_PAUSE_S * (1 << (failures - 1))
    return most / 2 + secrets.SystemRandom().uniform(0, most / 2)


def within(wait_s: float) -> float:
    """The same, if it is worth waiting for. Raises CallFailed."""
    if wait_s > MOST_WAIT_S:
        raise NotMade(
            Trouble.RATE,
            f"asks to wait {wait_s:.0f} s",
            "What is done stays; start the run again later.",
        )
    return wait_s
