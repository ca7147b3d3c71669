"""A run that is asked to stop while somebody keeps it waiting: it ends at once, asks nobody for
anything more, and its process leaves nothing behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from queue import Empty
from typing import Any

import psutil
import pytest

from seoga_embedding.fake.app import create
from seoga_embedding.fake.rules import Fault, Rules
from seoga_embedding.remote.gate import FAILURES

from .serving import serving
from .watched import HELD_S, KEYS, LLM, SOON_S, STAGES, Watched, configure, folder_of_notes

SEOGA = Path(sys.executable).with_name("seoga")
PAUSES = {
    "retry-after": Fault(status=429, retry_after="50", times=50),
    "backoff": Fault(status=503, times=50),
}


@pytest.fixture
def kb(base_path: Path) -> Path:
    return folder_of_notes(base_path)


def start(kb: Path, **environment: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [SEOGA, "exec", "--path", kb],
        env={**os.environ, **KEYS, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def terminate(process: subprocess.Popen[bytes], _: Path) -> None:
    process.send_signal(signal.SIGTERM)


def interrupt(process: subprocess.Popen[bytes], _: Path) -> None:
    process.send_signal(signal.SIGINT)


def ask_by_file(_: subprocess.Popen[bytes], kb: Path) -> None:
    (kb / "cancel").touch()


def ends(process: subprocess.Popen[bytes], stop: Any, kb: Path) -> str:
    """Stops a run and sees that its process ends soon, and its children with it; what it said."""
    children = psutil.Process(process.pid).children(recursive=True)
    stop(process, kb)
    try:
        _, said = process.communicate(timeout=SOON_S)
    finally:
        process.kill()
    assert not psutil.wait_procs(children, timeout=10)[1]
    assert process.returncode == 2, said
    assert b"Traceback" not in said
    return said.decode()


def calls(desk: Watched) -> list[str]:
    """Those that came since the last look."""
    found = []
    try:
        while True:
            found.append(desk.came.get_nowait())
    except Empty:
        return found


@pytest.mark.parametrize(
    ("stage", "stop"),
    [
        ("probe", terminate),
        ("vectors", interrupt),
        ("contexts", ask_by_file),
    ],
)
def test_nothing_is_asked_after_a_stop_and_no_answer_is_waited_for(
    desk: Watched, url: str, kb: Path, stage: str, stop: Callable[..., None]
) -> None:
    desk.rules = Rules(latency=HELD_S)
    configure(kb, url, stage)
    process = start(kb)
    desk.came.get(timeout=120)
    ends(process, stop, kb)
    assert calls(desk) == []


def test_a_batch_that_is_being_looked_at_holds_up_no_stop(
    desk: Watched, url: str, kb: Path
) -> None:
    desk.rules = Rules(batches="held")
    configure(kb, url, "batches")
    first = start(kb)
    _, said = first.communicate(timeout=120)
    assert first.returncode == 0, said
    assert calls(desk)
    desk.rules = Rules(batches="held", latency=HELD_S)
    process = start(kb)
    desk.came.get(timeout=120)
    ends(process, terminate, kb)
    assert calls(desk) == []


@pytest.mark.parametrize(
    ("stage", "pause"),
    [
        ("probe", "retry-after"),
        ("vectors", "backoff"),
        ("contexts", "retry-after"),
    ],
)
def test_a_stop_ends_the_waiting_before_the_next_try(
    desk: Watched, url: str, kb: Path, stage: str, pause: str
) -> None:
    fault = PAUSES[pause]
    desk.expect([fault.model_copy()])
    configure(kb, url, stage)
    process = start(kb)
    desk.came.get(timeout=120)
    ends(process, terminate, kb)
    # A pause of half a second may be over before the signal comes; then one more is under way.
    assert len(calls(desk)) <= (fault.status == 503)


@pytest.fixture(params=["in this process", "over the services"])
def services(request: pytest.FixtureRequest, start_service: Any) -> dict[str, str]:
    """What a run is told of the services, in both forms."""
    if request.param == "in this process":
        return {}
    return {"SEOGA_EMBEDDING_URL": start_service("embedding", **KEYS)}


@pytest.mark.parametrize(
    "stage_and_stop",
    [("probe", interrupt), ("vectors", terminate), ("contexts", ask_by_file)],
    ids=lambda pair: pair[0],
)
def test_an_answer_of_a_service_is_not_waited_for_after_a_stop(
    desk: Watched,
    url: str,
    kb: Path,
    start_service: Any,
    stage_and_stop: tuple[str, Callable[..., None]],
) -> None:
    stage, stop = stage_and_stop
    service = start_service("embedding", **KEYS)
    desk.rules = Rules(latency=HELD_S)
    configure(kb, url, stage)
    process = start(kb, SEOGA_EMBEDDING_URL=service)
    desk.came.get(timeout=120)
    ends(process, stop, kb)
    assert calls(desk) == []


@pytest.mark.parametrize("fault", PAUSES.values(), ids=PAUSES)
def test_a_stop_ends_the_tries_of_a_service_too(
    desk: Watched, url: str, kb: Path, start_service: Any, fault: Fault
) -> None:
    service = start_service("embedding", **KEYS)
    desk.expect([fault.model_copy()])
    configure(kb, url, "vectors")
    process = start(kb, SEOGA_EMBEDDING_URL=service)
    desk.came.get(timeout=120)
    ends(process, terminate, kb)
    # One try may be under way before the signal comes.
    assert len(calls(desk)) <= (fault.status == 503)


def test_a_stop_while_a_circuit_is_open_ends_the_run(
    desk: Watched, url: str, kb: Path, services: dict[str, str]
) -> None:
    """The embedder is down and left alone; the LLM is being waited for."""
    desk.rules = Rules(latency=0)
    desk.expect([Fault(status=503, times=50, path="/embeddings")])
    slow = Watched()
    slow.rules = Rules(latency=HELD_S)
    with serving(create(slow)) as llm:
        keys = {"embedding": STAGES["probe"]["embedding"] | {"baseUrl": url}}
        keys["contextualizer"] = LLM | {"baseUrl": llm}
        docs = str(kb.parent.parent / "docs")
        config = {"id": "kb", "sourcePaths": [docs], **keys}
        (kb / "config.json").write_text(json.dumps(config))
        process = start(kb, **services)
        slow.came.get(timeout=120)
        assert len(calls(desk)) == FAILURES
        ends(process, terminate, kb)
        assert calls(slow) == []
    assert calls(desk) == []


def test_what_was_stopped_is_told_and_done_by_the_next_run(
    desk: Watched, url: str, kb: Path
) -> None:
    desk.rules = Rules(latency=HELD_S)
    configure(kb, url, "vectors")
    process = start(kb)
    desk.came.get(timeout=120)
    assert "stopping at the next batch; what is done stays" in ends(process, terminate, kb)
    told = subprocess.run([SEOGA, "status"], capture_output=True, text=True, check=True).stdout
    assert "last run: cancelled" in told
    assert f"hint: The last run was stopped: `seoga exec --path {kb}` goes on" in told
    assert "30 without vectors" in told
    desk.rules = Rules()
    process = start(kb)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
