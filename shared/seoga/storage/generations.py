"""Embedding generations, one model identity each: a new one is built, then swapped for the old.

All functions run inside the caller's write transaction, except the readers `target` and `live`.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from seoga.errors import StorageError
from seoga.models import ChunkState, FileState, ModelCard
from seoga.storage import stored
from seoga.storage.records import ChunkVectors
from seoga.storage.vectors import pack, seal

MAX_ATTEMPTS = 3
_TARGET = "generation"
# See `ModelCard.key`; what a prefix holds is free.
_KEY = re.compile(r"([^|]*)\|([^|]*)\|([^|]*)\|([1-9]\d{0,5})\|(.*)\|([^|]*)", re.DOTALL)
# Of a model that nobody has measured.
_THRESHOLD = 0.35
# States that follow from the chunks; the others are about the file as a whole.
_DERIVED = f"('{FileState.READY}', '{FileState.DEGRADED}', '{FileState.PARTIALLY_DEFERRED}')"
# A file's own reason outlives embedding ("some pages gave no text"); the reason "embedding" comes
# and goes with its chunks.
_STATE = f"""CASE WHEN waiting THEN '{FileState.PARTIALLY_DEFERRED}'
         WHEN failed = total THEN '{FileState.FAILED}'
         WHEN failed OR own THEN '{FileState.DEGRADED}' ELSE '{FileState.READY}' END"""
_TALLY = f"""
    SELECT count(*) AS total,
      coalesce(sum(state = '{ChunkState.PENDING}'), 0) AS waiting,
      coalesce(sum(state = '{ChunkState.FAILED}'), 0) AS failed,
      {{files}}.reason NOT IN ('', 'embedding') AS own
    FROM chunks WHERE file_id = {{files}}.id"""
_REFRESH = f"""
UPDATE files SET (state, stage, reason) = (
  SELECT {_STATE},
    CASE WHEN waiting OR failed THEN 'embed' WHEN own THEN files.stage ELSE 'done' END,
    CASE WHEN own THEN files.reason WHEN failed THEN 'embedding' ELSE '' END
  FROM ({_TALLY.format(files="files")}))
WHERE chunk_count > 0 AND (state IN {_DERIVED} OR stage = 'embed')
"""
_BORROW = f"""
INSERT OR IGNORE INTO vectors (chunk_id, generation, count, data, penalties, seal)
SELECT new.id, v.generation, v.count, v.data, v.penalties,
  CASE WHEN v.seal IS NOT NULL THEN seal(new.id, v.generation, v.data, v.penalties) END
FROM chunks new
JOIN chunks old ON old.words = new.words AND old.id < :first
  AND old.state = '{ChunkState.INDEXED}' AND old.text = new.text
  AND old.heading_path = new.heading_path AND old.header_row = new.header_row
  AND old.context = new.context AND old.keywords = new.keywords
JOIN vectors v ON v.chunk_id = old.id AND v.generation = :wanted
WHERE new.id >= :first
  AND (v.seal IS NULL OR v.seal = seal(old.id, v.generation, v.data, v.penalties))
