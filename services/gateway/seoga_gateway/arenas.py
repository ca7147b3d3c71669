"""How many heaps the C library keeps for the threads of this process."""

from __future__ import annotations

import ctypes

# glibc gives every thread a heap, up to eight a core, and each keeps what the largest search in
# that thread took: at a million passages tens of megabytes.
_MOST = 2
# mallopt(3): M_ARENA_MAX.
_ARENA_MAX = -8


def few_arenas() -> bool:
    """Lets the threads to come share two heaps; False where the C library has no such thing."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, TypeError, AttributeError):
        return False
    return bool(mallopt(_ARENA_MAX, _MOST))
