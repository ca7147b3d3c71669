"""Who holds a lease, named so that a process of the same machine and process namespace can see at
once that the owner is dead; everybody else waits for the lease to expire."""

from __future__ import annotations

import os
import socket
import uuid
from functools import cache
from pathlib import Path

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_NAMESPACE = Path("/proc/self/ns/pid")


def new_owner() -> str:
    """`host:pid:random`, and behind an `@` what `is_dead` needs: where the pid counts, and the
    time that the process started (pids are used again)."""
    pid = os.getpid()
    name = f"{socket.gethostname()}:{pid}:{uuid.uuid4().hex[:8]}"
    return f"{name}@{_space()}/{_started(pid)}"


def is_dead(owner: str) -> bool:
    """True only when the owner is known to have ended: never for one of another container or
    machine."""
    name, _, rest = owner.partition("@")
    space, _, started = rest.partition("/")
    parts = name.split(":")
    if not space or space != _space() or len(parts) < 3 or not parts[-2].isdigit():
        return False
    return _started(int(parts[-2])) != started


@cache
def _space() -> str:
    """This boot of the machine and the namespace of our pids; "" where they cannot be told."""
    try:
        boot = _BOOT_ID.read_text(encoding="ascii").strip()
        return f"{boot[:13]}-{_NAMESPACE.stat().st_ino}"
    except OSError:
        return ""


def _started(pid: int) -> str:
    """When a process started, in clock ticks since boot; "" for one that is dead or unreaped."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    # The name in parentheses may hold anything; state is the first field after it, start the 20th.
    fields = text.rpartition(")")[2].split()
    return "" if fields[0] in "ZX" else fields[19]
