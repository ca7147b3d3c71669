"""Throughput against a provider that takes 50 ms a call and 8 calls at once: the share of the ideal
of bare calls, through the embedding service and through an index run, by turns in each round.

Ideal: calls / 8 x 50 ms. The provider (`quick_provider.py`) is a process of its own that computes
nothing; an answer leaves 50 ms after its call came, and a ninth call at once is refused, which
fails the benchmark. Bare: eight threads with a connection each and nothing around them.
"""

from __future__ import annotations

import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
from bench import SEOGA, Clock, clean_environment

CALLS = 8
LATENCY_S = 0.05
BATCH = 4
PASSAGES = 3072
ROUNDS = int(os.environ.get("ROUNDS", "3"))
MODEL, DIMENSION = "text-embedding-3-small", 64


def main() -> None:
    """Prints the share of the ideal of each path, a line a round, and the middle of all rounds."""
    with tempfile.TemporaryDirectory(prefix="seoga-bench-") as name:
        base = Path(name) / "base"
        environment = clean_environment(base) | {"SEOGA_PROVIDER_CALLS": str(CALLS)}
        with provider() as url, serving("embedding", environment) as service:
            paths = {
                "bare calls": lambda: bare(url),
                "embedding service": lambda: through_service(service, url),
                "index run": lambda: index_run(url, environment),
            }
            rounds = [round_of(url, paths) for _ in range(ROUNDS)]
    for path in paths:
        share = statistics.median(one[path] for one in rounds)
        beside = statistics.median(one[path] / one["bare calls"] for one in rounds)
        print(f"{path:18} {share:.2f} of the ideal, {beside:.2f} of bare calls beside it")


def round_of(url: str, paths: dict[str, Callable[[], float]]) -> dict[str, float]:
    """Each path once."""
    shares = {}
    for path, work in paths.items():
        tally(url)
        seconds = work()
        came = tally(url)
        assert came["texts"] == PASSAGES, came
        assert not came["refused"], came
        # An index run says nothing of when it calls; the provider knows.
        shares[path] = (
            came["answered"] / CALLS * LATENCY_S / (seconds or came["last"] - came["first"])
        )
    shown = "   ".join(f"{path} {share:.3f}" for path, share in shares.items())
    print(f"{shown}   load {os.getloadavg()[0]:.0f}", flush=True)
    return shares


def tally(url: str) -> dict[str, float]:
    """What came to the provider since the last look."""
    said: dict[str, float] = httpx.get(f"{url}/tally").raise_for_status().json()
    return said


def texts() -> list[str]:
    """So many different texts that no cache knows them."""
    now = time.time_ns()
    return [f"passage {number} of {now}" for number in range(PASSAGES)]


def bare(url: str) -> float:
    """Seconds that the same calls take by eight threads with a client each."""
    batches = [texts()[at : at + BATCH] for at in range(0, PASSAGES, BATCH)]
    # Opening one reads the certificates of the world; that is no part of a call.
    clients = [httpx.Client(trust_env=False) for _ in range(CALLS)]

    def call(client: httpx.Client, mine: list[list[str]]) -> None:
        for batch in mine:
            body = {"model": MODEL, "input": batch, "encoding_format": "float"}
            body["dimensions"] = DIMENSION
            client.post(f"{url}/v1/embeddings", json=body).raise_for_status().json()

    with ThreadPoolExecutor(CALLS) as threads, Clock() as clock:
        parts = [batches[at::CALLS] for at in range(CALLS)]
        list(threads.map(call, clients, parts))
    for client in clients:
        client.close()
    return clock.seconds


def through_service(service: str, url: str) -> float:
    """Seconds of requests as the indexer makes them: 128 passages, as many under way as the card
    says."""
    from seoga.contracts.embedding import EmbeddingClient, Passage, PassageVectors
    from seoga.models import EmbeddingSpec

    client = EmbeddingClient(service)
    spec = EmbeddingSpec("openai", MODEL, url, batch_size=BATCH, dimension=DIMENSION)
    lanes = client.card(spec).lanes
    client.embed_query("ready", spec)
    tally(url)
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


def index_run(url: str, environment: dict[str, str]) -> float:
    """Vectors of a knowledge base of so many files; 0: the provider saw how long it took, from the
    first call to the last answer."""
    with tempfile.TemporaryDirectory(prefix="seoga-bench-docs-") as name:
        docs = Path(name)
        for number, text in enumerate(texts()):
            (docs / f"{number}.md").write_text(text, encoding="utf-8")
        folder = Path(environment["SEOGA_BASE_PATH"]) / docs.name
        folder.mkdir(parents=True)
        embedding = {"provider": "openai", "model": MODEL, "dimension": DIMENSION}
        embedding |= {"baseUrl": url, "batchSize": BATCH}
        config = {"id": docs.name, "sourcePaths": [str(docs)], "embedding": embedding}
        (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
        command = [*SEOGA, "exec", "--path", str(folder)]
        subprocess.run(command, env=environment, check=True, capture_output=True)
    return 0.0


@contextmanager
def provider() -> Iterator[str]:
    """The quick provider, until the block ends."""
    command = [sys.executable, str(Path(__file__).with_name("quick_provider.py"))]
    command += [str(LATENCY_S), str(CALLS)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.terminate()
        process.communicate(timeout=30)


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
