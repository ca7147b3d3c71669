"""A queue worker whose run ends when a line comes on stdin: `sleeping_worker.py BASE`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from seoga.contracts.indexing import RunResult
from seoga.kb import Kb
from seoga.settings import Settings
from seoga.storage.jobs import Queue
from seoga.wiring import Stack
from seoga_indexer.orchestrator import Worker


def main(base: Path) -> None:
    queue = Queue(base / "queue.db")

    def run_kb(kb: Kb, **_: Any) -> RunResult:
        print("running", flush=True)
        sys.stdin.readline()
        return RunResult(indexed=999)

    worker = Worker(queue, Stack(Settings(base_path=base, lease_seconds=0.6)), run_kb)
    worked = worker._shift()
    queue.close()
    print(json.dumps({"worked": worked, "outcomes": worker.outcomes}), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
