"""One owner at a time; a late one writes nothing."""

from __future__ import annotations

import time
from pathlib import Path
from queue import Queue

import pytest

from seoga.errors import Busy, LeaseLost
from seoga.storage.database import connect, open_writer, transaction
from seoga.storage.documents import DocumentStore
from seoga.storage.leases import WRITER, Lease, holder

from .stored import count, database, prepared

HOUR = 3600 * 1_000_000_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = database(tmp_path)
    open_writer(path).close()
    return path


def set_clock(path: Path, heartbeat_ns: int, expires_ns: int) -> None:
    conn = connect(path)
    with transaction(conn):
        conn.execute(
            "UPDATE leases SET heartbeat_ns = ?, expires_ns = ?", (heartbeat_ns, expires_ns)
        )
    conn.close()


def expire(path: Path) -> None:
    set_clock(path, 0, 1)


def test_a_second_owner_is_refused_until_the_first_releases(path: Path) -> None:
    with Lease.acquire(path) as first:
        with pytest.raises(Busy, match=r"in use by pid \d+ on ") as caught:
            Lease.acquire(path)
        assert caught.value.exit_code == 3
    with Lease.acquire(path) as second:
        assert second.token > first.token


def test_leases_of_different_names_do_not_meet(path: Path) -> None:
    with Lease.acquire(path, "one"), Lease.acquire(path, "two"):
        pass


def test_the_token_grows_with_every_owner(path: Path) -> None:
    tokens = []
    for _ in range(3):
        with Lease.acquire(path) as lease:
            tokens.append(lease.token)
    assert tokens == sorted(set(tokens))


def test_an_owner_whose_lease_was_taken_can_write_nothing(path: Path) -> None:
    conn = open_writer(path)
    late = Lease.acquire(path)
    store = DocumentStore(conn, late)
    store.commit_text([prepared("a.md", "alpha")])
    expire(path)
    with Lease.acquire(path):
        with pytest.raises(LeaseLost):
            store.commit_text([prepared("b.md", "beta")])
        assert late.lost
        assert count(conn, "files") == 1
        late.release()
        # A late release must not free the lease of the new owner.
        with pytest.raises(Busy):
            Lease.acquire(path)
    conn.close()


def test_an_expired_lease_that_nobody_took_still_writes(path: Path) -> None:
    conn = open_writer(path)
    with Lease.acquire(path) as lease:
        expire(path)
        DocumentStore(conn, lease).commit_text([prepared("a.md", "alpha")])
        assert lease.renew()
        assert holder(conn, WRITER) is not None
    conn.close()


def test_a_heartbeat_renews_and_notices_another_owner(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beats: Queue[bool] = Queue()
    renew = Lease.renew

    def told(lease: Lease) -> bool:
        ours = renew(lease)
        beats.put(ours)
        return ours

    monkeypatch.setattr(Lease, "renew", told)
    lease = Lease.acquire(path, seconds=0.3)
    conn = open_writer(path)
    read = "SELECT heartbeat_ns FROM leases"
    first = conn.execute(read).fetchone()
    # One may have come before the first look.
    assert [beats.get(timeout=10) for _ in range(2)] == [True, True]
    assert conn.execute(read).fetchone() > first
    with transaction(conn):
        conn.execute("UPDATE leases SET token = token + 1")
    # One may have been written before the other owner came.
    assert any(not beats.get(timeout=10) for _ in range(3))
    assert lease.lost
    lease.release()
    conn.close()


@pytest.mark.parametrize(("shift", "held"), [(0, True), (-HOUR, False), (HOUR, False)])
def test_a_lease_is_free_when_its_time_is_over_or_its_clock_was_ahead(
    path: Path, shift: int, held: bool
) -> None:
    conn = open_writer(path)
    with Lease.acquire(path):
        now = time.time_ns() + shift
        set_clock(path, now, now + 30_000_000_000)
        assert (holder(conn, WRITER) is not None) is held
    conn.close()


def test_holder_names_the_owner_and_how_long_ago_it_was_seen(path: Path) -> None:
    conn = open_writer(path)
    assert holder(conn, WRITER) is None
    with Lease.acquire(path) as lease:
        info = holder(conn, WRITER)
        assert info is not None
        assert info.token == lease.token
        assert 0 <= info.age_s < 10
    assert holder(conn, WRITER) is None
    conn.close()
