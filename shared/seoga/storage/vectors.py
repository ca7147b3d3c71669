"""Vectors as BLOBs: float32, little endian, row after row; the database is the truth of them."""

from __future__ import annotations

import sqlite3
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from seoga.errors import StorageError
from seoga.storage.migrate import schema_version

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LITTLE = "<f4"
_UNIT = 1e-3
# The schema that brought checksums.
_SEALED = 10


@dataclass(frozen=True, slots=True)
class VectorBlock:
    """Vectors of many chunks: `chunk_ids` (n,) int64, ascending and repeated for each window of a
    chunk, `vectors` (n, d) float32, `penalties` (n,) float32."""

    chunk_ids: NDArray[np.int64]
    vectors: NDArray[np.float32]
    penalties: NDArray[np.float32]


def pack(array: NDArray[np.float32]) -> bytes:
    """The bytes of a (k, d) or (k,) array."""
    import numpy as np

    return np.ascontiguousarray(array, dtype=_LITTLE).tobytes()


def unpack(data: bytes, count: int) -> NDArray[np.float32]:
    """(count, d) float32, read-only, of what `pack` wrote. Raises StorageError when the length does
    not divide."""
    import numpy as np

    if count < 1 or len(data) % (4 * count):
        raise StorageError(f"a vector row of {len(data)} bytes does not hold {count} vectors")
    return np.frombuffer(data, dtype=_LITTLE).reshape(count, -1)


def seal(chunk_id: int, generation: int, data: bytes, penalties: bytes) -> int:
    """The checksum of a stored row (CRC-32), its keys included: what stands in another row has not
    its checksum."""
    return zlib.crc32(
        penalties, zlib.crc32(data, zlib.crc32(struct.pack("<qq", chunk_id, generation)))
    )


def sealed(conn: sqlite3.Connection) -> bool:
    """Whether the schema has checksums."""
    return schema_version(conn) >= _SEALED


def sound(data: bytes, penalties: bytes, count: int, dimension: int) -> bool:
    """Whether a stored row is `count` finite vectors of unit length with their penalties."""
    import numpy as np

    if count < 1 or len(data) != 4 * count * dimension or len(penalties) != 4 * count:
        return False
    lengths = np.linalg.norm(unpack(data, count), axis=1)
    # A comparison with NaN is false, so what is not finite is not of unit length either.
    unit = np.all(np.abs(lengths - 1) < _UNIT)
    return bool(unit and np.all(np.isfinite(np.frombuffer(penalties, _LITTLE))))


def iter_blocks(
    conn: sqlite3.Connection, generation: int, after: int = 0, rows: int = 8192
) -> Iterator[VectorBlock]:
    """The vectors of a generation, chunk ids above `after`, in blocks of at most `rows` chunks."""
    import numpy as np

    while True:
        found = conn.execute(
            "SELECT chunk_id, count, data, penalties FROM vectors"
            " WHERE generation = ? AND chunk_id > ? ORDER BY chunk_id LIMIT ?",
            (generation, after, rows),
        ).fetchall()
        if not found:
            return
        after = found[-1][0]
        counts = [row[1] for row in found]
        yield VectorBlock(
            np.repeat(np.array([row[0] for row in found], dtype=np.int64), counts),
            unpack(b"".join(row[2] for row in found), sum(counts)),
            np.frombuffer(b"".join(row[3] for row in found), dtype=_LITTLE),
        )
