"""The GPU as it is without loading anything on it: what it lacks, its free memory."""

from __future__ import annotations

import ctypes

# What CTranslate2 opens by name when it first computes on a GPU.
REQUIRED = ("libcublas.so.12",)
MIB = 1024 * 1024


def missing_library() -> OSError | None:
    """What the system says of the first required library that cannot be opened."""
    for name in REQUIRED:
        try:
            ctypes.CDLL(name)
        except OSError as error:
            return error
    return None


class _Memory(ctypes.Structure):
    """`nvmlMemory_t`."""

    _fields_ = (
        ("total", ctypes.c_ulonglong),
        ("free", ctypes.c_ulonglong),
        ("used", ctypes.c_ulonglong),
    )


def free_memory_mb() -> int:
    """MiB that are free on the first GPU, as its driver says; 0 when it does not say."""
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
        if nvml.nvmlInit_v2() != 0:
            return 0
        device = ctypes.c_void_p()
        memory = _Memory()
        found = nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device)) == 0
        told = found and nvml.nvmlDeviceGetMemoryInfo(device, ctypes.byref(memory)) == 0
        nvml.nvmlShutdown()
    except (OSError, AttributeError):
        return 0
    return int(memory.free) // MIB if told else 0
