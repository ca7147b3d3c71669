"""The four processes under kill -9: a run that was asked for comes to its end, and the index is the
one that nobody disturbed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psutil
import pytest

from ..e2e.test_end_to_end import Deployment, until
from .room import Room, undisturbed
from .test_chaos import ROUNDS, SEED

SEOGA = Path(sys.executable).parent / "seoga"
NAMES = ("gateway", "extraction", "embedding", "indexer")
# Without these the run that is under way cannot be whole: it says so, and the next one is.
NEEDED = ("extraction", "embedding")
# Seconds after a run has begun.
LENGTH_S = 1.0
# So many at once: the run after them is long enough to be hit.
CHANGES = 6
LIMIT_S = 120.0
# Padding to the longest text of a batch moves the vectors of a quantised model this far apart.
SAME = 0.99


class Four:
    """The services of one base path, each on a port of its own and killed by itself."""

    def __init__(self, room: Room, ports: list[int]) -> None:
        self.room = room
        self.urls = {
            name: f"http://127.0.0.1:{port}" for name, port in zip(NAMES, ports, strict=True)
        }
        self.gateway = Deployment(self.urls["gateway"], room.docs)
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str) -> None:
        reached = {"gateway": NAMES[1:], "indexer": NEEDED}.get(name, ())
        env = {f"SEOGA_{other.upper()}_URL": self.urls[other] for other in reached}
        env |= {"SEOGA_PORT": self.urls[name].rpartition(":")[2]}
        env |= {"SEOGA_BASE_PATH": str(self.room.base), "SEOGA_EXTRACT_WORKERS": "2"}
        with (self.room.folder / f"{name}.log").open("ab") as log:
            self._processes[name] = subprocess.Popen(
                [SEOGA, "service", name],
                env={**os.environ, **env},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def up(self) -> None:
        """All four answer. (The gateway is not ready before something is indexed.)"""
        for name, url in self.urls.items():
            until(partial(answers, f"{url}/health"), LIMIT_S, f"{name} answers")

    def kill(self, name: str) -> str:
        """All of a service, as when its container is killed, or the worker behind its port, which
        the master replaces."""
        process = self._processes[name]
        if self.room.chance.random() < 0.3:
            workers = psutil.Process(process.pid).children()
            self.room.chance.choice(workers).kill()
            return "worker"
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self.start(name)
        return "service"

    def close(self) -> None:
        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def reindex(self) -> None:
        told = self.gateway.call("start_reindex", kb_id="kb")
        assert told["status"] == "queued", told

    def queue(self) -> dict[str, Any]:
        info: dict[str, Any] = self.gateway.call("get_index_info", kb_id="kb")["queue"]
        return info

    def wait(self, seconds: float) -> str:
        """Until the run ends, at most so long: how the queue stands then."""
        deadline = time.monotonic() + seconds
        while (status := str(self.queue()["status"])) == "running" and time.monotonic() < deadline:
            pass
        return status

    def drained(self) -> str:
        """How the last request ended, once the queue is empty."""
        until(lambda: self.queue()["status"] == "idle", LIMIT_S, "the queue is empty")
        return str(self.queue()["last_status"])


def answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=5).is_success
    except httpx.TransportError:
        return False


@pytest.fixture
def four(tmp_path: Path, free_ports: Callable[[int], list[int]]) -> Iterator[Four]:
    services = Four(Room(tmp_path / "room", SEED), free_ports(len(NAMES)))
    try:
        for name in NAMES:
            services.start(name)
        services.up()
        yield services
    finally:
        services.close()


def one_round(four: Four, name: str, number: int) -> None:
    """Documents change, a run is asked for, and one service is killed while it goes on."""
    for _ in range(CHANGES if number else 0):
        four.room.change()
    four.reindex()
    until(lambda: four.queue()["status"] != "queued", LIMIT_S, "the run begins")
    moment = four.room.chance.random() * LENGTH_S
    state = four.wait(moment)
    what = four.kill(name)
    four.up()
    ended = four.drained()
    print(f"{name}: its {what} was killed after {moment:.1f} s ({state}); the run: {ended}")
    assert ended == "done" or (name in NEEDED and ended == "failed"), four.queue()
    assert four.room.faults() == {}


def alike(room: Room, same_vectors: Callable[[str, str], bool]) -> bool:
    """Whether the index is that of an undisturbed run, its vectors as far as their model goes."""
    (rows, *others), (whole, *wholes) = room.content(), undisturbed(room, room.folder)
    pairs = zip(rows, whole, strict=True)
    return others == wholes and all(
        one[:-1] == other[:-1] and same_vectors(one[-1], other[-1]) for one, other in pairs
    )


def near(one: str, other: str) -> bool:
    """Whether two packed vectors of unit length are one but for the batch they were made in."""
    left, right = (np.frombuffer(bytes.fromhex(data), "<f4") for data in (one, other))
    return left.shape == right.shape and float(left @ right) >= SAME * float(left @ left)


def play(four: Four, order: list[str], same: Callable[[str, str], bool] = str.__eq__) -> None:
    for number, name in enumerate(order):
        one_round(four, name, number)
    four.reindex()
    assert four.drained() == "done"
    assert four.room.faults() == {}
    assert alike(four.room, same)
    env = {**os.environ, "SEOGA_BASE_PATH": str(four.room.base)}
    told = subprocess.run(
        [SEOGA, "doctor", "--deep"], env=env, capture_output=True, text=True, check=False
    )
    assert told.returncode == 0, told.stdout


@pytest.mark.chaos
@pytest.mark.timeout(7200)
def test_each_of_the_four_services_is_killed_in_turn(four: Four) -> None:
    """`make chaos`: all four in an order by chance, once for every 50 of CHAOS_ROUNDS."""
    print("CHAOS_SEED", SEED)
    order = list(NAMES) * max(1, ROUNDS // 50)
    random.Random(SEED).shuffle(order)
    play(four, order)


@pytest.mark.chaos
@pytest.mark.timeout(7200)
def test_the_services_are_killed_while_the_builtin_model_works(four: Four) -> None:
    """The same with the model that the product ships, whose batches take their time."""
    four.room.configure("builtin")
    play(four, ["embedding", "indexer"], near)
