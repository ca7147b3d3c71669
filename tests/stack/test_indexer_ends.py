"""The indexer service is told to end in the middle of a run: it ends soon, says so with its status,
and the next one goes on with what is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from seoga.storage.audit import audit
from seoga.storage.database import open_reader
from seoga.storage.jobs import Queue
from seoga.storage.reading import file_counts, pending_count, runs
from seoga.text.tokens import index_text
from seoga_embedding.fake.rules import Rules

from ..waiting import answers, when
from .watched import FILES, HELD_S, KEYS, SOON_S, Watched, configure, folder_of_notes

SEOGA = Path(sys.executable).with_name("seoga")


@pytest.fixture
def kb(base_path: Path, url: str) -> Path:
    folder = folder_of_notes(base_path)
    configure(folder, url, "vectors")
    return folder


@contextmanager
def indexer(base: Path, port: int, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The service, once it answers; ended at the end where it did not end before."""
    with log.open("ab") as output:
        process = subprocess.Popen(
            [SEOGA, "service", "indexer", "--port", str(port)],
            env={**os.environ, **KEYS, "SEOGA_BASE_PATH": str(base)},
            stdout=output,
            stderr=output,
        )
    try:
        when(log.parent, lambda: process.poll() is not None or answers(health(port)))
        assert process.poll() is None, log.read_text()
        yield process
    finally:
        process.terminate()
        process.wait(timeout=SOON_S)


def health(port: int) -> str:
    return f"http://127.0.0.1:{port}/health"


def history(kb: Path) -> list[dict[str, Any]]:
    with closing(open_reader(kb / "rag.db")) as conn:
        return runs(conn)


def queued(base: Path) -> tuple[bool, bool]:
    """Whether the job of the KB is running, and whether it waits."""
    with closing(Queue(base / "queue.db")) as queue:
        state = queue.state("kb")
    return state.running is not None, state.queued is not None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_service_ends_in_the_middle_of_a_run_and_the_next_one_goes_on(
    desk: Watched,
    kb: Path,
    tmp_path: Path,
    free_port: int,
    number: signal.Signals,
) -> None:
    base_path, port, log = kb.parent, free_port, tmp_path / "indexer.log"
    desk.rules = Rules(latency=HELD_S)
    with indexer(base_path, port, log) as process:
        asked = httpx.post(f"http://127.0.0.1:{port}/v1/jobs", json={"kb_id": "kb"}, timeout=30)
        assert asked.json()["status"] == "queued"
        desk.came.get(timeout=120)
        assert queued(base_path) == (True, False)
        children = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(number)
        assert process.wait(timeout=SOON_S) == 0
    assert not psutil.wait_procs(children, timeout=10)[1]
    assert "Traceback" not in log.read_text()
    assert queued(base_path) == (False, True)
    assert [run["status"] for run in history(kb)] == ["cancelled"]
    with closing(open_reader(kb / "rag.db")) as conn:
        assert not any(audit(conn, index_text).values())
        assert pending_count(conn) == FILES
        assert sum(file_counts(conn)[0].values()) == FILES
    told = subprocess.run([SEOGA, "status", "--json"], capture_output=True, text=True, check=True)
    (shown,) = json.loads(told.stdout.splitlines()[-1])["kbs"]
    assert (shown["queue"]["status"], shown["index"]["progress"]) == ("queued", None)
    assert (shown["index"]["last_run"]["status"], shown["index"]["chunks"]) == ("cancelled", FILES)

    desk.rules = Rules()
    with indexer(base_path, port, log):
        when(base_path, lambda: queued(base_path) == (False, False), seconds=120)
    assert [run["status"] for run in history(kb)] == ["done", "cancelled"]
    with closing(open_reader(kb / "rag.db")) as conn:
        assert not any(audit(conn, index_text).values())
        assert pending_count(conn) == 0
