"""Where a file of int8 vectors says otherwise than the stored vectors, and which of the two is
right where that can be known."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from seoga.storage import sketchfile
from seoga.storage.matrixfile import database_path, gone, mapped, records, state, whole
from seoga.storage.vectors import sealed, sound

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PEAK: Final = 127
# What rounding to int8 takes from a length of one, at the most.
_ROUNDED: Final = 0.1
# More than this share cannot be bits that fell over one by one: the file is of something else.
_FOREIGN: Final = 0.1
_FEW: Final = 100


@dataclass(frozen=True, slots=True)
class Contradictions:
    """Chunks whose records in the file are wrong, and those of which row and record are both whole
    vectors and no checksum says which is the right one."""

    wrong: list[int]
    disputed: list[int]


def contradictions(conn: sqlite3.Connection, generation: int, dimension: int) -> Contradictions:
    """Chunks whose records are not what their stored vectors say, or that have none; nothing where
    there is no file."""
    import numpy as np

    found = state(conn, generation, database_path(conn))
    if found is None:
        return Contradictions([], [])
    if not whole(found, dimension):
        rows = conn.execute("SELECT chunk_id FROM vectors WHERE generation = ?", (generation,))
        return Contradictions([row[0] for row in rows], [])
    held = mapped(found, dimension)
    chunks = np.array(held["chunk"])
    everything = set(chunks.tolist()) if sketchfile.contradicted(found.path, held) else set()
    places = np.flatnonzero(~gone(conn, generation, chunks, 0))
    places = places[np.argsort(chunks[places], kind="stable")]
    chunks = chunks[places]
    wrong: set[int] = set()
    whole_too: set[int] = set()
    at = 0
    for block in records(conn, generation):
        end = int(np.searchsorted(chunks, block["chunk"][-1], "right"))
        beside, at = held[places[at:end]], end
        if beside.tobytes() != block.tobytes():
            for chunk, other in _differing(beside, block):
                wrong.add(chunk)
                if other:
                    whole_too.add(chunk)
    disputed = _unknown(conn, generation, dimension, whole_too)
    if len(disputed) > max(_FEW, _FOREIGN * len(chunks)):
        disputed = set()
    wrong |= everything | set(chunks[at:].tolist())
    return Contradictions(sorted(wrong - disputed), sorted(disputed))


def _differing(held: NDArray[Any], right: NDArray[Any]) -> list[tuple[int, bool]]:
    """The chunks that differ, and whether what is held of each are whole vectors, but others."""

    def spoken(rows: NDArray[Any]) -> set[tuple[int, bytes]]:
        return {(int(row["chunk"]), row.tobytes()) for row in rows}

    chunks = sorted({chunk for chunk, _ in spoken(held) ^ spoken(right)})
    return [
        (chunk, _other_vectors(held[held["chunk"] == chunk], right[right["chunk"] == chunk]))
        for chunk in chunks
    ]


def _other_vectors(held: NDArray[Any], right: NDArray[Any]) -> bool:
    import numpy as np

    if len(held) != len(right):
        return False
    names = ("v", "scale", "penalty")
    if all(held[name].tobytes() == right[name].tobytes() for name in names):
        return False
    numbers = held["v"].astype(np.float32)
    lengths = np.linalg.norm(numbers, axis=1) * held["scale"]
    peaks = np.abs(numbers).max(axis=1)
    # A comparison with NaN is false.
    unit = np.all(np.abs(lengths - 1) < _ROUNDED)
    return bool(unit and np.all(peaks == _PEAK) and np.all(np.isfinite(held["penalty"])))


def _unknown(
    conn: sqlite3.Connection, generation: int, dimension: int, chunks: set[int]
) -> set[int]:
    """Those whose rows are whole, but were written without a checksum."""
    seal = "seal" if sealed(conn) else "NULL"
    row = (
        f"SELECT data, penalties, count, {seal} FROM vectors WHERE generation = ? AND chunk_id = ?"
    )
    found = {chunk: conn.execute(row, (generation, chunk)).fetchone() for chunk in chunks}
    return {
        chunk
        for chunk, (data, penalties, count, written) in found.items()
        if written is None and sound(data, penalties, count, dimension)
    }
