"""What the benchmarks share: where things are, a clock, and how a command is run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[2]
HANDED = Path(os.environ.get("SEOGA_HANDED") or CHECKOUT.parent / "shared" / "corpus")
SEOGA = (str(Path(sys.executable).parent / "seoga"),)


class Clock:
    """`with Clock() as clock: …`, then `clock.seconds`."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __enter__(self) -> Clock:
        self._started = time.perf_counter()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.seconds = time.perf_counter() - self._started


def one_thread() -> None:
    """Starts this benchmark again with one BLAS thread, as the command itself has, unless the
    environment says how many."""
    if "OPENBLAS_NUM_THREADS" not in os.environ:
        os.environ["OPENBLAS_NUM_THREADS"] = "1"
        os.execv(sys.executable, [sys.executable, *sys.argv])


def clean_environment(base: Path) -> dict[str, str]:
    """The environment without the caller's own SEOGA_ settings, over an empty base path."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SEOGA_")}
    return {**kept, "SEOGA_BASE_PATH": str(base), "SEOGA_CACHE_PATH": f"{base}-cache"}


def run_json(command: list[str], environment: dict[str, str]) -> dict[str, Any]:
    """The JSON object on the last line of a command's output; what it says goes to our stderr."""
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    answer: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return answer
