"""Waiting for what other processes do: looked at again when a file of theirs changes, never slept
for."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
from watchfiles import watch

# So often also without a change: what was there before the watch began, and what leaves no trace.
_LOOK_MS = 500


def when(folder: Path, condition: Callable[[], Any], seconds: float = 60) -> None:
    """Returns once `condition` holds; asks when something below `folder` has changed."""
    deadline = time.monotonic() + seconds
    changes = watch(folder, debounce=100, step=10, rust_timeout=_LOOK_MS, yield_on_timeout=True)
    while not condition():
        assert time.monotonic() < deadline, f"it did not happen within {seconds:g} s"
        next(changes)
    changes.close()


def answers(url: str) -> bool:
    """Whether something answers there, and well."""
    try:
        return httpx.get(url, timeout=5).is_success
    except httpx.TransportError:
        return False
