"""Memory of the gateway's workers over a base of SIZE=100000 or 1000000 chunks, by MCP over HTTP.

A gateway with WORKERS=2 as it runs for a team: its start, the first search, QUERIES=100 questions
by meaning and by words one after the other, then the same by CLIENTS=8 at once. Shown is what each
worker has to itself (smaps: private dirty and clean), and apart from it what it has mapped of the
vector files: pages of the system, one copy for all, counted as private where only one worker has
looked at them. Mark: 300 MiB.
"""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import numpy as np
import scale_kb
from bench_clients import Client, Gateway, gateway

SIZE = int(os.environ.get("SIZE", "100000"))
QUERIES = int(os.environ.get("QUERIES", "100"))
CLIENTS = int(os.environ.get("CLIENTS", "8"))
MARK_MIB = 300.0
_SHARED = ".vectors-"


def private_mib(pid: int) -> tuple[float, float]:
    """What this process has to itself, without vector files; and what of those."""
    own, files, name = 0, 0, ""
    for line in Path(f"/proc/{pid}/smaps").read_text(encoding="utf-8").splitlines():
        first, *rest = line.split()
        if not first.endswith(":"):
            name = rest[-1]
        elif first in ("Private_Clean:", "Private_Dirty:"):
            own, files = (
                (own, files + int(rest[0])) if _SHARED in name else (own + int(rest[0]), files)
            )
    return own / 1024, files / 1024


def healthy(running: Gateway, workers: int) -> bool:
    """Whether so many workers are there, and one answers."""
    answer = httpx.get(f"http://127.0.0.1:{running.port}/health")
    return answer.is_success and len(running.workers()) == workers


def told(running: Gateway, when: str) -> float:
    """Shows all workers; returns the greatest."""
    found = [private_mib(pid) for pid in running.workers()]
    shown = ", ".join(f"{own:4.0f} MiB (+ {files:.0f} of vector files)" for own, files in found)
    print(f"{when:<28} {shown}", flush=True)
    return max(own for own, _ in found)


def ask(client: Client, questions: list[str], mode: str) -> list[float]:
    times = []
    for question in questions:
        started = time.perf_counter()
        client.call("search_documents", query=question, kb_id="scale", search_mode=mode)
        times.append(1e3 * (time.perf_counter() - started))
    return times


def main() -> int:
    folder = scale_kb.make(SIZE, scale_kb.data_folder(), bulk=SIZE > 200_000)
    questions = scale_kb.queries(QUERIES)
    workers = int(os.environ.get("WORKERS", "2"))
    with gateway(folder.parent, str(workers)) as running:
        started = time.perf_counter()
        while not healthy(running, workers) and time.perf_counter() - started < 60:
            continue
        greatest = told(running, "started")
        first = ask(Client(running.port), ["first 처음"], "auto")
        greatest = max(greatest, told(running, f"first search, {first[0]:.0f} ms"))
        for mode in ("auto", "bm25"):
            times = [ask(Client(running.port), [each], mode)[0] for each in questions]
            p50, p95 = np.percentile(times, [50, 95])
            said = f"{mode}, {p50:.0f} ({p95:.0f}) ms"
            greatest = max(greatest, told(running, said))
        with ThreadPoolExecutor(CLIENTS) as pool:
            parts = [questions[at::CLIENTS] for at in range(CLIENTS)]
            clients = [Client(running.port) for _ in parts]
            list(pool.map(ask, clients, parts, ["auto"] * CLIENTS))
        greatest = max(greatest, told(running, f"{CLIENTS} clients at once"))
    reached = "reached" if greatest <= MARK_MIB else "missed"
    print(f"greatest {greatest:.0f} MiB, mark {MARK_MIB:.0f}: {reached}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
