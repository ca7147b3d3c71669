"""Searches while everything is indexed again: keyword and hybrid with the builtin model.

One process searches, as a gateway does, while `seoga exec --force` of another one reads, cuts and
embeds every file anew. Shown are the 50th and 95th percentile of the idle and of the busy time in
the same run and their ratios (mark: 2 for the 95th), and the errors. Searches come one at a time
with a pause between them: a client that asks without end would measure its own load.

FILES=n takes another number of files than 600; the run is stopped after two minutes.
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench import SEOGA, clean_environment
from bench_keyword_10k import SETS, markdown, passages

FILES = int(os.environ.get("FILES", "600"))
IDLE_QUERIES = 60
PAUSE_S = 0.05
MOST_S = 120
MODES = ("bm25", "auto")
MARK = 2.0

Times = dict[str, list[float]]


def make_files(folder: Path) -> list[str]:
    """Writes the files; returns questions, which are titles of their passages."""
    rng = random.Random(20261130)
    known = {lang: passages(sets) for lang, sets in SETS.items()}
    for number in range(FILES):
        lang = ("ko", "en")[number % 2]
        path = folder / lang / f"note-{number:05d}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(markdown(known[lang], rng), encoding="utf-8")
    titles = [title for passage in known.values() for title, _ in passage]
    return rng.sample(titles, 200)


def asked(questions: Iterator[str], search: Callable[[str, str], None], times: Times) -> None:
    """One question in every mode; adds the seconds that each took."""
    question = next(questions)
    for mode in MODES:
        started = time.perf_counter()
        search(question, mode)
        times[mode].append(time.perf_counter() - started)
        threading.Event().wait(PAUSE_S)


def percentile(seconds: list[float], share: int) -> float:
    return statistics.quantiles(seconds, n=100, method="inclusive")[share - 1]


def show(idle: Times, busy: Times) -> None:
    for mode in MODES:
        figures = [percentile(times[mode], n) * 1000 for n in (50, 95) for times in (idle, busy)]
        p50, busy50, p95, busy95 = figures
        print(
            f"{mode:5} p50 {p50:6.1f} → {busy50:6.1f} ms ({busy50 / p50:.2f} x)"
            f"   p95 {p95:6.1f} → {busy95:6.1f} ms ({busy95 / p95:.2f} x, mark {MARK:g})"
            f"   {len(idle[mode])} idle, {len(busy[mode])} busy"
        )


def cycle(questions: list[str]) -> Iterator[str]:
    while True:
        yield from questions


def measure(base: Path, questions: list[str], environment: dict[str, str]) -> None:
    os.environ.update(environment)
    from seoga.kb import list_kbs
    from seoga.search.engine import search
    from seoga.search.request import SearchRequest
    from seoga.settings import Settings
    from seoga.wiring import build_stack

    kbs = list_kbs(base).kbs
    stack = build_stack(Settings(base_path=base))

    def ask(question: str, mode: str) -> None:
        answer = search(kbs, SearchRequest(question, mode=mode), stack.embedding)
        # A search that fell back to keywords did not do the work that is measured.
        fallbacks.append(mode == "auto" and answer.mode != "hybrid")

    fallbacks: list[bool] = []
    endless = cycle(questions)
    asked(endless, ask, {mode: [] for mode in MODES})
    idle: Times = {mode: [] for mode in MODES}
    for _ in range(IDLE_QUERIES):
        asked(endless, ask, idle)
    busy: Times = {mode: [] for mode in MODES}
    command = [*SEOGA, "exec", "--path", str(kbs[0].folder), "--force", "--json"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        deadline = time.monotonic() + MOST_S
        while run.poll() is None and time.monotonic() < deadline:
            asked(endless, ask, busy)
        # What is measured by then is enough; a cancelled run ends with another code.
        run.terminate()
    show(idle, busy)
    print(f"errors 0, hybrid searches answered by keywords alone {sum(fallbacks)}")
    stack.close()


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="seoga-bench-") as name:
        docs, base = Path(name) / "docs", Path(name) / "base"
        questions = make_files(docs)
        environment = clean_environment(base)
        command = [*SEOGA, "index", str(docs)]
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
        measure(base, questions, environment)


if __name__ == "__main__":
    sys.exit(main())
