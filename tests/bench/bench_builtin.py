"""The builtin model against its bare library: the same windows, all cores, a process each with one
BLAS thread; then a query, and the start of the service."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
from bench import HANDED, Clock, clean_environment
from bench_provider import serving
from bench_run_md import bare_embedder

FILES = 60
ROUNDS = 3


def main() -> None:
    """Prints the ratio of each round: above 1 the service is the faster one."""
    from seoga.settings import one_thread_a_product

    # As every command does, before numpy comes.
    one_thread_a_product()
    from seoga.contracts.embedding import Passage
    from seoga.models import EmbeddingSpec
    from seoga.settings import Settings
    from seoga_embedding.engine import EmbeddingEngine
    from seoga_embedding.passages import texts_of
    from seoga_embedding.registry import open_provider

    spec, cores = EmbeddingSpec(), len(os.sched_getaffinity(0))
    row = open_provider(spec)[1]
    passages = [
        Passage(text[at : at + 1200], path.stem)
        for path in sorted((HANDED / "md").rglob("*.md"))[:FILES]
        for text in [path.read_text(encoding="utf-8", errors="replace")]
        for at in range(0, len(text), 1200)
    ]
    windows = sorted({text for one in passages for text, _ in texts_of(one, row)}, key=len)
    print(f"{len(passages)} passages, {len(windows)} windows, {cores} cores", flush=True)
    engine = EmbeddingEngine(Settings(embed_processes=cores))
    try:
        engine.embed_passages(passages[:256], spec)
        for _ in range(ROUNDS):
            bare = bare_embedder(windows, cores)
            with Clock() as ours:
                engine.embed_passages(passages, spec)
            load = os.getloadavg()[0]
            print(
                f"bare {len(windows) / bare:7.0f}/s   here {len(windows) / ours.seconds:7.0f}/s"
                f"   ratio {bare / ours.seconds:.2f} (mark: 0.95)   load {load:.0f}",
                flush=True,
            )
        clock, cpu = map(statistics.median, zip(*queries(engine, spec), strict=True))
        print(f"a query, warm: {clock:.2f} ms, {cpu:.2f} ms of them on a processor (mark: 5)")
    finally:
        engine.close()
    starts = [start() for _ in range(ROUNDS)]
    for what, took in zip(("ready", "its first answer"), zip(*starts, strict=True), strict=True):
        print(f"service to {what}: {min(took):.2f} s at best, {max(took):.2f} s (mark: 3)")


def queries(engine: Any, spec: Any) -> list[tuple[float, float]]:
    """Milliseconds of fifty different queries: by the clock, and in CPU time of this thread."""
    took = []
    for number in range(50):
        busy = time.thread_time()
        with Clock() as clock:
            engine.embed_query(f"질문 {number}: how many days of leave are there?", spec)
        took.append((1e3 * clock.seconds, 1e3 * (time.thread_time() - busy)))
    return took


def start() -> tuple[float, float]:
    """Seconds from the command to a service that is ready, and to its first answer."""
    with tempfile.TemporaryDirectory(prefix="seoga-bench-") as name:
        return _start(clean_environment(Path(name)))


def _start(environment: dict[str, str]) -> tuple[float, float]:
    started = time.perf_counter()
    with serving("embedding", environment) as url:
        while not httpx.get(f"{url}/ready").is_success:
            if time.perf_counter() - started > 60:
                raise TimeoutError("not ready within a minute")
        ready = time.perf_counter() - started
        asked = {"spec": {"provider": "builtin", "model": ""}, "text": "first"}
        httpx.post(f"{url}/v1/query", json=asked, timeout=60).raise_for_status()
        return ready, time.perf_counter() - started


if __name__ == "__main__":
    main()
