"""A worker that is stopped, not dead, and wakes after another one has done its work."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from seoga.settings import Settings
from seoga.storage.database import open_reader
from seoga.storage.jobs import Queue
from seoga.storage.leases import WORKER, holder
from seoga.wiring import Stack
from seoga_indexer.orchestrator import drain

from ..waiting import when

CHILD = Path(__file__).with_name("sleeping_worker.py")
ROWS = "SELECT id, kb_id, status, started_at, ended_at, result, last_error FROM jobs ORDER BY id"


@pytest.fixture
def base(base_path: Path, tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("apple")
    (base_path / "kb").mkdir()
    config = {"sourcePaths": [str(tmp_path / "docs")], "embedding": {"provider": ""}}
    (base_path / "kb" / "config.json").write_text(json.dumps({"id": "kb", **config}))
    return base_path


@pytest.fixture
def queue(base: Path) -> Iterator[Queue]:
    with closing(Queue(base / "queue.db")) as queue:
        yield queue


@pytest.fixture
def sleeper(base: Path, queue: Queue) -> Iterator[subprocess.Popen[str]]:
    """A worker in the middle of the run of `kb`."""
    queue.enqueue("kb")
    process = subprocess.Popen(
        [sys.executable, CHILD, base],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    yield process
    process.send_signal(signal.SIGCONT)
    process.kill()
    process.communicate()


def outlived(base: Path) -> None:
    """Waits until the lease of a worker that stands still has run out."""
    with closing(open_reader(base / "queue.db", "queue")) as conn:
        (expires,) = conn.execute("SELECT max(expires_ns) FROM leases").fetchone()
    threading.Event().wait(max(0.0, (expires - time.time_ns()) / 1e9))
    assert nobody_works(base)


def nobody_works(base: Path) -> bool:
    with closing(open_reader(base / "queue.db", "queue")) as conn:
        return holder(conn, WORKER) is None


def rows(base: Path) -> list[tuple[object, ...]]:
    with closing(open_reader(base / "queue.db", "queue")) as conn:
        return conn.execute(ROWS).fetchall()


def test_a_running_worker_keeps_its_lease(
    base: Path, queue: Queue, sleeper: subprocess.Popen[str]
) -> None:
    seen: set[int] = set()

    def renewed() -> bool:
        assert not nobody_works(base)
        with closing(open_reader(base / "queue.db", "queue")) as conn:
            seen.update(row[0] for row in conn.execute("SELECT heartbeat_ns FROM leases"))
        return len(seen) > 5

    when(base, renewed, 20)
    out, _ = sleeper.communicate("\n")
    assert json.loads(out) == {"worked": True, "outcomes": {"done": 1}}


def test_a_worker_that_wakes_late_writes_nothing_into_the_queue(
    base: Path, queue: Queue, sleeper: subprocess.Popen[str]
) -> None:
    sleeper.send_signal(signal.SIGSTOP)
    outlived(base)
    assert queue.state("kb").status == "queued"
    stack = Stack(Settings(base_path=base))
    assert drain(stack) == {"done": 1, "failed": 0, "cancelled": 0, "rejected": 0, "troubles": []}
    stack.close()
    before = rows(base)
    sleeper.send_signal(signal.SIGCONT)
    out, said = sleeper.communicate("\n")
    assert json.loads(out)["worked"] is False
    assert "the queue's lease was lost" in said
    assert rows(base) == before
    assert '"indexed": 1' in str(before[0][5])


def test_a_late_worker_does_not_end_the_run_of_its_successor(
    base: Path, queue: Queue, sleeper: subprocess.Popen[str]
) -> None:
    sleeper.send_signal(signal.SIGSTOP)
    outlived(base)
    successor = subprocess.Popen(
        [sys.executable, CHILD, base], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert successor.stdout is not None
    assert successor.stdout.readline() == "running\n"
    before = rows(base)
    sleeper.send_signal(signal.SIGCONT)
    sleeper.communicate("\n")
    assert rows(base) == before
    assert queue.state("kb").status == "running"
    out, _ = successor.communicate("\n")
    assert json.loads(out)["outcomes"] == {"done": 1}
