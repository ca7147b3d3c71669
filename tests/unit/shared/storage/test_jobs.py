"""The queue merges requests by the rules, loses none and survives its worker."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seoga.errors import InvalidArgument
from seoga.models import Job
from seoga.storage.jobs import SCOPES, Outcome, Queue
from seoga.storage.leases import WORKER, Lease
from seoga.storage.migrate import APPLICATION_ID


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[Queue]:
    queue = Queue(tmp_path / "queue.db")
    yield queue
    queue.close()


@pytest.fixture
def lease(queue: Queue) -> Iterator[Lease]:
    with Lease.acquire(queue.path, WORKER) as lease:
        yield lease


def take(queue: Queue, lease: Lease) -> Job:
    job = queue.take(lease)
    assert job is not None
    return job


FULL, CONTEXT, EMBEDDING = "full", "contextualization", "embedding"


@pytest.mark.parametrize(
    ("waiting", "asked", "status", "scope"),
    [
        (None, FULL, "queued", FULL),
        (None, EMBEDDING, "queued", EMBEDDING),
        (FULL, FULL, "already_queued", FULL),
        (FULL, CONTEXT, "already_queued", FULL),
        (FULL, EMBEDDING, "already_queued", FULL),
        (CONTEXT, EMBEDDING, "already_queued", CONTEXT),
        (CONTEXT, FULL, "upgraded", FULL),
        (EMBEDDING, CONTEXT, "upgraded", CONTEXT),
        (EMBEDDING, FULL, "upgraded", FULL),
    ],
)
def test_a_request_merges_into_the_one_that_waits(
    queue: Queue, waiting: str | None, asked: str, status: str, scope: str
) -> None:
    if waiting:
        queue.enqueue("kb", waiting)
    answer = queue.enqueue("kb", asked)
    assert (answer.status, answer.position) == (status, 1)
    assert [job.scope for job in queue.waiting()] == [scope]


@pytest.mark.parametrize(
    ("running", "asked", "status"),
    [
        (FULL, FULL, "already_running"),
        (FULL, EMBEDDING, "already_running"),
        (CONTEXT, EMBEDDING, "already_running"),
        (EMBEDDING, EMBEDDING, "already_running"),
        (EMBEDDING, CONTEXT, "queued_after_current"),
        (CONTEXT, FULL, "queued_after_current"),
    ],
)
def test_a_request_meets_a_running_one(
    queue: Queue, lease: Lease, running: str, asked: str, status: str
) -> None:
    queue.enqueue("kb", running)
    current = take(queue, lease)
    answer = queue.enqueue("kb", asked)
    assert answer.status == status
    assert answer.position == (0 if status == "already_running" else 1)
    queue.finish(current.id, "done")
    follow_up = queue.take(lease)
    assert (follow_up.scope if follow_up else None) == (
        asked if status == "queued_after_current" else None
    )


def test_force_is_sticky_and_asks_for_more_than_a_run_without_it(
    queue: Queue, lease: Lease
) -> None:
    queue.enqueue("kb", force=True)
    assert queue.enqueue("kb").status == "already_queued"
    assert [job.force for job in queue.waiting()] == [True]
    forced = take(queue, lease)
    assert queue.enqueue("kb", force=True).status == "already_running"
    queue.finish(forced.id, "done")
    queue.enqueue("kb")
    take(queue, lease)
    assert queue.enqueue("kb", force=True).status == "queued_after_current"
    assert queue.enqueue("kb", EMBEDDING).status == "already_queued"


@pytest.mark.parametrize(
    ("first", "second", "deferred"),
    [(True, True, True), (True, False, False), (False, True, False), (False, False, False)],
)
def test_a_merge_may_clear_deferred_and_never_sets_it(
    queue: Queue, first: bool, second: bool, deferred: bool
) -> None:
    queue.enqueue("kb", deferred=first)
    queue.enqueue("kb", deferred=second)
    assert [job.deferred for job in queue.waiting()] == [deferred]


def test_deferred_entries_wait_for_a_sweep(queue: Queue, lease: Lease) -> None:
    queue.enqueue("late", deferred=True)
    assert queue.enqueue("soon").position == 1
    assert queue.state("late").position == 2
    assert queue.state("late").status == "deferred"
    queue.finish(take(queue, lease).id, "done")
    assert queue.take(lease) is None
    assert queue.sweep_all() == 1
    assert take(queue, lease).kb_id == "late"


def test_entries_are_taken_in_order_one_at_a_time_for_a_kb(queue: Queue, lease: Lease) -> None:
    for kb in ("a", "b", "c"):
        queue.enqueue(kb)
    assert [queue.state(kb).position for kb in ("a", "b", "c")] == [1, 2, 3]
    first = take(queue, lease)
    assert (first.kb_id, first.status) == ("a", "running")
    assert queue.state("a").position == 0
    queue.enqueue("a", FULL, force=True)
    assert take(queue, lease).kb_id == "b"
    assert take(queue, lease).kb_id == "c"
    assert queue.take(lease) is None
    queue.finish(first.id, "done")
    assert take(queue, lease).kb_id == "a"


def test_a_failed_entry_keeps_its_error_and_blocks_nobody(queue: Queue, lease: Lease) -> None:
    queue.enqueue("a")
    queue.enqueue("b")
    queue.finish(take(queue, lease).id, "failed", error="no such folder")
    assert take(queue, lease).kb_id == "b"
    last = queue.state("a").last
    assert last is not None
    assert (last.status, last.last_error) == ("failed", "no such folder")
    assert queue.enqueue("a").status == "queued"


@pytest.mark.parametrize("outcome", ["busy", "cancelled", "failed"])
def test_only_done_counts_as_done(queue: Queue, lease: Lease, outcome: Outcome) -> None:
    queue.enqueue("kb")
    queue.finish(take(queue, lease).id, outcome)
    assert [job.status for job in queue.history("kb")] == [outcome]


def test_a_busy_entry_can_go_back_and_merges_with_its_follow_up(queue: Queue, lease: Lease) -> None:
    queue.enqueue("kb", CONTEXT, force=True)
    job = take(queue, lease)
    queue.enqueue("kb", FULL)
    queue.requeue(job.id)
    (merged,) = queue.waiting()
    assert (merged.scope, merged.force, merged.status) == (FULL, True, "queued")
    job = take(queue, lease)
    queue.requeue(job.id)
    assert take(queue, lease).id == job.id


def test_cancel_ends_what_waits_and_asks_what_runs(queue: Queue, lease: Lease) -> None:
    queue.enqueue("kb", EMBEDDING)
    job = take(queue, lease)
    queue.enqueue("kb")
    assert not queue.cancel_requested(job.id)
    assert queue.cancel("kb") == (1, True)
    assert queue.cancel_requested(job.id)
    # The running one will stop, so the same request is new work.
    assert queue.enqueue("kb", EMBEDDING).status == "queued_after_current"
    queue.finish(job.id, "cancelled")
    again = take(queue, lease)
    assert not queue.cancel_requested(again.id)
    assert queue.cancel("other") == (0, False)


def test_an_entry_put_behind_keeps_its_name_and_says_why(queue: Queue, lease: Lease) -> None:
    for kb in ("a", "b"):
        queue.enqueue(kb)
    job = take(queue, lease)
    queue.requeue(job.id, behind=True, error="in use")
    assert [(one.kb_id, one.last_error) for one in queue.waiting()] == [("b", ""), ("a", "in use")]
    assert queue.state("a").position == 2
    assert queue.history("a") == []


def test_the_outcome_of_a_request_is_that_of_the_entry_that_does_its_work(
    queue: Queue, lease: Lease
) -> None:
    first = queue.enqueue("kb", CONTEXT).job_id
    assert queue.enqueue("kb", EMBEDDING).job_id == first
    job = take(queue, lease)
    assert queue.enqueue("kb", EMBEDDING).job_id == first
    behind = queue.enqueue("kb", FULL).job_id
    assert behind > first
    assert queue.outcome("kb", first) is None
    queue.requeue(job.id)
    merged = take(queue, lease)
    assert (merged.id, queue.outcome("kb", first)) == (behind, None)
    queue.finish(merged.id, "failed", error="no")
    for asked in (first, behind):
        outcome = queue.outcome("kb", asked)
        assert outcome is not None
        assert (outcome.status, outcome.last_error) == ("failed", "no")


def test_a_due_time_is_acted_on_once_and_the_first_is_only_noted(queue: Queue) -> None:
    at = datetime(2026, 3, 1, 3, 30, tzinfo=UTC)
    other = Queue(queue.path)
    assert not queue.due("sweep", at)
    assert not queue.due("sweep", at)
    assert queue.due("sweep", at + timedelta(days=1))
    assert not other.due("sweep", at + timedelta(days=1))
    assert not other.due("sweep", at)
    assert other.due("sweep", at + timedelta(days=9))
    other.close()


def test_a_queue_of_the_first_schema_keeps_its_order(tmp_path: Path) -> None:
    path = tmp_path / "queue.db"
    first = files("seoga.storage.migrations") / "queue" / "0001_initial.sql"
    with closing(sqlite3.connect(path)) as conn:
        conn.executescript(first.read_text(encoding="utf-8"))
        conn.execute("PRAGMA user_version = 1")
        conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        for kb in ("b", "a"):
            conn.execute("INSERT INTO jobs (kb_id, created_at) VALUES (?, '')", (kb,))
        conn.commit()
    queue = Queue(path)
    queue.enqueue("c")
    assert [job.kb_id for job in queue.waiting()] == ["b", "a", "c"]
    queue.close()


def test_an_unknown_scope_is_refused_before_anything_is_written(queue: Queue) -> None:
    with pytest.raises(InvalidArgument, match="'embeddings' is unknown"):
        queue.enqueue("kb", "embeddings")
    assert queue.waiting() == []


def test_history_is_bounded(queue: Queue, lease: Lease) -> None:
    for _ in range(60):
        queue.enqueue("kb")
        queue.finish(take(queue, lease).id, "done")
    queue.enqueue("other")
    queue.finish(take(queue, lease).id, "done")
    assert len(queue.history("kb", 1000)) == 50
    queue.forget("kb")
    assert queue.history("kb") == []
    assert len(queue.history("other")) == 1


def test_many_processes_asking_at_once_make_one_entry(queue: Queue) -> None:
    answers: list[str] = []

    def ask() -> None:
        mine = Queue(queue.path)
        answers.append(mine.enqueue("kb").status)
        mine.close()

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == ["already_queued"] * 7 + ["queued"]
    assert len(queue.waiting()) == 1


request = st.tuples(st.sampled_from(SCOPES), st.booleans())


@settings(max_examples=40, deadline=None)
@given(steps=st.lists(st.one_of(request, st.sampled_from(["take", "finish"])), max_size=15))
def test_whatever_is_asked_is_covered_by_a_run_that_ends_after_it(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, bool] | str]
) -> None:
    queue = Queue(tmp_path_factory.mktemp("queue") / "queue.db")
    with Lease.acquire(queue.path, WORKER) as lease:
        open_requests: list[tuple[str, bool]] = []
        running: Job | None = None
        for step in [*steps, "finish", "take", "finish", "take", "finish"]:
            if step == "take":
                running = running or queue.take(lease)
            elif step == "finish" and running:
                queue.finish(running.id, "done")
                done, running = running, None
                open_requests = [
                    (scope, force)
                    for scope, force in open_requests
                    if SCOPES.index(scope) > SCOPES.index(done.scope) or (force and not done.force)
                ]
            elif isinstance(step, tuple):
                queue.enqueue("kb", step[0], force=step[1])
                open_requests.append(step)
        assert open_requests == []
        assert queue.waiting() == []
    queue.close()
