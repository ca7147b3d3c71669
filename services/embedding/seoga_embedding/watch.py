"""Whether a child process still works, or hangs."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass(slots=True)
class Watch:
    """One piece of work of the process `pid`, from now on. It may take `cpu_s` seconds of processor
    time, however long they last on a busy machine, and do nothing at all for `quiet_s`."""

    pid: int
    cpu_s: float
    quiet_s: float
    _begun: float = field(init=False)
    _used: float = field(init=False)
    _moved: float = field(init=False)

    def __post_init__(self) -> None:
        self._begun = self._used = _cpu_seconds(self.pid)
        self._moved = time.monotonic()

    def over(self) -> bool:
        """True where it has had enough time, or does not move."""
        used, now = _cpu_seconds(self.pid), time.monotonic()
        if used > self._used:
            self._used, self._moved = used, now
        return used - self._begun >= self.cpu_s or now - self._moved >= self.quiet_s


def _cpu_seconds(pid: int) -> float:
    """Processor time that a process has used; 0 for one that is gone."""
    import psutil

    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)
