"""The GPU as it is without loading anything on it: libraries, free memory."""

from __future__ import annotations

import ctypes
import os
from importlib.util import find_spec
from pathlib import Path

# What CTranslate2 opens by name when it first computes on a GPU.
REQUIRED = ("libcublas.so.12",)
MIB = 1024 * 1024


def library_path() -> str:
    """LD_LIBRARY_PATH for a process that shall find the CUDA libraries installed as wheels; "" when
    there are none."""
    from seoga.settings import environment

    spec = find_spec("nvidia")
    roots = [] if spec is None else [Path(root) for root in spec.submodule_search_locations or ()]
    folders = sorted({str(lib.parent) for root in roots for lib in root.glob("*/lib/lib*.so.*")})
    if not folders:
        return ""
    return os.pathsep.join([*folders, environment().get("LD_LIBRARY_PATH", "")]).rstrip(os.pathsep)


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
