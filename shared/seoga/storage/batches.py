"""Batches of questions to LLMs in `<base>/embedding.db`: what waits, is under way, has come."""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from seoga.storage.database import transaction
from seoga.storage.embedding import EmbeddingStore, count_failure, forgive


class Question(NamedTuple):
    """What an LLM is to be asked: the three parts of a prompt, and by what its answer is kept."""

    key: str
    prompt: tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Sent:
    """A batch under way; `id` is "" where it is not known whether the provider took it."""

    mark: str
    id: str
    total: int
    sent_at: float


class BatchStore:
    """Beside the answers in the same file. Raises StorageError. An endpoint is a provider,
    address and model in one string."""

    def __init__(self, store: EmbeddingStore) -> None:
        self._store = store

    def add(self, endpoint: str, questions: Sequence[Question]) -> None:
        """Questions for the next batch; one that waits or is under way already is not asked
        twice."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        rows = [(one.key, endpoint, _pack(one.prompt), now) for one in questions]
        with self._store.opened() as conn, transaction(conn):
            conn.executemany(
                "INSERT OR IGNORE INTO batch_requests (key, endpoint, prompt, queued_at)"
                " VALUES (?, ?, ?, ?)",
                rows,
            )
            # An answer that is asked for again must not be taken from before.
            conn.executemany("DELETE FROM contexts WHERE key = ?", [(row[0],) for row in rows])

    def begin(self, endpoint: str, mark: str, most: int) -> list[Question]:
        """Takes at most `most` waiting questions for a batch, before anything is sent."""
        with self._store.opened() as conn, transaction(conn):
            rows = conn.execute(
                "SELECT key, prompt FROM batch_requests WHERE endpoint = ? AND batch = ''"
                " ORDER BY key LIMIT ?",
                (endpoint, most),
            ).fetchall()
            if rows:
                conn.execute(
                    "INSERT INTO batches (mark, endpoint, total, sent_at) VALUES (?, ?, ?, ?)",
                    (mark, endpoint, len(rows), time.time()),
                )
            conn.executemany(
                "UPDATE batch_requests SET batch = ? WHERE key = ?",
                [(mark, row[0]) for row in rows],
            )
        return [Question(key, _unpack(prompt)) for key, prompt in rows]

    def sent(self, mark: str, batch_id: str) -> None:
        """The provider took it under this id."""
        with self._store.opened() as conn, transaction(conn):
            conn.execute("UPDATE batches SET id = ? WHERE mark = ?", (batch_id, mark))

    def open(self, endpoint: str) -> list[Sent]:
        """The batches under way."""
        with self._store.opened() as conn:
            rows = conn.execute(
                "SELECT mark, id, total, sent_at FROM batches WHERE endpoint = ? ORDER BY sent_at",
                (endpoint,),
            ).fetchall()
        return [Sent(*row) for row in rows]

    def keys(self, mark: str) -> set[str]:
        """The questions of a batch that have no answer yet."""
        with self._store.opened() as conn:
            rows = conn.execute("SELECT key FROM batch_requests WHERE batch = ?", (mark,))
            return {row[0] for row in rows.fetchall()}

    def answered(
        self,
        key: str,
        answer: tuple[str, str] | None,
        cost: tuple[int, int, float],
        failed: tuple[str, str] | None = None,
    ) -> None:
        """One answer with what it cost (tokens in and out, US dollars); None: there is none that
        can be read, and a later run asks again. `failed`: fault and reason of the question's own,
        which count."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._store.opened() as conn, transaction(conn):
            conn.execute("DELETE FROM batch_requests WHERE key = ?", (key,))
            conn.execute("INSERT OR REPLACE INTO batch_answers VALUES (?, ?, ?, ?)", (key, *cost))
            if failed is not None:
                count_failure(conn, key, *failed)
            if answer is not None:
                forgive(conn, key)
                conn.execute(
                    "INSERT OR REPLACE INTO contexts VALUES (?, ?, ?, ?)", (key, *answer, now)
                )

    def end(self, mark: str) -> None:
        """The batch is over; questions without an answer wait for the next."""
        with self._store.opened() as conn, transaction(conn):
            conn.execute("UPDATE batch_requests SET batch = '' WHERE batch = ?", (mark,))
            conn.execute("DELETE FROM batches WHERE mark = ?", (mark,))

    def waiting(self, endpoint: str) -> int:
        """Questions without an answer, sent or not."""
        with self._store.opened() as conn:
            row = conn.execute(
                "SELECT count(*) FROM batch_requests WHERE endpoint = ?", (endpoint,)
            ).fetchone()
        return int(row[0])

    def take_cost(self, key: str) -> tuple[int, int, float]:
        """What an answer cost, once: zeros when it was told before."""
        with self._store.opened() as conn, transaction(conn):
            row = conn.execute(
                "DELETE FROM batch_answers WHERE key = ? RETURNING tokens_in, tokens_out, cost",
                (key,),
            ).fetchone()
        return (row[0], row[1], row[2]) if row else (0, 0, 0.0)


def _pack(prompt: tuple[str, str, str]) -> bytes:
    return zlib.compress(json.dumps(prompt, ensure_ascii=False).encode("utf-8", "surrogatepass"), 1)


def _unpack(data: bytes) -> tuple[str, str, str]:
    system, document, passage = json.loads(zlib.decompress(data).decode("utf-8", "surrogatepass"))
    return system, document, passage