"""
# A condition on files `f`: their state is not the one that their chunks give.
CONTRADICTED = (
    f"chunk_count > 0 AND state IN {_DERIVED} AND state !="
    f" (SELECT {_STATE} FROM ({_TALLY.format(files='f')}))"
)


def target(conn: sqlite3.Connection) -> int | None:
    """The generation that chunks are embedded for; 0: the KB wants no vectors; None: not decided
    yet."""
    row = conn.execute("SELECT value FROM meta WHERE key = ?", (_TARGET,)).fetchone()
    return stored.number(row[0]) if row else None


def live(conn: sqlite3.Connection) -> tuple[int, ModelCard] | None:
    """The generation that queries use, with the identity of its model; None without one."""
    row = conn.execute("SELECT id, card FROM generations WHERE status = 'live'").fetchone()
    return (row[0], card_of(row[1])) if row else None


def wanted(conn: sqlite3.Connection) -> ModelCard | None:
    """The identity that chunks are embedded for; None where there is none yet, or none wanted."""
    row = conn.execute("SELECT card FROM generations WHERE id = ?", (target(conn) or 0,)).fetchone()
    return card_of(row[0]) if row else None


def card_of(text: str) -> ModelCard:
    """The ModelCard of a stored JSON text; keys that a newer version wrote are ignored."""
    return stored.card(text)


def ensure(conn: sqlite3.Connection, card: ModelCard | None) -> int:
    """Makes the generation of `card` the target; chunks without vectors in it wait from now on.
    None: no vectors are wanted, and those that are there serve no more."""
    wanted = 0 if card is None else _find_or_make(conn, card)
    if target(conn) != wanted:
        conn.execute(
            "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (_TARGET, str(wanted))
        )
        conn.execute(
            "UPDATE generations SET status = 'retired' WHERE status = 'building' AND id != ?",
            (wanted,),
        )
        _drop_files(conn)
        _restate(conn, wanted)
    if wanted:
        swap(conn)
    else:
        conn.execute("UPDATE generations SET status = 'retired' WHERE status != 'retired'")
        _drop_files(conn)
    return wanted


def restart(conn: sqlite3.Connection) -> None:
    """Every chunk waits again (`--partial embedding`); its present vectors serve until the new ones
    come."""
    if target(conn) != 0:
        conn.execute(f"UPDATE chunks SET state = '{ChunkState.PENDING}', attempts = 0")
        conn.execute(_REFRESH)


def borrow(conn: sqlite3.Connection, first: int) -> None:
    """Gives chunks from the id `first` on the vectors of the same words in other chunks."""
    wanted = target(conn)
    if not wanted:
        return
    conn.execute(_BORROW, {"first": first, "wanted": wanted})
    given = conn.execute(
        f"UPDATE chunks SET state = '{ChunkState.INDEXED}' WHERE id >= ? AND EXISTS"
        " (SELECT 1 FROM vectors v WHERE v.chunk_id = chunks.id AND v.generation = ?)"
        " RETURNING id",
        (first, wanted),
    ).fetchall()
    refresh(conn, [row[0] for row in given])


def store(conn: sqlite3.Connection, generation: int, rows: Sequence[ChunkVectors]) -> int:
    """Writes vectors of chunks that still exist and refreshes their files. Returns how many chunks
    there were."""
    row = conn.execute(
        "SELECT card FROM generations WHERE id = ? AND status != 'retired'", (generation,)
    ).fetchone()
    if row is None:
        raise StorageError(f"embedding generation {generation} was replaced by another model")
    dimension = card_of(row[0]).dimension
    if any(item.vectors.ndim != 2 or item.vectors.shape[1] != dimension for item in rows):
        raise StorageError(f"a vector does not have the {dimension} dimensions of its generation")
    existing = [item for item in rows if _exists(conn, item.chunk_id)]
    # Not by REPLACE: that would pass by the trigger which tells the file of int8 vectors.
    conn.executemany(
        "DELETE FROM vectors WHERE generation = ? AND chunk_id = ?",
        [(generation, item.chunk_id) for item in existing],
    )
    conn.executemany(
        "INSERT INTO vectors (chunk_id, generation, count, data, penalties, seal)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        [_row(generation, item) for item in existing],
    )
    conn.executemany(
        "UPDATE chunks SET state = ?, last_error = '' WHERE id = ?",
        [(ChunkState.INDEXED.value, item.chunk_id) for item in existing],
    )
    refresh(conn, [item.chunk_id for item in existing])
    swap(conn)
    return len(existing)


def _row(generation: int, item: ChunkVectors) -> tuple[int, int, int, bytes, bytes, int]:
    data, penalties = pack(item.vectors), pack(item.penalties)
    sealed = seal(item.chunk_id, generation, data, penalties)
    return item.chunk_id, generation, len(item.vectors), data, penalties, sealed


def fail(conn: sqlite3.Connection, errors: Sequence[tuple[int, str]]) -> None:
    """Counts a try of each (chunk id, message); the third makes the chunk Failed."""
    conn.executemany(
        "UPDATE chunks SET attempts = attempts + 1, last_error = ?,"
        " state = CASE WHEN attempts + 1 >= ? THEN ? ELSE state END WHERE id = ?",
        [(text, MAX_ATTEMPTS, ChunkState.FAILED.value, chunk_id) for chunk_id, text in errors],
    )
    refresh(conn, [chunk_id for chunk_id, _ in errors])
    swap(conn)


def refresh(conn: sqlite3.Connection, chunk_ids: Iterable[int]) -> None:
    """Recomputes the state of the files that these chunks belong to."""
    files = {
        row[0]
        for chunk_id in chunk_ids
        for row in conn.execute("SELECT file_id FROM chunks WHERE id = ?", (chunk_id,))
    }
    conn.executemany(f"{_REFRESH} AND id = ?", [(file_id,) for file_id in sorted(files)])


def swap(conn: sqlite3.Connection) -> None:
    """Makes a complete target live, in one step whatever its size; those before it are retired,
    and their vectors go in small steps (`sweep`)."""
    wanted = target(conn)
    row = conn.execute("SELECT status FROM generations WHERE id = ?", (wanted,)).fetchone()
    if row is None or row[0] == "live":
        return
    waiting = conn.execute(
        f"SELECT EXISTS (SELECT 1 FROM chunks WHERE state = '{ChunkState.PENDING}')"
    ).fetchone()[0]
    # A model that gave nothing at all must not take the place of one that serves.
    made = "SELECT EXISTS (SELECT 1 FROM vectors WHERE generation = ?) OR NOT EXISTS"
    useful = conn.execute(f"{made} (SELECT 1 FROM chunks)", (wanted,)).fetchone()[0]
    if useful and not waiting:
        conn.execute("UPDATE generations SET status = 'retired' WHERE id != ?", (wanted,))
        conn.execute("UPDATE generations SET status = 'live' WHERE id = ?", (wanted,))
        _drop_files(conn)


def sweep(conn: sqlite3.Connection, limit: int) -> int:
    """Deletes at most `limit` vectors of retired generations, and those that have none left.
    Returns how many went."""
    retired = "SELECT id FROM generations WHERE status = 'retired'"
    went = conn.execute(
        "DELETE FROM vectors WHERE rowid IN"
        f" (SELECT rowid FROM vectors WHERE generation IN ({retired}) LIMIT ?)",
        (limit,),
    ).rowcount
    if went < limit:
        conn.execute("DELETE FROM generations WHERE status = 'retired'")
    return went


def _drop_files(conn: sqlite3.Connection) -> None:
    """What is retired serves nobody: from now on its file is not written to."""
    conn.execute(
        "DELETE FROM matrices WHERE generation IN"
        " (SELECT id FROM generations WHERE status = 'retired')"
    )


def _exists(conn: sqlite3.Connection, chunk_id: int) -> bool:
    return conn.execute("SELECT 1 FROM chunks WHERE id = ?", (chunk_id,)).fetchone() is not None


def _find_or_make(conn: sqlite3.Connection, card: ModelCard) -> int:
    text = json.dumps(card.to_json(), ensure_ascii=False)
    row = conn.execute("SELECT id FROM generations WHERE key = ?", (card.key,)).fetchone()
    if row:
        # The threshold is no part of the identity and follows the registry.
        conn.execute("UPDATE generations SET card = ? WHERE id = ?", (text, row[0]))
        conn.execute(
            "UPDATE generations SET status = ? WHERE id = ? AND status = 'retired'",
            ("building" if live(conn) else "live", row[0]),
        )
        return int(row[0])
    status = "building" if live(conn) else "live"
    made = conn.execute(
        "INSERT INTO generations (key, card, status, created_at) VALUES (?, ?, ?, ?) RETURNING id",
        (card.key, text, status, datetime.now(UTC).isoformat()),
    ).fetchone()
    return int(made[0])


def _restate(conn: sqlite3.Connection, wanted: int) -> None:
    has = "EXISTS (SELECT 1 FROM vectors v WHERE v.generation = :wanted AND v.chunk_id = chunks.id)"
    conn.execute(
        f"UPDATE chunks SET attempts = 0, last_error = '', state = CASE WHEN :wanted = 0 OR {has}"
        f" THEN '{ChunkState.INDEXED}' ELSE '{ChunkState.PENDING}' END",
        {"wanted": wanted},
    )
    conn.execute(_REFRESH)


def recompute(conn: sqlite3.Connection) -> None:
    """Gives every file the state that its chunks say."""
    conn.execute(_REFRESH)


def forget_target(conn: sqlite3.Connection) -> None:
    """As if no run had ever said which model it wants."""
    conn.execute("DELETE FROM meta WHERE key = ?", (_TARGET,))


def await_one(conn: sqlite3.Connection) -> int:
    """Where no vectors were wanted, chunks wait for those of a model that is not known yet: 0."""
    if target(conn) == 0:
        forget_target(conn)
        restart(conn)
    return 0


def rewrite_card(conn: sqlite3.Connection, generation: int, key: str) -> None:
    """The card of a generation from its key, as far as that tells it; the next run writes the rest
    (the threshold follows the registry). Raises ValueError for what is no key."""
    found = _KEY.fullmatch(key)
    if found is None:
        raise ValueError("no key of a model")
    provider, model, digest, dimension, prefix, pooling = found.groups()
    known = ModelCard(provider, model, digest, int(dimension), prefix, pooling, _THRESHOLD, False)
    conn.execute(
        "UPDATE generations SET card = ? WHERE id = ?",
        (json.dumps(known.to_json(), ensure_ascii=False), generation),
    )
