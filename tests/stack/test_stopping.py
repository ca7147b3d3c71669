"""Nothing of a service outlives what started it, and `make dev` ends quietly."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import psutil
import pytest

from ..waiting import answers, when

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", ["gateway", "indexer"])
def test_the_worker_of_a_killed_master_ends_too(
    start_service: Any, base_path: Path, name: str
) -> None:
    url = start_service(name, SEOGA_BASE_PATH=str(base_path))
    port = int(url.rsplit(":", 1)[1])
    [master] = [
        child
        for child in psutil.Process().children()
        if child.status() != psutil.STATUS_ZOMBIE and f"--bind=127.0.0.1:{port}" in child.cmdline()
    ]
    workers = master.children(recursive=True)
    assert workers
    master.kill()
    assert not psutil.wait_procs(workers, timeout=30)[1]
    assert not answers(f"{url}/health")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_four_processes_end_quietly_with_status_0(
    tmp_path: Path, free_row: int, number: signal.Signals
) -> None:
    log = tmp_path / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [CHECKOUT / "deploy" / "dev"],
            env={**os.environ, "PORT": str(free_row), "SEOGA_BASE_PATH": str(tmp_path / "base")},
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    urls = [f"http://127.0.0.1:{free_row + offset}/health" for offset in range(4)]
    try:
        when(tmp_path, lambda: all(map(answers, urls)))
        children = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(number)
        assert process.wait(timeout=30) == 0
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(timeout=30)
    # A zombie has ended: nobody has asked for its status yet.
    assert not [one for one in children if _runs(one)]
    said = log.read_text()
    assert "service ended" not in said
    assert "Terminated" not in said
    assert "Traceback" not in said


@pytest.fixture
def free_row() -> int:
    """The first of four free ports in a row."""
    import socket
    from contextlib import ExitStack, suppress

    for first in range(29000, 32000, 4):
        with ExitStack() as held, suppress(OSError):
            for port in range(first, first + 4):
                held.enter_context(socket.create_server(("127.0.0.1", port)))
            return first
    pytest.fail("no free ports in a row")


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
