"""Files mapped into memory as arrays of records."""

from __future__ import annotations

import mmap
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# madvise(2): all page tables at once. One page at a time is most of the first searches' time, and
# on virtual machines of the later ones too.
_POPULATE_READ: Final = 22


def mapped(path: Path, dtype: np.dtype[Any], count: int, offset: int = 0) -> NDArray[Any]:
    """(count,) records from `offset` bytes on, for reading; what the system holds in memory is
    shared by all processes. Raises OSError, ValueError when the file is missing or short."""
    import numpy as np

    if not count:
        # There is no empty mapping.
        return np.zeros(0, dtype)
    with path.open("rb") as file:
        size = offset + count * dtype.itemsize
        held = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
    if sys.platform == "linux":
        with suppress(OSError):
            held.madvise(_POPULATE_READ)
    return np.frombuffer(held, dtype, count, offset)
