"""One bit a number of every window, in a file beside the int8 vectors: a scan of a large base reads
a seventh of the bytes, and looks at the vectors of what may be among the best.

A record holds the signs of a window less the mean of all, and what makes an estimate of a product
and its error of them: RaBitQ (Gao and Long 2024, "RaBitQ: Quantizing High-Dimensional Vectors with
a Theoretical Error Bound"), without its random rotation. The file follows from that of the vectors
and is kept alike: appended to and synced before the commit that counts the records. Where it is
missing or short, all vectors are scanned until the next run has made it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from seoga.storage import mapping

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Smaller bases are scanned as fast whole.
LEAST: Final = 32_768
# The mean of a base that has grown by this is another one.
_GROWN: Final = 4
_MARK: Final = ".sketch"
_BLOCK: Final = 8192
# Windows that the mean is taken of.
_SAMPLE: Final = 65_536


@dataclass(frozen=True, slots=True)
class Sketch:
    """(d,) float32 `mean` and (n,) `rows` of `record`; the mean is of `made` windows."""

    mean: NDArray[np.float32]
    rows: NDArray[Any]
    made: int


@cache
def record(dimension: int) -> np.dtype[Any]:
    """The signs of a window of `dimension` numbers less the mean, `factor`, which times the product
    of a query with them as 1 and -1 is about that with the window less the mean, and `spread`, the
    standard deviation of the error for a query of unit length."""
    import numpy as np

    return np.dtype([("bits", "u1", (-(-dimension // 8),)), ("factor", "<f4"), ("spread", "<f4")])


def beside(vectors: Path) -> Path:
    """The sketch of a file of vectors."""
    return vectors.with_name(vectors.name + _MARK)


def keep(vectors: Path, rows: NDArray[Any]) -> None:
    """Makes the sketch of a large base's (n,) records (`matrixfile.record`) where it is missing,
    short or outgrown. Raises OSError."""
    if len(rows) < LEAST:
        return
    held = mapped(vectors, len(rows), rows["v"].shape[1])
    if held is None or held.made * _GROWN <= len(rows):
        _write(beside(vectors), rows)


def append(vectors: Path, at: int, rows: NDArray[Any]) -> None:
    """Writes the sketch of records that follow the first `at`, synced; nothing where there is no
    sketch of all of those. Raises OSError."""
    import numpy as np

    dimension = rows["v"].shape[1]
    held = mapped(vectors, at, dimension)
    if held is None:
        return
    with beside(vectors).open("r+b") as file:
        file.seek(_start(dimension) + at * record(dimension).itemsize)
        file.write(np.concatenate(list(_sketched(rows, held.mean))).tobytes())
        file.flush()
        os.fdatasync(file.fileno())


def mapped(vectors: Path, windows: int, dimension: int) -> Sketch | None:
    """The sketch of the first `windows` records, mapped for reading; None without one of all."""
    import numpy as np

    path, start = beside(vectors), _start(dimension)
    try:
        rows = mapping.mapped(path, record(dimension), windows, start)
        with path.open("rb") as file:
            head = file.read(start)
    except (OSError, ValueError):
        return None
    made = int(np.frombuffer(head, "<i8", 1)[0])
    return Sketch(np.frombuffer(head, "<f4", dimension, 8), rows, made)


def contradicted(vectors: Path, rows: NDArray[Any]) -> bool:
    """Whether there is a sketch of all these records that says otherwise than they do."""
    held = mapped(vectors, len(rows), rows["v"].shape[1])
    if held is None:
        return False
    at = 0
    for block in _sketched(rows, held.mean):
        if held.rows[at : at + len(block)].tobytes() != block.tobytes():
            return True
        at += len(block)
    return False


def _start(dimension: int) -> int:
    return -(-(8 + 4 * dimension) // 64) * 64


def _write(path: Path, rows: NDArray[Any]) -> None:
    import numpy as np

    some = rows[:: max(1, len(rows) // _SAMPLE)]
    total = np.zeros(rows["v"].shape[1], np.float64)
    for at in range(0, len(some), _BLOCK):
        total += _floats(some[at : at + _BLOCK]).sum(axis=0, dtype=np.float64)
    mean = np.asarray(total / len(some), np.float32)
    head = np.array([len(rows)], "<i8").tobytes() + mean.tobytes()
    new = path.with_name(path.name + ".new")
    try:
        with new.open("wb") as file:
            file.write(head.ljust(_start(len(mean)), b"\0"))
            for block in _sketched(rows, mean):
                file.write(block.tobytes())
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def _floats(rows: NDArray[Any]) -> NDArray[np.float32]:
    import numpy as np

    out: NDArray[np.float32] = rows["v"].astype(np.float32) * rows["scale"][:, np.newaxis]
    return out


def _sketched(rows: NDArray[Any], mean: NDArray[np.float32]) -> Any:
    """The records of the sketch, in blocks."""
    import numpy as np

    for at in range(0, len(rows), _BLOCK):
        away = _floats(rows[at : at + _BLOCK]) - mean
        total = np.abs(away).sum(axis=1)
        length = np.linalg.norm(away, axis=1)
        # A window that is the mean has no signs, and nothing to be estimated.
        total[total == 0] = 1.0
        block = np.zeros(len(away), record(away.shape[1]))
        block["bits"] = np.packbits(away > 0, axis=1)
        block["factor"] = length**2 / total
        aligned = np.minimum(1.0, total / (np.sqrt(away.shape[1]) * np.maximum(length, 1e-12)))
        lost = np.sqrt(1.0 / aligned**2 - 1.0)
        block["spread"] = length * lost / np.sqrt(max(1, away.shape[1] - 1))
        yield block
