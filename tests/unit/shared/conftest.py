"""The real command in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from seoga.settings import environment

COMMAND = (sys.executable, "-m", "seoga.cli.main")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command line did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The object on the last line of standard output."""
        return json.loads(self.out.splitlines()[-1])


Seoga = Callable[..., Outcome]


@pytest.fixture
def seoga_process(base_path: Path) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Starts `seoga ARGUMENTS` and hands the process out; none outlives the test."""
    started: list[subprocess.Popen[bytes]] = []

    def start(*arguments: str | Path) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [*COMMAND, *map(str, arguments)],
            bufsize=0,  # A line that is read takes no more than itself from `communicate`.
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(SEOGA_BASE_PATH=str(base_path)),
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
            process.communicate()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


@pytest.fixture
def seoga(base_path: Path, tmp_path: Path) -> Seoga:
    """Runs `seoga ARGUMENTS` in an empty folder, with this test's base path."""
    cwd = tmp_path / "cwd"
    cwd.mkdir()

    def run(*arguments: str | Path, **variables: str) -> Outcome:
        done = subprocess.run(
            [*COMMAND, *map(str, arguments)],
            capture_output=True,
            cwd=cwd,
            env=environment(SEOGA_BASE_PATH=str(base_path), **variables),
            timeout=120,
            check=False,
        )
        return Outcome(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))

    return run
