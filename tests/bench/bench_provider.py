"""Throughput against a provider that takes 50 ms a call and 8 calls at once: the share of the ideal
through the embedding service, through an index run, and of bare calls beside them.

Ideal: calls / 8 x 50 ms. The fake is a process of its own; an answer leaves 50 ms after its call
came, and a ninth call at once would be told to slow down.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from bench import SEOGA, Clock, clean_environment

CALLS = 8
LATENCY_S = 0.05
BATCH = 4
PASSAGES = 1536
ROUNDS = 2
MODEL, DIMENSION = "text-embedding-3-small", 64


def main() -> None:
    """Prints the ratio of each round."""
    with tempfile.TemporaryDirectory(prefix="seoga-bench-") as name:
        base = Path(name) / "base"
        environment = clean_environment(base) | {"SEOGA_PROVIDER_CALLS": str(CALLS)}
        with serving("fake-provider", environment) as fake:
            rules = {"latency": LATENCY_S, "max_at_once": CALLS}
            with serving("embedding", environment) as service:
                for path, work in (
                    ("bare calls", lambda: bare(fake)),
                    ("embedding service", lambda: through_service(service, fake)),
                    ("index run", lambda: index_run(fake, environment)),
                ):
                    report(path, [measured(fake, rules, work) for _ in range(ROUNDS)])


def report(path: str, rounds: list[tuple[float, int]]) -> None:
    """A line a path: the ratio of each round."""
    ratios = [calls / CALLS * LATENCY_S / seconds for seconds, calls in rounds]
    shown = "  ".join(f"{ratio:.2f}" for ratio in ratios)
    load = os.getloadavg()[0]
    print(f"{path:18} {rounds[-1][1]:4} calls  of the ideal: {shown}   load {load:.0f}", flush=True)


def measured(fake: str, rules: dict[str, Any], work: Callable[[], float]) -> tuple[float, int]:
    """Seconds that `work` says it took, and the calls that reached the fake."""
    httpx.delete(f"{fake}/fake").raise_for_status()
    httpx.put(f"{fake}/fake/rules", json=rules).raise_for_status()
    seconds = work()
    tally = httpx.get(f"{fake}/fake/tally").json()
    assert set(tally["counts"]) == {"ok", "texts"}, tally
    assert tally["most_at_once"] <= CALLS, tally
    return seconds, tally["counts"]["ok"]


def texts() -> list[str]:
    """So many different texts that no cache knows them."""
    now = time.time_ns()
    return [f"passage {number} of {now}" for number in range(PASSAGES)]


def bare(fake: str) -> float:
    """The same calls by eight threads with a client each and nothing around them."""
    batches = [texts()[at : at + BATCH] for at in range(0, PASSAGES, BATCH)]
    clients = threading.local()

    def call(batch: list[str]) -> None:
        if not hasattr(clients, "own"):
            clients.own = httpx.Client()
        body = {"model": MODEL, "input": batch, "encoding_format": "float"}
        body["dimensions"] = DIMENSION
        clients.own.post(f"{fake}/v1/embeddings", json=body).raise_for_status().json()

    with ThreadPoolExecutor(CALLS) as threads, Clock() as clock:
        list(threads.map(call, batches))
    return clock.seconds


def through_service(service: str, fake: str) -> float:
    """Requests as the indexer makes them: 128 passages, as many under way as the card says."""
    from seoga.contracts.embedding import EmbeddingClient, Passage, PassageVectors
    from seoga.models import EmbeddingSpec

    client = EmbeddingClient(service)
    spec = EmbeddingSpec("openai", MODEL, fake, batch_size=BATCH, dimension=DIMENSION)
    lanes = client.card(spec).lanes
    client.embed_query("ready", spec)
    forget(fake)
    passages = [Passage(text) for text in texts()]
    parts = [passages[at : at + 128] for at in range(0, PASSAGES, 128)]
    with ThreadPoolExecutor(lanes) as threads, Clock() as clock:
        answers = [
            one
            for part in threads.map(lambda part: client.embed_passages(part, spec), parts)
            for one in part
        ]
    client.close()
    assert all(isinstance(one, PassageVectors) for one in answers)
    return clock.seconds


def forget(fake: str) -> None:
    """Calls before the clock do not count."""
    rules = httpx.get(f"{fake}/fake/rules").json()
    httpx.delete(f"{fake}/fake").raise_for_status()
    httpx.put(f"{fake}/fake/rules", json=rules).raise_for_status()


def index_run(fake: str, environment: dict[str, str]) -> float:
    """Vectors of a knowledge base of so many files; from the first call to the last answer, as the
    fake saw them."""
    with tempfile.TemporaryDirectory(prefix="seoga-bench-docs-") as name:
        docs = Path(name)
        for number, text in enumerate(texts()):
            (docs / f"{number}.md").write_text(text, encoding="utf-8")
        folder = Path(environment["SEOGA_BASE_PATH"]) / docs.name
        folder.mkdir(parents=True)
        embedding = {"provider": "openai", "model": MODEL, "dimension": DIMENSION}
        embedding |= {"baseUrl": fake, "batchSize": BATCH}
        config = {"id": docs.name, "sourcePaths": [str(docs)], "embedding": embedding}
        (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
        command = [*SEOGA, "exec", "--path", str(folder)]
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return float(httpx.get(f"{fake}/fake/tally").json()["span_s"])


@contextmanager
def serving(name: str, environment: dict[str, str]) -> Iterator[str]:
    """A service of this checkout on a free port, until the block ends."""
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    command = [*SEOGA, "service", name, "--port", str(port)]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    deadline = time.monotonic() + 60
    try:
        while True:
            try:
                httpx.get(url)
                break
            except httpx.TransportError:
                if time.monotonic() > deadline:
                    raise
                threading.Event().wait(0.05)
        yield url
    finally:
        process.terminate()
        process.wait(30)


if __name__ == "__main__":
    main()
