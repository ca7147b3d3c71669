"""Watching as a person has it: `seoga watch` alone, beside an indexer, and the service itself."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from seoga.errors import SeogaError
from seoga.storage.database import open_reader
from seoga.storage.jobs import Queue
from seoga.storage.leases import WORKER, Lease

from ..waiting import when

SEOGA = Path(sys.executable).with_name("seoga")
QUICK = {"SEOGA_WATCH_SETTLE_S": "0.2", "SEOGA_WATCH_POLL_S": "0.3"}


@pytest.fixture
def docs(tmp_path: Path, base_path: Path) -> Path:
    """The folder of a keyword-only knowledge base `kb`."""
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("apple")
    add_kb(base_path, "kb", folder)
    return folder


def add_kb(base: Path, name: str, docs: Path) -> Path:
    (base / name).mkdir(parents=True)
    config = {"id": name, "sourcePaths": [str(docs)], "embedding": {"provider": ""}}
    (base / name / "config.json").write_text(json.dumps(config))
    return base / name


def indexed(folder: Path) -> dict[str, int]:
    """Path → size of what the index holds."""
    with suppress(SeogaError), closing(open_reader(folder / "rag.db")) as conn:
        return dict(conn.execute("SELECT path, size FROM files").fetchall())
    return {}


@pytest.fixture
def watch(base_path: Path, tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    started: list[subprocess.Popen[bytes]] = []

    def start(*arguments: str | Path) -> subprocess.Popen[bytes]:
        with (tmp_path / "watch.log").open("wb") as log:
            process = subprocess.Popen(
                [SEOGA, "watch", *arguments],
                env={**os.environ, **QUICK},
                stdout=log,
                stderr=log,
            )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
            process.wait()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_changes_are_indexed_here_until_ctrl_c(
    docs: Path, base_path: Path, tmp_path: Path, watch: Any, number: signal.Signals
) -> None:
    process = watch()
    when(base_path, lambda: indexed(base_path / "kb") == {"a.md": 5})
    (docs / "b.md").write_text("banana")
    when(base_path, lambda: "b.md" in indexed(base_path / "kb"))
    add_kb(base_path, "later", docs)
    when(base_path, lambda: len(indexed(base_path / "later")) == 2)
    process.send_signal(number)
    assert process.wait(timeout=30) == 0
    said = (tmp_path / "watch.log").read_text()
    assert "kb: Run: indexed=1 skipped=1" in said
    assert "Traceback" not in said


def test_one_knowledge_base_outside_the_base_path_is_watched_by_its_path(
    docs: Path, tmp_path: Path, watch: Any
) -> None:
    folder = add_kb(tmp_path / "elsewhere", "mine", docs)
    watch("--path", folder)
    when(folder, lambda: indexed(folder) == {"a.md": 5})
    (docs / "a.md").write_text("apple and pear")
    when(folder, lambda: indexed(folder) == {"a.md": 14})
    assert not (tmp_path / "base" / "kb" / "rag.db").exists()


def test_where_somebody_works_the_queue_the_run_is_queued(
    docs: Path, base_path: Path, tmp_path: Path, watch: Any
) -> None:
    with closing(Queue(base_path / "queue.db")) as queue, Lease.acquire(queue.path, WORKER):
        watch()
        when(base_path, lambda: queue.state("kb").status == "queued")
    assert not (base_path / "kb" / "rag.db").exists()


def test_a_base_path_without_knowledge_bases_is_an_error(base_path: Path) -> None:
    done = subprocess.run([SEOGA, "watch"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "seoga index" in done.stderr


@pytest.mark.parametrize("mode", ["auto", "poll"])
def test_the_indexer_service_indexes_what_changes(
    docs: Path, base_path: Path, start_service: Any, mode: str
) -> None:
    start_service(
        "indexer",
        SEOGA_BASE_PATH=str(base_path),
        SEOGA_WATCH="1",
        SEOGA_WATCH_MODE=mode,
        **QUICK,
    )
    when(base_path, lambda: indexed(base_path / "kb") == {"a.md": 5})
    (docs / "b.md").write_text("banana")
    when(base_path, lambda: "b.md" in indexed(base_path / "kb"))
    (docs / "a.md").unlink()
    when(base_path, lambda: indexed(base_path / "kb") == {"b.md": 6})
    (base_path / "kb" / "config.json").unlink()
    add_kb(base_path, "later", docs)
    when(base_path, lambda: indexed(base_path / "later") == {"b.md": 6})
