"""A worker that dies or sleeps: its entries are taken again, and it can end none of them late."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from seoga.errors import LeaseLost
from seoga.models import Job
from seoga.storage.database import connect, transaction
from seoga.storage.jobs import MAX_RECOVERIES, Queue
from seoga.storage.leases import WORKER, Lease


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[Queue]:
    queue = Queue(tmp_path / "queue.db")
    yield queue
    queue.close()


def kill_worker(queue: Queue) -> None:
    """What the table looks like after a worker was killed and its lease ran out."""
    with closing(connect(queue.path)) as conn, transaction(conn):
        conn.execute("UPDATE leases SET expires_ns = 1")


def take(queue: Queue, lease: Lease) -> Job:
    job = queue.take(lease)
    assert job is not None
    return job


def test_a_killed_worker_leaves_no_entry_running_for_ever(queue: Queue) -> None:
    lease = Lease.acquire(queue.path, WORKER)
    queue.enqueue("kb")
    job = take(queue, lease)
    kill_worker(queue)
    state = queue.state("kb")
    assert (state.status, state.position, state.worker) == ("queued", 1, "")
    assert queue.enqueue("kb").status == "already_queued"
    with Lease.acquire(queue.path, WORKER) as next_lease:
        with pytest.raises(LeaseLost):
            queue.take(lease)
        assert queue.recover(next_lease) == 0
        assert take(queue, next_lease).id == job.id
    lease.release()


def test_a_new_worker_puts_back_what_the_dead_one_had(queue: Queue) -> None:
    for number in range(MAX_RECOVERIES):
        lease = Lease.acquire(queue.path, WORKER)
        assert queue.recover(lease) == (1 if number else 0)
        if not number:
            queue.enqueue("kb")
        take(queue, lease)
        lease.release()
    for expected in (["queued"], ["failed"]):
        with Lease.acquire(queue.path, WORKER) as lease:
            queue.recover(lease)
            jobs = queue.waiting() or queue.history("kb")
            assert [job.status for job in jobs] == expected
            queue.take(lease)
    assert "died" in queue.history("kb")[0].last_error


def test_a_cancelled_entry_of_a_dead_worker_is_cancelled(queue: Queue) -> None:
    with Lease.acquire(queue.path, WORKER) as lease:
        queue.enqueue("kb")
        take(queue, lease)
        queue.cancel("kb")
    with Lease.acquire(queue.path, WORKER) as lease:
        queue.recover(lease)
        assert queue.take(lease) is None
    assert [job.status for job in queue.history("kb")] == ["cancelled"]


def test_what_took_its_worker_down_twice_lets_the_others_go_first(queue: Queue) -> None:
    queue.enqueue("crashes")
    queue.enqueue("waits")
    for expected in ("crashes", "crashes", "waits"):
        lease = Lease.acquire(queue.path, WORKER)
        queue.recover(lease)
        job = take(queue, lease)
        assert job.kb_id == expected
        if expected == "waits":
            queue.finish(job.id, "done")
            assert take(queue, lease).kb_id == "crashes"
        lease.release()


def test_a_worker_that_wakes_late_ends_no_entry_of_its_successor(queue: Queue) -> None:
    late = Lease.acquire(queue.path, WORKER)
    queue.enqueue("kb")
    job = take(queue, late)
    kill_worker(queue)
    successor = Queue(queue.path)
    with Lease.acquire(queue.path, WORKER) as lease:
        successor.recover(lease)
        assert take(successor, lease).id == job.id
        with pytest.raises(LeaseLost):
            queue.finish(job.id, "failed")
        assert queue.state("kb").status == "running"
        successor.finish(job.id, "done")
    assert [one.status for one in queue.history("kb")] == ["done"]
    late.release()
    successor.close()


def test_a_late_worker_puts_nothing_back_either(queue: Queue) -> None:
    late = Lease.acquire(queue.path, WORKER)
    queue.enqueue("kb")
    job = take(queue, late)
    kill_worker(queue)
    with Lease.acquire(queue.path, WORKER):
        with pytest.raises(LeaseLost):
            queue.requeue(job.id)
        assert queue.state("kb").status == "running"
    late.release()
