"""Leases: one owner at a time, freed by silence, with a token that fences off late writers.

After Kleppmann, "How to do distributed locking" (2016): a lease alone does not stop an owner that
slept through its expiry; a token that grows with every owner, checked in the transaction that
writes, does.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from seoga.errors import Busy, LeaseLost, StorageError
from seoga.storage.database import connect, speaking, transaction
from seoga.storage.owners import is_dead, new_owner
from seoga.storage.samefile import identity

WRITER = "writer"
WORKER = "worker"
_NS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class LeaseInfo:
    """Who holds a lease; `age_s` is how many seconds ago it was renewed."""

    name: str
    owner: str
    token: int
    age_s: float

    @property
    def told(self) -> str:
        """The owner for a person: pid, host, and when it was last heard of."""
        host, _, pid = self.owner.rpartition(":")[0].rpartition(":")
        who = f"pid {pid} on {host}" if host else self.owner
        return f"{who} (last heard of {self.age_s:.0f} s ago)"


def holder(conn: sqlite3.Connection, name: str) -> LeaseInfo | None:
    """The owner of a lease, or None when it is free: the one truth about who runs."""
    with speaking(conn):
        row = conn.execute(
            "SELECT owner, token, heartbeat_ns, expires_ns FROM leases WHERE name = ?", (name,)
        ).fetchone()
    now = time.time_ns()
    if row is None:
        return None
    owner, token, heartbeat, expires = row
    # A heartbeat from the future was written before the clock went back: it must not hold for
    # hours.
    if expires <= now or heartbeat > now + (expires - heartbeat):
        return None
    if is_dead(owner):
        return None
    return LeaseInfo(name, owner.partition("@")[0], token, max(0.0, (now - heartbeat) / _NS))


class Lease:
    """A held lease. A thread renews it every third of its time, over a connection of its own."""

    def __init__(self, path: Path, name: str, token: int, seconds: float) -> None:
        self.path, self.name, self.token, self.seconds = path, name, token, seconds
        self._file = identity(path)
        self._lost = threading.Event()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @classmethod
    def acquire(
        cls, path: Path, name: str = WRITER, seconds: float = 30.0, named: str = ""
    ) -> Lease:
        """Takes the lease of a database that `open_writer` has prepared; `named` is what people
        call it. Raises Busy when another owner is alive."""
        owner = new_owner()
        with closing(connect(path)) as conn, transaction(conn):
            if other := holder(conn, name):
                raise Busy(
                    f"{named or path.parent.name} is in use by {other.told}",
                    "Wait until that run ends; the lease of a crashed one frees itself within"
                    f" {seconds:.0f} s.",
                )
            now = time.time_ns()
            row = conn.execute(
                "INSERT INTO leases (name, owner, token, heartbeat_ns, expires_ns) VALUES (?, ?,"
                " 1, ?, ?)"
                " ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, token = token + 1,"
                " heartbeat_ns = excluded.heartbeat_ns, expires_ns = excluded.expires_ns RETURNING"
                " token",
                (name, owner, now, now + int(seconds * _NS)),
            ).fetchone()
        lease = cls(path, name, row[0], seconds)
        lease._thread = threading.Thread(
            target=lease._beat, name=f"lease-{name}-{lease.token}", daemon=True
        )
        lease._thread.start()
        return lease

    @property
    def lost(self) -> bool:
        """True once another owner was found, or another database under this name."""
        return self._lost.is_set()

    def check(self, conn: sqlite3.Connection) -> None:
        """Inside a write transaction: raises LeaseLost unless our token is still the one of the
        table.

        A lease that has expired but was taken by nobody is still ours: the write lock keeps others
        from taking it now.
        """
        if self._has_moved():
            raise LeaseLost(
                f"{self.path} was moved or replaced while it was in use",
                "Nothing more is written into the old file; start again with the new one.",
            )
        row = conn.execute("SELECT token FROM leases WHERE name = ?", (self.name,)).fetchone()
        if row is None or row[0] != self.token:
            self._lost.set()
            raise LeaseLost(
                f"the lease on {self.path} was taken by another process",
                "Nothing was written; the other run goes on with the work.",
            )

    def renew(self) -> bool:
        """Moves the expiry ahead; False when another owner has it, or the database is another."""
        if self._has_moved():
            return False
        now = time.time_ns()
        with closing(connect(self.path)) as conn, transaction(conn):
            changed = conn.execute(
                "UPDATE leases SET heartbeat_ns = ?, expires_ns = ? WHERE name = ? AND token = ?",
                (now, now + int(self.seconds * _NS), self.name, self.token),
            ).rowcount
        if not changed:
            self._lost.set()
        return bool(changed)

    def release(self) -> None:
        """Stops renewing and frees the lease, if it is still ours. Safe to call twice."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self._has_moved():
            return
        with closing(connect(self.path)) as conn, transaction(conn):
            conn.execute(
                "UPDATE leases SET expires_ns = 0 WHERE name = ? AND token = ?",
                (self.name, self.token),
            )

    def _has_moved(self) -> bool:
        # Tokens of two databases say nothing of one another.
        if identity(self.path) != self._file:
            self._lost.set()
            return True
        return False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()

    def _beat(self) -> None:
        # Event.wait counts on the monotonic clock: a changed wall clock does not delay a renewal.
        while not self._stop.wait(self.seconds / 3):
            try:
                if not self.renew():
                    return
            except (StorageError, sqlite3.Error):
                # Locked or full for the moment: the next beat tries again, and the token guards
                # what is written.
                continue
