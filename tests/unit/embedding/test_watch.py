"""A child that works long is left alone on a busy machine; one that hangs is not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from seoga.contracts.embedding import Passage, PassageVectors
from seoga.models import EmbeddingSpec
from seoga_embedding import pool
from seoga_embedding import watch as watching
from seoga_embedding.watch import Watch

SPEC = EmbeddingSpec("hashing")


@pytest.fixture
def process(request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[bytes]]:
    started = subprocess.Popen(
        [sys.executable, "-c", f"print(1, flush=True)\n{request.param}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert started.stdout is not None
    started.stdout.readline()
    yield started
    started.kill()
    started.communicate()


def until_over(watch: Watch) -> float:
    """Seconds by the clock until it is over."""
    started = time.monotonic()
    while not watch.over():
        assert time.monotonic() - started < 30
        threading.Event().wait(0.02)
    return time.monotonic() - started


@pytest.mark.parametrize("process", ["while True: pass"], indirect=True)
def test_one_that_works_ends_by_its_processor_time(process: subprocess.Popen[bytes]) -> None:
    watch = Watch(process.pid, cpu_s=0.3, quiet_s=60)
    assert until_over(watch) >= 0.2
    assert not Watch(process.pid, cpu_s=60, quiet_s=60).over()


@pytest.mark.parametrize("process", ["input()"], indirect=True)
def test_one_that_does_nothing_ends_by_the_clock(process: subprocess.Popen[bytes]) -> None:
    assert until_over(Watch(process.pid, cpu_s=60, quiet_s=0.3)) >= 0.3


@pytest.mark.parametrize("process", ["input()"], indirect=True)
def test_hours_of_little_work_are_no_end(
    process: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    used, clock = iter(range(1000)), iter(range(0, 100_000, 100))
    monkeypatch.setattr(watching, "_cpu_seconds", lambda _: next(used) / 10)
    monkeypatch.setattr(watching.time, "monotonic", lambda: next(clock))
    watch = Watch(process.pid, cpu_s=60, quiet_s=120)
    assert [watch.over() for _ in range(601)] == [*[False] * 599, True, True]


def test_one_that_is_gone_does_not_move() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait(20)
    assert Watch(ended.pid, cpu_s=60, quiet_s=0).over()


def test_a_child_that_hangs_is_replaced_and_its_batch_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pool, "_LOOK_S", 0.05)
    children = pool.Pool(1)
    try:
        assert isinstance(children.embed(SPEC, [Passage("one")])[0], PassageVectors)
        (pid,) = children.memory_mb()
        os.kill(pid, signal.SIGSTOP)
        # The next child has the usual time.
        limits = iter([0.3])
        monkeypatch.setattr(
            pool, "Watch", lambda pid, cpu, quiet: Watch(pid, cpu, next(limits, quiet))
        )
        assert isinstance(children.embed(SPEC, [Passage("two")])[0], PassageVectors)
        assert pid not in children.memory_mb()
    finally:
        children.close()
