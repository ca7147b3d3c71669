"""What a parser may use: time, memory, output and archive expansion; set in the child."""

from __future__ import annotations

import contextlib
import resource
import threading
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one file. Sizes in MiB, times in seconds."""

    time_s: float = 300.0
    memory_mb: int = 896
    file_mb: int = 1024
    text_file_mb: int = 64
    output_mb: int = 256
    # A small file that says a thing ten thousand times must not be most of an index. Office files
    # unpack to about ten times their size; below the floor nothing is counted.
    output_ratio: int = 25
    output_floor_mb: int = 2
    sections: int = 300_000
    archive_entries: int = 20_000
    archive_mb: int = 1024
    archive_ratio: int = 400
    audio_hours: int = 24
    # Cores that a parser may keep busy at once: CPU time passes so much faster.
    threads: int = 1
    # Parsers leak and heaps fragment: above this a fresh child follows (about 0.1 s).
    recycle_mb: int = 400

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return asdict(self)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Limits:
        """Inverse of `to_json`."""
        return Limits(**data)


def limit_memory(limits: Limits) -> None:
    """Caps the address space at what is mapped now plus `memory_mb`; no core dumps."""
    cap = _mapped_bytes() + limits.memory_mb * MIB
    # macOS refuses RLIMIT_AS; the limit in time and the parent's watch on RSS are left there.
    with contextlib.suppress(ValueError, OSError):
        _soft(resource.RLIMIT_AS, cap)
    with contextlib.suppress(ValueError, OSError):
        _soft(resource.RLIMIT_DATA, cap)
    _soft(resource.RLIMIT_CORE, 0)


_MEMORY = (resource.RLIMIT_AS, resource.RLIMIT_DATA)
_uncapped = threading.Event()


def uncap_memory() -> None:
    """Takes the caps of `limit_memory` away, for the rest of this process."""
    _uncapped.set()
    for kind in _MEMORY:
        hard = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (hard, hard))


@contextlib.contextmanager
def unlimited_memory() -> Iterator[None]:
    """Lifts the caps for what is no file's doing, such as a model, which does not count then."""
    before = [resource.getrlimit(kind) for kind in _MEMORY]
    start = _mapped_bytes()
    for kind, (_, hard) in zip(_MEMORY, before, strict=True):
        resource.setrlimit(kind, (hard, hard))
    try:
        yield
    finally:
        grown = max(_mapped_bytes() - start, 0)
        for kind, (soft, _) in zip(_MEMORY, before, strict=True):
            if soft != resource.RLIM_INFINITY and not _uncapped.is_set():
                _soft(kind, soft + grown)


def limit_cpu(limits: Limits, more_s: float = 0) -> None:
    """Gives this process `time_s` and `more_s` seconds of CPU from now on, on each of its threads;
    called again before each file.

    The limit counts from the start of the process, and only a soft one can be moved up later.
    """
    usage = resource.getrusage(resource.RUSAGE_SELF)
    seconds = (limits.time_s + more_s) * limits.threads
    _soft(resource.RLIMIT_CPU, int(usage.ru_utime + usage.ru_stime + seconds) + 2)


def _soft(which: int, value: int) -> None:
    hard = resource.getrlimit(which)[1]
    ceiling = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(which, (ceiling, hard))


def resident_mb(pid: int = 0) -> int:
    """MiB that this process, or another one, holds in memory now; 0 for one that is gone. Where
    the system does not tell: the peak of this one."""
    try:
        text = Path(f"/proc/{pid or 'self'}/statm").read_text(encoding="ascii")
    except OSError:
        return 0 if pid else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return int(text.split()[1]) * resource.getpagesize() // MIB


def _mapped_bytes() -> int:
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return 0
    return pages * resource.getpagesize()
