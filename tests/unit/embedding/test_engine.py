"""The engine: documents in children, queries here, nothing lost when a child dies."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import ClassVar

import numpy as np
import psutil
import pytest

from seoga.contracts.embedding import Passage, PassageVectors
from seoga.errors import EmbeddingFailed
from seoga.models import EmbeddingSpec
from seoga.settings import environment, settings
from seoga_embedding import pool
from seoga_embedding.batching import LEAST_CHARS, MOST_CHARS, batches, size_of
from seoga_embedding.engine import EmbeddingEngine
from seoga_embedding.pool import Child

SPEC = EmbeddingSpec()
SOME = [Passage(f"문서 {n}: a passage about topic {n}. " * 20, f"장 {n}") for n in range(60)]


def two_children() -> EmbeddingEngine:
    return EmbeddingEngine(settings().model_copy(update={"embed_processes": 2}))


@pytest.fixture(scope="module")
def engine() -> Iterator[EmbeddingEngine]:
    """Shared by the tests that leave it as it was: a model takes a second to load."""
    engine = two_children()
    yield engine
    engine.close()


@pytest.fixture
def fresh() -> Iterator[EmbeddingEngine]:
    """An engine that nobody used yet."""
    engine = two_children()
    yield engine
    engine.close()


def until(condition: Callable[[], bool], seconds: float = 20) -> None:
    """Waits for a condition, or fails at the deadline."""
    deadline = time.monotonic() + seconds
    tick = threading.Event()
    while not condition():
        assert time.monotonic() < deadline, "deadline passed"
        tick.wait(0.02)


def pids(engine: EmbeddingEngine) -> set[int]:
    """The children that an engine has now."""
    return set(engine.ready()["children_mb"])


def children(pid: int) -> list[psutil.Process]:
    """Live embedding children of a process."""
    found = []
    for child in psutil.Process(pid).children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
            if "seoga_embedding.child" in child.cmdline():
                found.append(child)
    return found


def vectors(results: list[PassageVectors | EmbeddingFailed]) -> list[PassageVectors]:
    assert all(isinstance(result, PassageVectors) for result in results)
    return [result for result in results if isinstance(result, PassageVectors)]


def test_each_passage_gets_unit_vectors_of_the_cards_dimension(engine: EmbeddingEngine) -> None:
    card = engine.card(SPEC)
    for result in vectors(engine.embed_passages(SOME, SPEC)):
        assert result.vectors.dtype == np.float32
        assert result.vectors.shape == (len(result.penalties), card.dimension)
        assert np.linalg.norm(result.vectors, axis=1) == pytest.approx(1, abs=1e-5)
        assert result.penalties[-1] == pytest.approx(0.05)


def test_a_run_again_gives_the_same_vectors(engine: EmbeddingEngine) -> None:
    first = vectors(engine.embed_passages(SOME, SPEC))
    again = vectors(engine.embed_passages(SOME, SPEC))
    for one, two in zip(first, again, strict=True):
        assert np.abs(one.vectors - two.vectors).max() < 1e-5


def test_a_query_is_near_the_passage_that_answers_it(engine: EmbeddingEngine) -> None:
    passages = [Passage("고양이는 하루에 열여섯 시간을 잔다."), Passage("금리가 다시 올랐다.")]
    query = engine.embed_query("How long does a cat sleep?", SPEC)
    cat, rates = (r.vectors @ query for r in vectors(engine.embed_passages(passages, SPEC)))
    assert cat.max() > rates.max()


def test_nothing_starts_before_it_is_needed(fresh: EmbeddingEngine) -> None:
    fresh.card(SPEC)
    assert fresh.embed_passages([], SPEC) == []
    assert fresh.ready()["children_mb"] == {}
    fresh.embed_query("질문", SPEC)
    assert fresh.ready()["children_mb"] == {}


def test_a_query_asked_again_is_not_computed_again(engine: EmbeddingEngine) -> None:
    first = engine.embed_query("같은  질문", SPEC)
    assert engine.embed_query("같은 질문", SPEC) is first
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 1.0


def test_models_do_not_share_cached_queries(engine: EmbeddingEngine) -> None:
    hashing = EmbeddingSpec(provider="hashing")
    assert engine.embed_query("x", SPEC).shape != engine.embed_query("x", hashing).shape


@pytest.mark.parametrize(
    "text", ["", "\0", "\ud800", "😀" * 500, "가" * 100_000, 'C++ " NOT ADR-0005', "a b " * 50_000]
)
def test_hostile_text_gives_a_vector_as_query_and_never_hangs_as_passage(
    engine: EmbeddingEngine, text: str
) -> None:
    assert np.isfinite(engine.embed_query(text, SPEC)).all()
    (result,) = engine.embed_passages([Passage(text, heading="\0")], SPEC)
    if text.strip("\0"):
        assert isinstance(result, PassageVectors)
    else:
        assert isinstance(result, EmbeddingFailed)


def test_a_child_that_was_killed_is_replaced_and_its_batch_done_again(
    fresh: EmbeddingEngine,
) -> None:
    expected = vectors(fresh.embed_passages(SOME, SPEC))
    victims = pids(fresh)
    assert victims
    for victim in victims:
        os.kill(victim, signal.SIGKILL)
    for one, two in zip(expected, vectors(fresh.embed_passages(SOME, SPEC)), strict=True):
        assert np.abs(one.vectors - two.vectors).max() < 1e-5
    assert not pids(fresh) & victims


def test_a_child_killed_in_the_middle_of_a_batch_loses_nothing(fresh: EmbeddingEngine) -> None:
    many = [Passage(f"{n} 가나다 라마바 " * 60) for n in range(400)]
    results: list[PassageVectors | EmbeddingFailed] = []
    work = threading.Thread(target=lambda: results.extend(fresh.embed_passages(many, SPEC)))
    work.start()
    until(lambda: bool(pids(fresh)))
    os.kill(pids(fresh).pop(), signal.SIGKILL)
    work.join(120)
    assert len(vectors(results)) == len(many)


def test_a_query_does_not_wait_behind_documents(fresh: EmbeddingEngine) -> None:
    fresh.embed_query("warm", SPEC)
    many = [Passage(f"{n} 가나다 라마바 " * 60) for n in range(400)]
    work = threading.Thread(target=fresh.embed_passages, args=(many, SPEC))
    work.start()
    until(lambda: bool(pids(fresh)))
    fresh.embed_query("지금 바로", SPEC)
    assert work.is_alive()
    work.join(120)


def test_children_work_at_low_priority_with_one_thread(engine: EmbeddingEngine) -> None:
    engine.embed_passages(SOME, SPEC)
    for child in map(psutil.Process, pids(engine)):
        assert child.nice() >= 10
        assert child.environ()["OPENBLAS_NUM_THREADS"] == "1"
    assert all(mb > 0 for mb in engine.ready()["children_mb"].values())


def test_closing_ends_the_children_and_can_be_done_twice(fresh: EmbeddingEngine) -> None:
    fresh.embed_passages(SOME, SPEC)
    ended = pids(fresh)
    assert ended
    fresh.close()
    assert not any(psutil.pid_exists(pid) for pid in ended)
    fresh.close()


class Stuck(Child):
    """A child that stands still before it has come up."""

    begun = threading.Event()
    seen: ClassVar[list[Child]] = []

    def __init__(self) -> None:
        super().__init__()
        self.process.send_signal(signal.SIGSTOP)
        self.seen.append(self)
        self.begun.set()


def test_closing_ends_children_that_have_not_come_up(
    fresh: EmbeddingEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "Child", Stuck)
    failed: Future[Exception] = Future()

    def work() -> None:
        with pytest.raises(EmbeddingFailed, match="closed") as caught:
            fresh.embed_passages(SOME, SPEC)
        failed.set_result(caught.value)

    threading.Thread(target=work, daemon=True).start()
    assert Stuck.begun.wait(20)
    started = time.monotonic()
    fresh.close()
    assert time.monotonic() - started < 20
    assert failed.result(timeout=20)
    assert all(child.process.poll() is not None for child in Stuck.seen)


PARENT = """
from seoga.contracts.embedding import Passage
from seoga.models import EmbeddingSpec
from seoga.settings import settings
from seoga_embedding.engine import EmbeddingEngine
engine = EmbeddingEngine(settings())
engine.embed_passages([Passage("x")], EmbeddingSpec())
print("up", flush=True)
input()
"""


def test_children_die_with_a_parent_that_was_killed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "up\n"
        orphans = children(parent.pid)
        assert orphans
        parent.kill()
    until(lambda: not any(child.is_running() for child in orphans))


def test_warming_loads_in_the_background(fresh: EmbeddingEngine) -> None:
    fresh.warm().join(60)
    started = time.process_time()
    fresh.embed_query("이미 올라와 있다", SPEC)
    assert time.process_time() - started < 0.3


@pytest.mark.parametrize(("count", "chars"), [(1, 10), (64, 1000), (256, 1000), (3, 100_000)])
def test_batches_keep_order_and_all_children_busy(count: int, chars: int) -> None:
    passages = [Passage("x" * chars + str(n)) for n in range(count)]
    parts = list(batches(passages, 2))
    assert [p for part in parts for p in part] == passages
    sizes = [sum(map(size_of, part)) for part in parts]
    assert max(sizes) <= max(MOST_CHARS, LEAST_CHARS) + chars
    if count * chars > 4 * LEAST_CHARS and count > 8:
        assert len(parts) % 2 == 0
        assert min(sizes) > 0.8 * max(sizes)


def test_a_slow_model_gets_little_at_once() -> None:
    passages = [Passage("x" * 380)] * 100
    parts = list(batches(passages, 2, 8 * 380))
    assert max(len(part) for part in parts) <= 9
    assert sum(map(len, parts)) == 100


def test_a_model_by_its_name_and_by_default_is_loaded_once(fresh: EmbeddingEngine) -> None:
    by_default = EmbeddingSpec("builtin")
    named = EmbeddingSpec("builtin", fresh.card(by_default).model, dimension=512)
    assert fresh._open(named)[0] is fresh._open(by_default)[0]
    assert fresh._open(EmbeddingSpec("hashing"))[0] is not fresh._open(by_default)[0]
