"""Vectors as int8 in a file beside the database: appended to, mapped into memory by all readers.

A record is one window of a chunk. The database says which file belongs to a generation and how many
of its records count; records are written and synced before the transaction that counts them, so a
crash in between leaves only bytes that nobody reads and the next write replaces. The file is never
cut, and is made again from the stored vectors when it is missing, short or mostly of the past.
All functions that write run under the KB's lease.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from seoga.errors import StorageError
from seoga.storage import mapping, sketchfile
from seoga.storage.generations import card_of
from seoga.storage.vectors import unpack

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LANGUAGES: Final = ("other", "ko", "en")
# The language that ranking goes by: Hangul in the passage decides; else the document's.
LANGUAGE_SQL: Final = (
    "CASE WHEN c.lang = 'ko' THEN 'ko' WHEN f.lang != '' THEN f.lang ELSE c.lang END"
)
_ALIGNED = 64
_HEAD = 25
_BLOCK = 2048
# A file with this share of dead records, and at least so many, is made anew.
_WASTE = 0.25
_FEW = 4096
_SELECT = (
    f"SELECT v.chunk_id, c.file_id, {LANGUAGE_SQL}, v.count, v.data, v.penalties FROM vectors v"
    " JOIN chunks c ON c.id = v.chunk_id JOIN files f ON f.id = c.file_id"
)
_ALL = f"{_SELECT} WHERE v.generation = ? ORDER BY v.chunk_id"
_NEW = (
    f"{_SELECT} JOIN matrix_new n ON n.generation = v.generation AND n.chunk_id = v.chunk_id"
    " WHERE v.generation = ? ORDER BY v.chunk_id"
)


@dataclass(frozen=True, slots=True)
class MatrixState:
    """What the database says of a generation's file: its path, and how many records count."""

    path: Path
    windows: int


