"""Which model suits a machine: the table, and what is looked at to use it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

MIB = 1024 * 1024
# From the largest down; each row asks for all that it names: cores, and MiB that are free at the
# start, of the GPU or of the machine. On a CPU larger models are slower than the speech itself.
GPU_TABLE = (("large-v3", 8000), ("medium", 5000), ("small", 2500), ("base", 1200), ("tiny", 0))
CPU_TABLE = (("medium", 16, 16000), ("small", 8, 6000), ("base", 2, 2000), ("tiny", 1, 0))
COMPUTE = {"cuda": "float16", "cpu": "int8"}


@dataclass(frozen=True, slots=True)
class Machine:
    """What a model can use: `device` is cuda or cpu, memory is that of the device in MiB."""

    device: str
    memory_mb: int
    cores: int


def suitable(machine: Machine) -> list[str]:
    """The model names that this machine can run, the best first."""
    if machine.device == "cuda":
        return [name for name, memory in GPU_TABLE if machine.memory_mb >= memory]
    return [
        name
        for name, cores, memory in CPU_TABLE
        if machine.cores >= cores and machine.memory_mb >= memory
    ]


def memory_mb() -> int:
    """MiB of memory that this process may count on: free in the machine, or its container."""
    available = _available()
    limit, used = (_number(f"/sys/fs/cgroup/memory.{name}") for name in ("max", "current"))
    if limit:
        # Page cache is counted as used but given back when asked for: half of it is a fair guess.
        available = min(available, max(limit - used // 2, 0))
    return available // MIB


def _available() -> int:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        # Not Linux: enough for a model of the middle.
        return 4096 * MIB
    found = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(found[0]) * 1024 if found else 0


def _number(path: str) -> int:
    try:
        text = Path(path).read_text(encoding="ascii").strip()
    except OSError:
        return 0
    return int(text) if text.isdigit() else 0
