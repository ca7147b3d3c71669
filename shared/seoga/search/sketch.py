"""The first look of a scan: products of a query with the signs of the windows."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from seoga.storage.sketchfile import Sketch

Float32 = NDArray[np.float32]

# The query's numbers are read as one of 16, a bit a plane: the product is then four counts of bits
# (Gao and Long 2024, see `sketchfile`).
_PLANES: Final = 4
# Beyond so many standard deviations of a query's numbers lie few of them.
_WIDE: Final = 3.0
_BLOCK: Final = 65_536


def estimates(sketch: Sketch, query: Float32) -> Float32:
    """(n,) about the product of every window with a (d,) query. Raises ImportError without
    simsimd."""
    import simsimd

    planes, step, offset = _planes(query)
    weights = (step * 2.0 ** np.arange(_PLANES)).astype(np.float32)
    out = np.empty(len(sketch.rows), np.float32)
    for at in range(0, len(out), _BLOCK):
        rows = sketch.rows[at : at + _BLOCK]
        counts = simsimd.cdist(planes, rows["bits"], "hamming", dtype="bin8", out_dtype="f32")
        signed = offset - weights @ np.asarray(counts, np.float32).reshape(_PLANES, -1)
        out[at : at + _BLOCK] = signed * rows["factor"]
    out += np.float32(sketch.mean @ query)
    return out


def _planes(query: Float32) -> tuple[NDArray[np.uint8], float, float]:
    """(_PLANES, d / 8) bits of the levels of a query's numbers, lowest first; what a level is
    worth, and what the levels of all differing bits are taken from."""
    most = (1 << _PLANES) - 1
    top = min(float(np.abs(query).max()), _WIDE * float(np.sqrt(np.mean(query**2))))
    step = 2 * (top or 1.0) / most
    levels = np.clip(np.rint(query / step + most / 2), 0, most).astype(np.uint8)
    bits = [(levels >> plane) & 1 for plane in range(_PLANES)]
    # A number is `step * level - top`: as the levels are symmetric, how many signs are set falls
    # out of the sum, and the counts of differing bits are enough.
    return np.packbits(np.stack(bits), axis=1), step, len(query) * step * most / 2
