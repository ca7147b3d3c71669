"""Ctrl-C and SIGTERM during a run: asked once it stops at the next batch, asked twice at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from seoga.cli.output import say

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stop_event() -> Iterator[threading.Event]:
    """An event that the first signal sets; the second raises KeyboardInterrupt."""
    asked = threading.Event()

    def on_signal(_: int, __: FrameType | None) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()
        say("stopping at the next batch; what is done stays")

    before = {number: signal.signal(number, on_signal) for number in _SIGNALS}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
