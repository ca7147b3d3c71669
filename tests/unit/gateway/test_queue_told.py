"""What a tool tells of the queue is what the leases say, and how requests ended."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from seoga.storage.jobs import Queue
from seoga.storage.leases import WORKER, Lease


@pytest.fixture
def queue(base_path: Path) -> Iterator[Queue]:
    with closing(Queue(base_path / "queue.db")) as queue:
        yield queue


def told(ask: Any) -> dict[str, Any]:
    found: dict[str, Any] = ask("get_index_info", kb_id="handbook").structured_content["queue"]
    return found


def test_an_entry_runs_only_as_long_as_its_worker_lives(kb: Any, ask: Any, queue: Queue) -> None:
    queue.enqueue("handbook", "embedding", force=True)
    waiting = told(ask)
    assert (waiting["status"], waiting["position"], waiting["worker"]) == ("queued", 1, "")
    lease = Lease.acquire(queue.path, WORKER)
    assert queue.take(lease) is not None
    running = told(ask)
    assert (running["status"], running["position"], running["scope"]) == ("running", 0, "embedding")
    assert running["force"]
    assert running["worker"]
    lease.release()
    left = told(ask)
    assert (left["status"], left["position"], left["worker"]) == ("queued", 1, "")


def test_how_requests_ended_is_told_newest_first(kb: Any, ask: Any, queue: Queue) -> None:
    with Lease.acquire(queue.path, WORKER) as lease:
        for outcome, error in (("done", ""), ("failed", "no such folder")):
            queue.enqueue("handbook")
            job = queue.take(lease)
            assert job is not None
            queue.finish(job.id, outcome, error=error)
    answer = told(ask)
    assert [one["status"] for one in answer["recent"]] == ["failed", "done"]
    assert (answer["last_status"], answer["last_error"]) == ("failed", "no such folder")


def test_an_entry_that_waits_for_a_busy_knowledge_base_says_so(
    kb: Any, ask: Any, queue: Queue
) -> None:
    with Lease.acquire(queue.path, WORKER) as lease:
        queue.enqueue("handbook")
        job = queue.take(lease)
        assert job is not None
        queue.requeue(job.id, behind=True, error="handbook is in use by another run")
    assert told(ask)["last_error"] == "handbook is in use by another run"
