"""Ctrl-C and SIGTERM during a run: asked once it stops at the next batch, asked twice at once."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from seoga.cli.output import say

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_ONE_WISH_S = 1.0


@contextmanager
def stop_event() -> Iterator[threading.Event]:
    """An event that the first signal sets; a later one raises KeyboardInterrupt.

    One wish can come as two signals: a terminal and a supervisor both send theirs.
    """
    asked = threading.Event()
    first = [0.0]

    def on_signal(_: int, __: FrameType | None) -> None:
        if asked.is_set():
            if time.monotonic() - first[0] < _ONE_WISH_S:
                return
            raise KeyboardInterrupt
        first[0] = time.monotonic()
        asked.set()
        say("stopping at the next batch; what is done stays")

    before = {number: signal.signal(number, on_signal) for number in _SIGNALS}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
