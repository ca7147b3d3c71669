"""Whoever holds the queue's lease works it, one entry at a time, and nothing is lost."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from seoga.errors import NotFound
from seoga.storage.leases import WORKER, WRITER, Lease
from seoga_indexer import orchestrator
from seoga_indexer.orchestrator import drain


def until(condition: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        threading.Event().wait(0.02)


def ended(place: Any, kb_id: str = "kb") -> list[str]:
    return [job.status for job in place.engine.queue.history(kb_id)]


def test_an_entry_is_worked_by_this_process(place: Any) -> None:
    place.write("a.md", "apple")
    result = place.engine.enqueue("kb")
    assert result.to_json() == {"status": "queued", "kb_id": "kb", "queue_position": 1}
    until(lambda: ended(place) == ["done"])
    assert place.found("apple") == ["a.md"]


def test_an_unknown_kb_is_refused_before_it_is_queued(place: Any) -> None:
    with pytest.raises(NotFound):
        place.engine.enqueue("other")
    assert place.engine.queue.waiting() == []


def test_a_deferred_entry_waits_for_the_sweep(place: Any) -> None:
    place.write("a.md", "apple")
    place.engine.enqueue("kb", deferred=True)
    assert drain(place.stack) == {
        "done": 0,
        "failed": 0,
        "cancelled": 0,
        "rejected": 0,
        "troubles": [],
    }
    assert drain(place.stack, sweep_all=True)["done"] == 1


def test_a_failing_entry_keeps_its_error_and_the_next_runs(place: Any) -> None:
    place.write("a.md", "apple")
    other = place.base / "other"
    other.mkdir()
    (other / "config.json").write_text('{"id": "other", "sourcePaths": ["x"]}')
    queue = place.engine.queue
    queue.enqueue("other")
    queue.enqueue("kb")
    (other / "config.json").write_text("{broken")
    ended = drain(place.stack)
    assert (ended["done"], ended["failed"]) == (1, 1)
    [trouble] = ended["troubles"]
    assert trouble["kb_id"] == "other"
    assert "config.json" in trouble["error"]
    assert "config.json" in queue.state("other").last.last_error
    assert queue.state("kb").last.status == "done"


def test_a_busy_kb_waits_its_turn_behind_the_others(place: Any) -> None:
    place.write("a.md", "apple")
    place.run()
    second = place.base / "second"
    second.mkdir()
    (second / "config.json").write_text(
        json.dumps(
            {"id": "second", "sourcePaths": [str(place.docs)], "embedding": {"provider": ""}}
        )
    )
    lease = Lease.acquire(place.kb.db_path, WRITER, 30.0)
    place.engine.enqueue("kb")
    place.engine.enqueue("second")
    until(lambda: ended(place, "second") == ["done"])
    assert "done" not in ended(place)
    lease.release()
    until(lambda: "done" in ended(place))


def test_a_running_entry_stops_when_asked(place: Any) -> None:
    for number in range(200):
        place.write(f"f{number:03}.md", f"text {number}")
    reading, go = threading.Event(), threading.Event()

    def hold(_: Path, name: str) -> None:
        reading.set()
        go.wait(0.05)

    place.extraction.before = hold
    place.engine.enqueue("kb")
    reading.wait(10)
    until(lambda: place.engine.cancel("kb")["stopping"])
    until(lambda: ended(place) == ["cancelled"])
    assert len(place.states()) < 200


def test_cancel_removes_what_waits(place: Any) -> None:
    place.engine.queue.enqueue("kb")
    assert place.engine.cancel("kb") == {"kb_id": "kb", "removed": 1, "stopping": False}
    assert place.engine.queue.waiting() == []


def test_cancel_reaches_a_run_that_was_not_queued(place: Any) -> None:
    place.write("a.md", "apple")
    place.run()
    with Lease.acquire(place.kb.db_path, WRITER, 30.0):
        assert place.engine.cancel("kb")["stopping"]
    assert (place.kb.folder / "cancel").exists()


def test_closing_puts_the_entry_in_flight_back(place: Any) -> None:
    for number in range(200):
        place.write(f"f{number:03}.md", f"text {number}")
    reading = threading.Event()

    def hold(_: Path, name: str) -> None:
        reading.set()
        threading.Event().wait(0.02)

    place.extraction.before = hold
    place.engine.enqueue("kb")
    reading.wait(10)
    place.engine.close()
    assert [job.status for job in place.engine.queue.waiting()] == ["queued"]
    place.extraction.before = lambda path, name: None
    assert drain(place.stack)["done"] == 1
    assert len(place.states()) == 200


def test_what_a_dead_worker_left_running_is_taken_again(place: Any) -> None:
    place.write("a.md", "apple")
    queue = place.engine.queue
    queue.enqueue("kb")
    lease = Lease.acquire(queue.path, WORKER, 30.0)
    assert queue.take(lease) is not None
    lease.release()
    place.engine.enqueue("kb")
    until(lambda: ended(place) == ["done"])
    assert place.found("apple") == ["a.md"]


def test_a_worker_elsewhere_is_left_to_its_work(place: Any) -> None:
    place.write("a.md", "apple")
    lease = Lease.acquire(place.engine.queue.path, WORKER, 30.0)
    place.engine.enqueue("kb")
    assert place.engine.queue.state("kb").status == "queued"
    lease.release()
    until(lambda: ended(place) == ["done"])


def test_a_detached_worker_outlives_this_engine(place: Any) -> None:
    place.write("a.md", "사과를 말하는 문서")
    place.stack.detached_worker = True
    place.engine.enqueue("kb")
    place.engine.close()
    until(lambda: place.kb.db_path.exists() and ended(place) == ["done"], 60)
    assert place.found("사과") == ["a.md"]
    until(lambda: all(child.poll() is not None for child in orchestrator._children))


def test_knowledge_bases_are_indexed_side_by_side_where_that_is_set(place: Any) -> None:
    place.stack.settings = place.stack.settings.model_copy(update={"queue_workers": 2})
    place.write("a.md", "apple")
    for name in ("two", "three"):
        (place.base / name).mkdir()
        config = {"id": name, "sourcePaths": [str(place.docs)], "embedding": {"provider": ""}}
        (place.base / name / "config.json").write_text(json.dumps(config))
    both = threading.Barrier(2, timeout=20)
    place.extraction.before = lambda path, name: (
        both.wait() if len(place.extraction.reads) < 3 else 0
    )
    for name in ("kb", "two", "three"):
        place.engine.queue.enqueue(name)
    assert drain(place.stack) == {
        "done": 3,
        "failed": 0,
        "cancelled": 0,
        "rejected": 0,
        "troubles": [],
    }
    assert both.n_waiting == 0


def test_a_busy_kb_leaves_no_row_in_the_history(place: Any) -> None:
    place.write("a.md", "apple")
    place.run()
    lease = Lease.acquire(place.kb.db_path, WRITER, 30.0)
    place.engine.enqueue("kb")
    until(lambda: any("in use" in job.last_error for job in place.engine.queue.waiting()))
    assert ended(place) == []
    lease.release()
    until(lambda: ended(place) == ["done"])