@cache
def record(dimension: int) -> np.dtype[Any]:
    """A record of (dimension,) int8 `v`, which times `scale` are the numbers of a window; its
    penalty, chunk and file, and the place of its language in LANGUAGES. Whole cache lines."""
    import numpy as np

    size = -(-(dimension + _HEAD) // _ALIGNED) * _ALIGNED
    fields: list[Any] = [("v", "i1", (dimension,)), ("scale", "<f4"), ("penalty", "<f4")]
    fields += [("chunk", "<i8"), ("file", "<i8"), ("lang", "i1")]
    # A field, not a gap: what lies in gaps is lost in copies.
    fields.append(("rest", "i1", (size - dimension - _HEAD,)))
    return np.dtype(fields)


def quantised(vectors: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """(n, d) int8 and their (n,) scales for (n, d) float32: the largest number of a row is 127."""
    import numpy as np

    # What is not finite is a fault that `doctor` names; here it must only harm nothing.
    vectors = np.nan_to_num(vectors, posinf=0.0, neginf=0.0)
    peak = np.abs(vectors).max(axis=1, keepdims=True)
    peak[peak == 0] = 1.0
    return np.rint(vectors * (127.0 / peak)).astype(np.int8), peak[:, 0] / np.float32(127.0)


def database_path(conn: sqlite3.Connection) -> Path:
    """The file of a connection's main database."""
    return Path(conn.execute("PRAGMA database_list").fetchone()[2])


def state(conn: sqlite3.Connection, generation: int, path: Path) -> MatrixState | None:
    """The file of a generation as this state of the database has it; None: there is none, or the
    schema is older than such files."""
    try:
        row = conn.execute(
            "SELECT name, windows FROM matrices WHERE generation = ?", (generation,)
        ).fetchone()
    except sqlite3.OperationalError as error:
        if "no such table" not in str(error):
            raise
        return None
    return MatrixState(_beside(path, row[0]), row[1]) if row else None


def whole(found: MatrixState, dimension: int) -> bool:
    """Whether the file is there and as long as the database says."""
    try:
        return found.path.stat().st_size >= found.windows * record(dimension).itemsize
    except OSError:
        return False


def mapped(found: MatrixState, dimension: int) -> NDArray[Any]:
    """(windows,) records that count, mapped for reading. Raises OSError, ValueError when the file
    is missing or short."""
    return mapping.mapped(found.path, record(dimension), found.windows)


def records(
    conn: sqlite3.Connection, generation: int, sql: str = _ALL
) -> Iterator[NDArray[np.void]]:
    """The records of a generation's stored vectors, in blocks; rows of a wrong length are left
    out."""
    card = conn.execute("SELECT card FROM generations WHERE id = ?", (generation,)).fetchone()
    size = 4 * card_of(card[0]).dimension
    cursor = conn.execute(sql, (generation,))
    while rows := cursor.fetchmany(_BLOCK):
        right = [row for row in rows if row[3] > 0 and _fits(row, size)]
        if right:
            yield _records(right)


def flush(conn: sqlite3.Connection) -> None:
    """Writes the vectors of this transaction into their files, before it ends. A file that is
    missing or short is given up: the next run makes it anew."""
    new = "SELECT DISTINCT generation FROM matrix_new"
    for (generation,) in conn.execute(new).fetchall():
        _append(conn, generation)
        conn.execute("DELETE FROM matrix_new WHERE generation = ?", (generation,))


def _append(conn: sqlite3.Connection, generation: int) -> None:
    found = state(conn, generation, database_path(conn))
    if found is None:
        return
    windows = found.windows
    try:
        descriptor = os.open(found.path, os.O_WRONLY)
    except FileNotFoundError:
        conn.execute("DELETE FROM matrices WHERE generation = ?", (generation,))
        return
    with _told(found.path), os.fdopen(descriptor, "wb") as file:
        length = os.fstat(file.fileno()).st_size
        for block in records(conn, generation, _NEW):
            if length < windows * block.itemsize:
                conn.execute("DELETE FROM matrices WHERE generation = ?", (generation,))
                return
            file.seek(windows * block.itemsize)
            file.write(block.tobytes())
            sketchfile.append(found.path, windows, block)
            windows += len(block)
            length = windows * block.itemsize
        file.flush()
        os.fdatasync(file.fileno())
    conn.execute("UPDATE matrices SET windows = ? WHERE generation = ?", (windows, generation))


def write_anew(conn: sqlite3.Connection, generation: int, folder_of: Path) -> MatrixState:
    """A new file of all stored vectors of a generation, synced; it counts once `adopt` is
    committed. Streams: memory stays small."""
    path = _beside(folder_of, f"{generation}-{os.urandom(4).hex()}")
    windows = 0
    with _told(path), path.open("xb") as file:
        for block in records(conn, generation):
            file.write(block.tobytes())
            windows += len(block)
        file.flush()
        os.fsync(file.fileno())
    _sync_folder(path.parent)
    return MatrixState(path, windows)


def sketch(found: MatrixState, dimension: int) -> None:
    """Makes the sketch of a large file where it lacks one. Raises StorageError."""
    with _told(found.path):
        sketchfile.keep(found.path, mapped(found, dimension))


def adopt(conn: sqlite3.Connection, generation: int, made: MatrixState) -> None:
    """Makes a new file the one of its generation; inside the write transaction."""
    name = made.path.name.rpartition(_MARK)[2]
    for table in ("matrix_new", "matrix_gone"):
        conn.execute(f"DELETE FROM {table} WHERE generation = ?", (generation,))
    conn.execute(
        "INSERT OR REPLACE INTO matrices (generation, name, windows) VALUES (?, ?, ?)",
        (generation, name, made.windows),
    )


def wasteful(conn: sqlite3.Connection, generation: int) -> bool:
    """Whether so much of a file is of the past that it should be made anew."""
    row = conn.execute(
        "SELECT windows, (SELECT count(*) FROM matrix_gone WHERE generation = m.generation)"
        " FROM matrices m WHERE generation = ?",
        (generation,),
    ).fetchone()
    return row is not None and row[1] >= max(_FEW, _WASTE * row[0])


def gone(
    conn: sqlite3.Connection, generation: int, chunks: NDArray[np.int64], after: int
) -> NDArray[np.bool_]:
    """(n,) which of the records of these (n,) chunks, all that count in their order, went since the
    entry `after` of the list of what is gone."""
    import numpy as np

    out = np.zeros(len(chunks), bool)
    rows = conn.execute(
        "SELECT chunk_id, max(before) FROM matrix_gone WHERE generation = ? AND id > ?"
        " GROUP BY chunk_id ORDER BY chunk_id",
        (generation, after),
    ).fetchall()
    if rows:
        listed = np.array(rows, np.int64)
        places = np.flatnonzero(np.isin(chunks, listed[:, 0]))
        before = listed[np.searchsorted(listed[:, 0], chunks[places]), 1]
        out[places[places < before]] = True
    return out


def forgotten(conn: sqlite3.Connection) -> list[Path]:
    """Files beside the database that no generation has any more."""
    path = database_path(conn)
    kept = {_beside(path, row[0]) for row in conn.execute("SELECT name FROM matrices")}
    kept |= {sketchfile.beside(each) for each in kept}
    found = path.parent.glob(f"{path.name}{_MARK}*")
    return sorted(each for each in found if each not in kept)


_MARK: Final = ".vectors-"


def _beside(path: Path, name: str) -> Path:
    return path.with_name(f"{path.name}{_MARK}{name}")


def _fits(row: tuple[Any, ...], size: int) -> bool:
    count, data, penalties = row[3:]
    return bool(len(data) == size * count and len(penalties) == 4 * count)


def _records(rows: list[tuple[int, int, str, int, bytes, bytes]]) -> NDArray[np.void]:
    import numpy as np

    chunks, files, languages, counts, data, penalties = zip(*rows, strict=True)
    vectors = unpack(b"".join(data), sum(counts))
    out = np.zeros(len(vectors), record(vectors.shape[1]))
    out["v"], out["scale"] = quantised(vectors)
    out["penalty"] = np.nan_to_num(np.frombuffer(b"".join(penalties), "<f4"))
    out["chunk"] = np.repeat(np.array(chunks, np.int64), counts)
    out["file"] = np.repeat(np.array(files, np.int64), counts)
    codes = [LANGUAGES.index(name) if name in LANGUAGES else 0 for name in languages]
    out["lang"] = np.repeat(np.array(codes, np.int8), counts)
    return out


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Says in the words of this product what the disk refuses."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        what = "the disk is full" if full else error.strerror
        hint = "Free space and start again: what was committed stays."
        raise StorageError(f"{path}: {what}", hint) from error


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
