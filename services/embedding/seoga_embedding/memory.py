"""How much memory this process and its children may take: the container's limit, not the host's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from seoga import logs

# Measured peaks of the builtin model (README): a child, and this process with its web server.
CHILD_MB: Final = 210
OURS_MB: Final = 350
_V1: Final = "memory/memory.limit_in_bytes"
_V2: Final = "memory.max"
_USED: Final = (
    ("memory.current", "memory.stat"),
    ("memory/memory.usage_in_bytes", "memory/memory.stat"),
)
# Above this share of the limit batches shrink, before the system ends a process.
_PRESSED: Final = 0.75
_CGROUP: Final = Path("/sys") / "fs" / "cgroup"

log = logs.get("embedding")


def limit_mb(cgroup: Path = _CGROUP) -> int:
    """MiB that may be used: the least of the container's limits (cgroup v2 or v1) and the memory
    of the machine."""
    import psutil

    machine = int(psutil.virtual_memory().total) >> 20
    return min([machine, *_limits(cgroup)])


def _limits(cgroup: Path) -> Iterator[int]:
    for name in (_V2, _V1):
        try:
            text = (cgroup / name).read_text("ascii").strip()
        except (OSError, UnicodeDecodeError):
            continue
        # "max" in version 2, a number near 2**63 in version 1: no limit.
        if text.isdigit() and int(text) < 1 << 60:
            yield int(text) >> 20


def affordable(processes: int, cgroup: Path = _CGROUP) -> int:
    """As many of these child processes as the memory holds, and at least one."""
    limit = limit_mb(cgroup)
    holds = max(1, (limit - OURS_MB) // CHILD_MB)
    if holds < processes:
        log.warning("fewer embedding processes than cores", processes=holds, memory_mb=limit)
    return min(processes, holds)


def used_mb(cgroup: Path = _CGROUP) -> int:
    """MiB in use of what `limit_mb` says: of the container where it has a limit, without the pages
    of files that the system can take back, else of the machine."""
    import psutil

    if not any(_limits(cgroup)):
        memory = psutil.virtual_memory()
        return int(memory.total - memory.available) >> 20
    for current, stat in _USED:
        try:
            used = int((cgroup / current).read_text("ascii"))
            facts = dict(line.split() for line in (cgroup / stat).read_text("ascii").splitlines())
        except (OSError, ValueError):
            continue
        cached = facts.get("total_inactive_file", facts.get("inactive_file", "0"))
        return (used - int(cached)) >> 20
    return 0


def pressed(cgroup: Path = _CGROUP) -> bool:
    """Whether more than three quarters of the memory are in use."""
    return used_mb(cgroup) > _PRESSED * limit_mb(cgroup)
