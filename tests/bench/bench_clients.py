"""Several agents at once over MCP HTTP: CLIENTS=8 of them search a base of SIZE=50000 chunks.

A gateway runs as it does for a team (gunicorn, one worker a core); the clients, in one process, ask
one question after the other. They are bare: one kept connection each and the JSON-RPC message as
the SDK's client sends it, so that the gateway is measured and not a client library. Shown are
queries a second and percentiles of the time of a call; beside them, in the same run, the same
searches in this process by one thread, and calls of a tool that does nothing of note over the same
way: what MCP and HTTP cost. Marks: 60 queries a second, 95th percentile 200 ms.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import scale_kb
from bench import SEOGA, clean_environment, one_thread

from seoga.kb import load_kb
from seoga.search.engine import SearchRequest, search
from seoga.settings import settings
from seoga_embedding.engine import EmbeddingEngine

SIZE = int(os.environ.get("SIZE", "50000"))
CLIENTS = int(os.environ.get("CLIENTS", "8"))
QUERIES = int(os.environ.get("QUERIES", "60"))
MARK_QPS, MARK_MS = 60.0, 200.0
HEADERS = {
    "Accept": "application/json, text/event-stream",
    "Content-Type": "application/json",
    "MCP-Protocol-Version": "2025-06-18",
}


@dataclass(frozen=True, slots=True)
class Gateway:
    """One that runs: where it listens, and the process that holds its workers."""

    port: int
    master: int

    def workers(self) -> list[int]:
        """The process ids of its workers."""
        return [one.pid for one in psutil.Process(self.master).children()]


@contextmanager
def gateway(base: Path, workers: str = "") -> Iterator[Gateway]:
    """A gateway over this base path; a worker a core where it is not said how many."""
    command = [*SEOGA, "service", "gateway", "--port", "0"]
    chosen = {"SEOGA_WORKERS": workers or str(os.cpu_count() or 1)}
    environment = clean_environment(base) | chosen
    server = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    try:
        for line in server.stderr:
            if "http://127.0.0.1:" in line:
                port = int(line.split("http://127.0.0.1:")[1].split("/")[0].split()[0].strip('"),'))
                break
        threading.Thread(target=server.stderr.read, daemon=True).start()
        yield Gateway(port, server.pid)
    finally:
        server.terminate()
        server.wait(20)


class Client:
    """One agent: a connection that is kept."""

    def __init__(self, port: int) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=60)
        self._calls = 0

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The result of a tool."""
        self._calls += 1
        asked = {"name": tool, "arguments": arguments}
        body = {"jsonrpc": "2.0", "id": self._calls, "method": "tools/call", "params": asked}
        self._connection.request("POST", "/mcp", json.dumps(body), HEADERS)
        text = self._connection.getresponse().read().decode()
        lines = [line for line in text.splitlines() if line.startswith(("data: {", "{"))]
        if not lines:
            raise RuntimeError(f"{tool}: no answer: {text[:300]}")
        answer: dict[str, Any] = json.loads(lines[-1].removeprefix("data: "))
        result: dict[str, Any] = answer["result"]
        if result.get("isError"):
            raise RuntimeError(f"{tool}: {result['content'][0]['text'][:300]}")
        return result


def asked(client: Client, questions: list[str]) -> list[float]:
    """Milliseconds of each question, one after the other."""
    times = []
    for question in questions:
        started = time.perf_counter()
        client.call("search_documents", query=question, kb_id="scale")
        times.append(1e3 * (time.perf_counter() - started))
    return times


def told(name: str, times: list[float], seconds: float) -> None:
    p50, p95 = np.percentile(times, [50, 95])
    print(f"{name:30} {len(times) / seconds:7.1f} a second   p50 {p50:6.1f}  p95 {p95:6.1f} ms")


def main() -> int:
    one_thread()
    folder = scale_kb.make(SIZE, scale_kb.data_folder())
    questions = scale_kb.queries(QUERIES * CLIENTS)
    with gateway(folder.parent) as running:
        port = running.port
        clients = [Client(port) for _ in range(CLIENTS)]
        with ThreadPoolExecutor(CLIENTS) as pool:
            # Every worker opens the base and loads the model first.
            list(pool.map(lambda one: asked(one, questions[:5]), clients))
            parts = [questions[at::CLIENTS] for at in range(CLIENTS)]
            started = time.perf_counter()
            times = [ms for part in pool.map(asked, clients, parts) for ms in part]
            seconds = time.perf_counter() - started
            told(f"{CLIENTS} clients, {SIZE} chunks", times, seconds)
            reached = len(times) / seconds
            p95 = float(np.percentile(times, 95))
            # Idle connections are closed by the gateway after a while.
            clients = [Client(port) for _ in range(CLIENTS)]
            single = asked(clients[0], questions[:60])
            told("one client", single, 1e-3 * sum(single))
            started = time.perf_counter()
            clients = [Client(port) for _ in range(CLIENTS)]
            light = [ms for part in pool.map(listed, clients) for ms in part]
            told("a tool without a search", light, time.perf_counter() - started)
    kb, engine = load_kb(folder), EmbeddingEngine(settings())
    search([kb], SearchRequest(questions[0]), engine)
    alone = []
    for question in questions[:120]:
        started = time.perf_counter()
        search([kb], SearchRequest(question), engine)
        alone.append(1e3 * (time.perf_counter() - started))
    told("in process, one thread", alone, sum(alone) / 1e3)
    print(
        f"marks: {MARK_QPS:.0f} a second, p95 {MARK_MS:.0f} ms: "
        f"{'reached' if reached >= MARK_QPS and p95 <= MARK_MS else 'missed'}"
    )
    return 0


def listed(client: Client) -> list[float]:
    """Milliseconds of calls that only list knowledge bases."""
    times = []
    for _ in range(QUERIES):
        started = time.perf_counter()
        client.call("list_knowledge_bases")
        times.append(1e3 * (time.perf_counter() - started))
    return times


if __name__ == "__main__":
    sys.exit(main())
