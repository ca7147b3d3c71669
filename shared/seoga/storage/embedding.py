"""`<base>/embedding.db`: what was learned of models, the answers of LLMs, and what got none."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from seoga.errors import StorageError
from seoga.storage.database import open_reader, open_writer, transaction
from seoga.storage.migrate import schema_version
from seoga.storage.samefile import Identity, identity

if TYPE_CHECKING:
    import sqlite3

FILE: Final = "embedding.db"
# About 200 MB; the ones not used for the longest time go.
MOST_CONTEXTS: Final = 200_000
_TRIM_EVERY: Final = 1000
# The schema that the table of failures came with; a reader may meet an older one.
_WITH_FAILURES: Final = 3


@dataclass(frozen=True, slots=True)
class Profile:
    """What is known of one length of texts: texts a batch, mean milliseconds a text of full batches
    of that size, how many were seen, the size that is known to be too large (0: none), and the mean
    of the size before."""

    size: int
    ms: float = 0.0
    samples: int = 0
    ceiling: int = 0
    before_ms: float = 0.0


class Failure(NamedTuple):
    """A passage that got no context for its own sake: how often, and the last fault and reason."""

    tries: int
    fault: str
    reason: str


class EmbeddingStore:
    """Opens at its first use. Thread-safe. Raises StorageError; nothing in it is irreplaceable.
    `read_only`: knows nothing where there is no file yet, and makes none."""

    def __init__(self, base: Path, *, read_only: bool = False) -> None:
        self._path = base / FILE
        self._read_only = read_only
        self._conn: sqlite3.Connection | None = None
        self._file: Identity | None = None
        self._lock = threading.Lock()
        self._written = 0

    @contextmanager
    def opened(self) -> Iterator[sqlite3.Connection]:
        """The connection, for one thread at a time."""
        with self._lock:
            if self._conn is not None and identity(self._path) != self._file:
                # It was moved or replaced: what is kept in the old one is lost with this process.
                self._conn.close()
                self._conn = None
            if self._conn is None:
                try:
                    opener = open_reader if self._read_only else open_writer
                    self._conn = opener(self._path, "embedding")
                except OSError as error:
                    raise StorageError(f"{self._path}: {error.strerror or error}") from error
                self._file = identity(self._path)
            yield self._conn

    def _nothing(self) -> bool:
        return self._read_only and not self._path.exists()

    def profiles(self, model: str) -> dict[int, Profile]:
        """The profiles of a model by bucket."""
        if self._nothing():
            return {}
        with self.opened() as conn:
            rows = conn.execute(
                "SELECT bucket, size, mean_ms, samples, ceiling, before_ms"
                " FROM embedding_profiles WHERE model = ?",
                (model,),
            ).fetchall()
        return {bucket: Profile(*rest) for bucket, *rest in rows}

    def save_profile(self, model: str, bucket: int, profile: Profile) -> None:
        """Keeps one in place of what was known."""
        values = (profile.size, profile.ms, profile.samples, profile.ceiling, profile.before_ms)
        with self.opened() as conn, transaction(conn):
            conn.execute(
                "INSERT OR REPLACE INTO embedding_profiles VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (model, bucket, *values, _now()),
            )

    def dimension(self, model: str) -> int:
        """The size of a model's vectors as it was found; 0: nobody asked yet."""
        with self.opened() as conn:
            row = conn.execute(
                "SELECT dimension FROM dimensions WHERE model = ?", (model,)
            ).fetchone()
        return int(row[0]) if row else 0

    def save_dimension(self, model: str, dimension: int) -> None:
        """Keeps one in place of what was known; 0: it is to be asked again."""
        with self.opened() as conn, transaction(conn):
            conn.execute("INSERT OR REPLACE INTO dimensions VALUES (?, ?)", (model, dimension))

    def context(self, key: str) -> tuple[str, str] | None:
        """Context and keywords that were answered before; None where nothing was."""
        if self._nothing():
            return None
        with self.opened() as conn:
            row = conn.execute(
                "SELECT context, keywords FROM contexts WHERE key = ?", (key,)
            ).fetchone()
        return (row[0], row[1]) if row else None

    def save_context(self, key: str, context: str, keywords: str) -> None:
        """Keeps an answer."""
        with self.opened() as conn, transaction(conn):
            conn.execute(
                "INSERT OR REPLACE INTO contexts VALUES (?, ?, ?, ?)",
                (key, context, keywords, _now()),
            )
            forgive(conn, key)
            self._trim(conn, "contexts")

    def failure(self, key: str) -> Failure | None:
        """How often what would be kept under this key failed for its own sake; None: never."""
        if self._nothing():
            return None
        with self.opened() as conn:
            if self._read_only and schema_version(conn) < _WITH_FAILURES:
                return None
            row = conn.execute(
                "SELECT tries, fault, reason FROM context_failures WHERE key = ?", (key,)
            ).fetchone()
        return Failure(*row) if row else None

    def save_failure(self, key: str, fault: str, reason: str) -> int:
        """Counts one more; how many they are."""
        with self.opened() as conn, transaction(conn):
            tries = count_failure(conn, key, fault, reason)
            self._trim(conn, "context_failures")
        return tries

    def forgive(self, key: str) -> None:
        """The failures of this key count no more."""
        if self.failure(key) is not None:
            with self.opened() as conn, transaction(conn):
                forgive(conn, key)

    def _trim(self, conn: sqlite3.Connection, table: str) -> None:
        self._written += 1
        if self._written % _TRIM_EVERY == 0:
            conn.execute(
                f"DELETE FROM {table} WHERE key IN (SELECT key FROM {table}"
                " ORDER BY used_at DESC LIMIT -1 OFFSET ?)",
                (MOST_CONTEXTS,),
            )

    def close(self) -> None:
        """Closes the database."""
        with self._lock:
            conn, self._conn = self._conn, None
        if conn is not None:
            conn.close()


def count_failure(conn: sqlite3.Connection, key: str, fault: str, reason: str) -> int:
    """One failure more of this key, in the caller's transaction; how many they are."""
    row = conn.execute(
        "INSERT INTO context_failures VALUES (?, 1, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET"
        " tries = tries + 1, fault = excluded.fault, reason = excluded.reason,"
        " used_at = excluded.used_at RETURNING tries",
        (key, fault, reason, _now()),
    ).fetchone()
    return int(row[0])


def forgive(conn: sqlite3.Connection, key: str) -> None:
    """No failure of this key counts, in the caller's transaction."""
    conn.execute("DELETE FROM context_failures WHERE key = ?", (key,))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
