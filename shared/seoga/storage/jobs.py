"""The durable queue: any process inserts, the holder of the lease "worker" takes (spec. 9)."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from seoga.errors import InvalidArgument
from seoga.models import Job
from seoga.storage.database import snapshot, speaking, transaction
from seoga.storage.leases import WORKER, Lease, holder
from seoga.storage.samefile import HeldOpen

SCOPES = ("embedding", "contextualization", "full")  # each holds the ones before it
Outcome = Literal["done", "failed", "cancelled", "busy"]
# A job that takes its worker down every time must not do so for ever.
MAX_RECOVERIES = 5
_NEXT_TURN = "(SELECT coalesce(max(turn), 0) + 1 FROM jobs)"
_HISTORY = 50
_RECENT = 10

_COLUMNS = "id, kb_id, scope, force, deferred, status, created_at, started_at, ended_at, last_error"


@dataclass(frozen=True, slots=True)
class Enqueued:
    """`status`: queued, already_queued, upgraded, already_running or queued_after_current.
    `position` counts from 1 in the order of work, deferred entries last; 0 is running. `job_id`
    names the entry that will do the work."""

    status: str
    kb_id: str
    position: int
    job_id: int = 0


@dataclass(frozen=True, slots=True)
class QueueState:
    """How a KB stands in the queue: `running` and `queued` entries, `recent` those that ended,
    newest first, `worker` who works."""

    running: Job | None
    queued: Job | None
    position: int | None
    recent: tuple[Job, ...]
    worker: str

    @property
    def last(self) -> Job | None:
        """The newest entry that ended."""
        return self.recent[0] if self.recent else None

    @property
    def status(self) -> str:
        """`running`, `queued`, `deferred` or `idle`."""
        if self.running:
            return "running"
        if self.queued:
            return "deferred" if self.queued.deferred else "queued"
        return "idle"


class Queue:
    """`<base>/queue.db`. Threads may share one object. Raises StorageError where the database
    cannot be used.

    A file that was moved away or replaced meanwhile is left for the one that is there now.
    What was taken under a lease is ended or put back under it: both raise LeaseLost once another
    worker has it, and write nothing.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._held = HeldOpen(path, "queue")
        self._lock = threading.RLock()
        self._taken: dict[int, Lease] = {}

    def enqueue(
        self, kb_id: str, scope: str = "full", *, force: bool = False, deferred: bool = False
    ) -> Enqueued:
        """Adds a request or merges it into what is there. Raises InvalidArgument for an unknown
        scope."""
        _rank(scope)
        with self._write() as conn:
            if holder(conn, WORKER) is None:
                _requeue_orphans(conn)
            running = _one(conn, "status = 'running' AND cancel_requested = 0", kb_id)
            queued = _one(conn, "status = 'queued'", kb_id)
            if queued:
                status = _merge(conn, queued, scope, force, deferred)
            elif running and _covers(running, scope, force):
                return Enqueued("already_running", kb_id, 0, running.id)
            else:
                # A run that was asked to stop will not do this work either.
                busy = _one(conn, "status = 'running'", kb_id)
                status = "queued_after_current" if busy else "queued"
                _insert(conn, kb_id, scope, force, deferred)
            waiting = _one(conn, "status = 'queued'", kb_id)
            return Enqueued(
                status, kb_id, _position(conn, kb_id) or 0, waiting.id if waiting else 0
            )

    def take(self, lease: Lease) -> Job | None:
        """The next entry that is not deferred, now running; None when there is none. Raises
        LeaseLost."""
        with self._write() as conn:
            lease.check(conn)
            row = conn.execute(
                "UPDATE jobs SET status = 'running', started_at = ?, last_error = '' WHERE id = ("
                " SELECT id FROM jobs j WHERE status = 'queued' AND deferred = 0 AND NOT EXISTS"
                " (SELECT 1 FROM jobs r WHERE r.kb_id = j.kb_id AND r.status = 'running')"
                f" ORDER BY turn, id LIMIT 1) RETURNING {_COLUMNS}",
                (_now(),),
            ).fetchone()
            if row:
                self._taken[row[0]] = lease
        return _job(row) if row else None

    def finish(
        self,
        job_id: int,
        outcome: Outcome,
        *,
        result: Mapping[str, Any] | None = None,
        error: str = "",
    ) -> None:
        """Ends a running entry; only `done` counts as done. The entry queued behind it stays."""
        with self._write() as conn:
            self._fence(conn, job_id)
            conn.execute(
                "UPDATE jobs SET status = ?, ended_at = ?, result = ?, last_error = ?,"
                " cancel_requested = 0"
                " WHERE id = ? AND status = 'running'",
                (outcome, _now(), json.dumps(result or {}, ensure_ascii=False), error, job_id),
            )
            conn.execute(
                "DELETE FROM jobs WHERE status NOT IN ('queued', 'running') AND id NOT IN ("
                " SELECT id FROM jobs j WHERE j.kb_id = jobs.kb_id AND status NOT IN ('queued',"
                " 'running')"
                f" ORDER BY ended_at DESC, id DESC LIMIT {_HISTORY})"
                " AND kb_id = (SELECT kb_id FROM jobs WHERE id = ?)",
                (job_id,),
            )

    def requeue(self, job_id: int, *, behind: bool = False, error: str = "") -> None:
        """Puts a running entry back (the worker stops, or the KB is busy): it merges with one
        queued behind it. `behind`: after all that wait now; `error` says why."""
        with self._write() as conn:
            self._fence(conn, job_id)
            row = conn.execute(f"SELECT {_COLUMNS} FROM jobs WHERE id = ?", (job_id,)).fetchone()
            if row and row[5] == "running":
                _put_back(conn, _job(row), behind, error)

    def recover(self, lease: Lease) -> int:
        """Puts back what a dead worker left running; call it after taking the lease. Returns how
        many."""
        with self._write() as conn:
            lease.check(conn)
            return _requeue_orphans(conn)

    def cancel(self, kb_id: str) -> tuple[int, bool]:
        """Ends the entry that waits and asks a running one to stop: (entries ended, whether one is
        asked)."""
        with self._write() as conn:
            if holder(conn, WORKER) is None:
                _requeue_orphans(conn)
            removed = conn.execute(
                "UPDATE jobs SET status = 'cancelled', ended_at = ? WHERE kb_id = ? AND status ="
                " 'queued'",
                (_now(), kb_id),
            ).rowcount
            stopping = conn.execute(
                "UPDATE jobs SET cancel_requested = 1 WHERE kb_id = ? AND status = 'running'",
                (kb_id,),
            ).rowcount
        return removed, bool(stopping)

    def cancel_requested(self, job_id: int) -> bool:
        """True when somebody asked this entry to stop."""
        with self._read() as conn:
            row = conn.execute("SELECT cancel_requested FROM jobs WHERE id = ?", (job_id,))
            return bool((row.fetchone() or (0,))[0])

    def sweep_all(self) -> int:
        """Makes the deferred entries immediate (`--sweep-all`). Returns how many there were."""
        with self._write() as conn:
            return conn.execute(
                "UPDATE jobs SET deferred = 0 WHERE status = 'queued' AND deferred = 1"
            ).rowcount

    def forget(self, kb_id: str) -> None:
        """Drops all entries of a KB that was deleted."""
        with self._write() as conn:
            conn.execute("DELETE FROM jobs WHERE kb_id = ? AND status != 'running'", (kb_id,))

    def waiting(self) -> list[Job]:
        """Running entries, then the queued ones in the order of work, deferred last."""
        with self._read() as conn:
            rows = conn.execute(
                f"SELECT {_COLUMNS} FROM jobs WHERE status IN ('queued', 'running')"
                " ORDER BY status = 'queued', deferred, turn, id"
            )
            return [_job(row) for row in rows.fetchall()]

    def history(self, kb_id: str, limit: int = 20) -> list[Job]:
        """Entries that ended, newest first."""
        with self._read() as conn:
            return _ended(conn, kb_id, limit)

    def outcome(self, kb_id: str, job_id: int) -> Job | None:
        """What came of an entry: itself once it has ended, or the one it was merged into; None
        while the work is still to do."""
        with self._read() as conn, snapshot(conn):
            job = _one(conn, f"id = {int(job_id)}", kb_id) or _one(
                conn, f"status IN ('queued', 'running') AND id > {int(job_id)}", kb_id
            )
            if job is None:
                later = [job for job in _ended(conn, kb_id, _HISTORY) if job.id > job_id]
                return later[-1] if later else None
            return None if job.status in ("queued", "running") else job

    def due(self, name: str, at: datetime) -> bool:
        """Whether the time `at` of a schedule is ours to act on: once, of all processes. The first
        time that a schedule is seen is written down, and not acted on."""
        stamp = at.astimezone(UTC).isoformat(timespec="seconds")
        with self._write() as conn:
            row = conn.execute("SELECT last_at FROM schedules WHERE name = ?", (name,)).fetchone()
            conn.execute(
                "INSERT INTO schedules (name, last_at) VALUES (?, ?)"
                " ON CONFLICT (name) DO UPDATE SET last_at = max(last_at, excluded.last_at)",
                (name, stamp),
            )
            return row is not None and row[0] < stamp

    def state(self, kb_id: str) -> QueueState:
        """How the KB stands. An entry whose worker died counts as queued: it is taken again."""
        with self._read() as conn, snapshot(conn):
            worker = holder(conn, WORKER)
            running = _one(conn, "status = 'running'", kb_id)
            queued = _one(conn, "status = 'queued'", kb_id)
            if worker is None:
                running, queued = None, queued or running
            waits = (_position(conn, kb_id) or 1) if queued else None
            return QueueState(
                running=running,
                queued=queued,
                position=0 if running else waits,
                recent=tuple(_ended(conn, kb_id, _RECENT)),
                worker=worker.owner if worker else "",
            )

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Nobody else changes the queue meanwhile; for moments, as heartbeats wait too."""
        with self._write():
            yield

    def close(self) -> None:
        """Closes the connection."""
        with self._lock:
            self._held.close()

    def _fence(self, conn: sqlite3.Connection, job_id: int) -> None:
        # A worker that slept through its lease must not end the entry that another one runs now.
        if lease := self._taken.pop(job_id, None):
            lease.check(conn)

    @contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
        with self._lock, transaction(self._held.conn) as conn:
            yield conn
            self._held.check()

    @contextmanager
    def _read(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            conn = self._held.conn
            with speaking(conn):
                yield conn


def _rank(scope: str) -> int:
    if scope not in SCOPES:
        raise InvalidArgument(
            f"scope {scope!r} is unknown", f"Allowed are {', '.join(reversed(SCOPES))}."
        )
    return SCOPES.index(scope)


def _covers(running: Job, scope: str, force: bool) -> bool:
    # A forced request asks for more than a run that skips what has not changed.
    return _rank(scope) <= _rank(running.scope) and (running.force or not force)


def _merge(conn: sqlite3.Connection, queued: Job, scope: str, force: bool, deferred: bool) -> str:
    broader = _rank(scope) > _rank(queued.scope)
    conn.execute(
        "UPDATE jobs SET scope = ?, force = ?, deferred = ? WHERE id = ?",
        (
            scope if broader else queued.scope,
            int(queued.force or force),
            int(queued.deferred and deferred),
            queued.id,
        ),
    )
    return "upgraded" if broader else "already_queued"


def _insert(conn: sqlite3.Connection, kb_id: str, scope: str, force: bool, deferred: bool) -> None:
    conn.execute(
        "INSERT INTO jobs (kb_id, scope, force, deferred, created_at, turn)"
        f" VALUES (?, ?, ?, ?, ?, {_NEXT_TURN})",
        (kb_id, scope, int(force), int(deferred), _now()),
    )


def _put_back(conn: sqlite3.Connection, job: Job, behind: bool = False, error: str = "") -> None:
    if queued := _one(conn, "status = 'queued'", job.kb_id):
        _merge(conn, queued, job.scope, job.force, job.deferred)
        conn.execute("DELETE FROM jobs WHERE id = ?", (job.id,))
        return
    conn.execute(
        "UPDATE jobs SET status = 'queued', started_at = '', cancel_requested = 0, last_error = ?,"
        f" turn = {_NEXT_TURN if behind else 'turn'} WHERE id = ?",
        (error, job.id),
    )


def _requeue_orphans(conn: sqlite3.Connection) -> int:
    rows = conn.execute(
        f"SELECT {_COLUMNS}, cancel_requested, result FROM jobs WHERE status = 'running'"
    ).fetchall()
    for *columns, cancelled, result in rows:
        job = _job(tuple(columns))
        times = int(json.loads(result).get("recovered", 0)) + 1
        if cancelled or times > MAX_RECOVERIES:
            error = "" if cancelled else f"its worker died {times} times"
            conn.execute(
                "UPDATE jobs SET status = ?, ended_at = ?, last_error = ?,"
                " cancel_requested = 0 WHERE id = ?",
                ("cancelled" if cancelled else "failed", _now(), error, job.id),
            )
            continue
        conn.execute(
            "UPDATE jobs SET result = ? WHERE id = ?", (json.dumps({"recovered": times}), job.id)
        )
        # What took its worker down more than once lets the others go first.
        _put_back(conn, job, behind=times > 1)
    return len(rows)


def _ended(conn: sqlite3.Connection, kb_id: str, limit: int) -> list[Job]:
    rows = conn.execute(
        f"SELECT {_COLUMNS} FROM jobs WHERE kb_id = ? AND status NOT IN ('queued', 'running')"
        " ORDER BY ended_at DESC, id DESC LIMIT ?",
        (kb_id, limit),
    )
    return [_job(row) for row in rows.fetchall()]


def _position(conn: sqlite3.Connection, kb_id: str) -> int | None:
    rows = conn.execute(
        "SELECT kb_id FROM jobs WHERE status = 'queued' ORDER BY deferred, turn, id"
    ).fetchall()
    waiting = [found for (found,) in rows]
    return waiting.index(kb_id) + 1 if kb_id in waiting else None


def _one(conn: sqlite3.Connection, where: str, kb_id: str) -> Job | None:
    row = conn.execute(
        f"SELECT {_COLUMNS} FROM jobs WHERE kb_id = ? AND {where} ORDER BY id DESC LIMIT 1",
        (kb_id,),
    ).fetchone()
    return _job(row) if row else None


def _job(row: tuple[Any, ...]) -> Job:
    head, flags, tail = row[:3], (bool(row[3]), bool(row[4])), row[5:10]
    return Job(*(*head, *flags, *tail))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
