"""A provider that is dead, or dies while calls are in flight: few calls, however much there is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from seoga.contracts.deadline import within
from seoga.contracts.embedding import Context, Excerpt, Passage, PassageVectors, of_provider
from seoga.errors import EmbeddingFailed, MissingDependency, ProviderFault
from seoga.models import ContextSpec, EmbeddingSpec
from seoga_embedding.engine import EmbeddingEngine
from seoga_embedding.remote.faults import CallFailed, NotMade, Trouble
from seoga_embedding.remote.gate import FAILURES, Gate
from seoga_embedding.remote.spread import spread

from .conftest import Fake, bad, good, passages

Start = Callable[..., EmbeddingEngine]
Spec = Callable[..., EmbeddingSpec]
Answers = list[Any]
CALLS = 8
PART = 64


def excerpts(count: int) -> list[Excerpt]:
    return [Excerpt(f"Passage number {n} of a long document.") for n in range(count)]


def asked(fake: Fake) -> int:
    return len(fake.calls("/v1/"))


def embeds(engine: EmbeddingEngine, fake: Fake, count: int) -> Answers:
    spec = EmbeddingSpec("openai", "text-embedding-3-small", fake.url, batch_size=4)
    return list(engine.embed_passages(passages(count), spec))


def contextualizes(engine: EmbeddingEngine, fake: Fake, count: int) -> Answers:
    spec = ContextSpec("openai", "some-llm", fake.url)
    return list(engine.contextualize(excerpts(count), spec))


WORK = pytest.mark.parametrize("work", [embeds, contextualizes])


@WORK
@pytest.mark.parametrize("count", [1, 100, 2000])
@pytest.mark.parametrize("kind", ["status", "cut"])
def test_a_dead_provider_costs_at_most_five_calls_whatever_there_is_to_do(
    fake: Fake, start: Start, work: Callable[..., Answers], count: int, kind: str
) -> None:
    engine = start(provider_calls=CALLS)
    fake.faults({"kind": kind, "status": 503, "times": 10**6})

    def give_up() -> None:
        with pytest.raises(EmbeddingFailed) as caught:
            work(engine, fake, count)
        assert caught.value.fault is ProviderFault.OUTAGE

    # Several files of a run are at work at once, and each comes back for more.
    threads = [threading.Thread(target=lambda: [give_up() for _ in range(3)]) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert 1 <= asked(fake) <= 5


@WORK
@pytest.mark.parametrize("count", [100, 2000])
def test_one_that_dies_on_the_way_costs_what_is_in_flight_and_five(
    fake: Fake, start: Start, work: Callable[..., Answers], count: int
) -> None:
    engine = start(provider_calls=CALLS)
    alive = 10
    fake.faults({"kind": "slow", "seconds": 0.0, "times": alive}, {"status": 503, "times": 10**6})
    results = work(engine, fake, count)
    kept = [one for one in results if isinstance(one, (PassageVectors, Context))]
    assert len(kept) == (4 * alive if work is embeds else alive)
    assert all(of_provider(one) for one in results if isinstance(one, EmbeddingFailed))
    assert asked(fake) <= alive + CALLS + 5
    # What is asked again stands in the cache, or meets the open circuit.
    with suppress(EmbeddingFailed):
        work(engine, fake, count)
    assert asked(fake) <= alive + CALLS + 5


@WORK
def test_calls_that_fail_together_are_one_failure_and_the_work_goes_on(
    fake: Fake, start: Start, work: Callable[..., Answers]
) -> None:
    engine = start(provider_calls=CALLS)
    work(engine, fake, 1)
    fake.faults({"status": 503, "times": CALLS, "after": 0.5})
    results = work(engine, fake, 64)
    assert not any(isinstance(one, EmbeddingFailed) for one in results)


@WORK
@pytest.mark.parametrize("status", [404, 401])
def test_what_would_be_the_same_for_all_is_asked_once(
    fake: Fake, start: Start, work: Callable[..., Answers], status: int
) -> None:
    fake.faults({"status": status, "times": 10**6, "message": "model 'm' not found"})
    with pytest.raises((MissingDependency, EmbeddingFailed)):
        work(start(provider_calls=CALLS), fake, 200)
    assert asked(fake) == 1


def test_a_storm_of_rate_limits_ends_nothing_while_some_calls_pass(
    fake: Fake, start: Start
) -> None:
    engine = start(provider_calls=CALLS)
    storm = [{"status": 429, "times": 3, "retry_after": "0.05"}, {"kind": "slow", "seconds": 0.0}]
    fake.faults({"kind": "slow", "seconds": 0.0}, *storm * 8)
    results = embeds(engine, fake, 400)
    assert len(good(results)) == 400


def test_a_provider_that_is_dead_or_slow_takes_nothing_from_another(
    fake: Fake, start: Start, spec_of: Spec
) -> None:
    """Four knowledge bases wait for a provider that hangs, their places and threads all taken."""
    engine = start(provider_calls=2)
    fake.faults({"kind": "slow", "seconds": 20.0, "times": 99, "path": "/slow/"})
    slow = spec_of("openai", base_url=f"{fake.url}/slow", batch_size=1)
    llm = ContextSpec("openai", "some-llm", f"{fake.url}/slow")

    def hang(work: Callable[[], object]) -> None:
        with suppress(EmbeddingFailed):
            work()

    hung = [
        threading.Thread(target=hang, args=(work,), daemon=True)
        for work in (
            partial(engine.embed_passages, passages(4), slow),
            *[partial(engine.contextualize, excerpts(4), llm)] * 3,
        )
    ]
    for thread in hung:
        thread.start()
    deadline = time.monotonic() + 10
    while not fake.calls("/slow/"):
        assert time.monotonic() < deadline
        threading.Event().wait(0.01)
    assert len(good(list(engine.embed_passages(passages(200), spec_of("openai"))))) == 200
    assert len(contextualizes(engine, fake, 20)) == 20
    assert all(thread.is_alive() for thread in hung)
    engine.close()


def passed(gate: Gate) -> None:
    with gate.turn(""):
        pass


def failed(gate: Gate, error: CallFailed) -> None:
    with pytest.raises(CallFailed), gate.turn(""):
        raise error


def test_one_call_at_a_time_until_the_provider_has_answered() -> None:
    gate = Gate("p", CALLS)
    entered, leave = threading.Event(), threading.Event()

    def first() -> None:
        with gate.turn(""):
            entered.set()
            leave.wait(10)

    thread = threading.Thread(target=first)
    thread.start()
    assert entered.wait(10)
    assert gate._pause(False, time.monotonic()) > 0
    leave.set()
    thread.join(10)
    assert gate.known
    assert gate._width == CALLS


def test_told_to_slow_down_half_as_many_go_and_then_one_more_for_each_that_passes() -> None:
    gate = Gate("p", CALLS)
    passed(gate)
    failed(gate, CallFailed(Trouble.RATE, "slow down", wait_s=0.001))
    assert gate._width == CALLS // 2
    passed(gate)
    assert gate._width == CALLS // 2 + 1
    for _ in range(CALLS):
        passed(gate)
    assert gate._width == CALLS


def test_an_open_circuit_wakes_those_who_wait_for_a_turn() -> None:
    gate = Gate("p", 1)
    ended: list[CallFailed] = []

    def wait() -> None:
        try:
            passed(gate)
        except CallFailed as error:
            ended.append(error)

    for _ in range(FAILURES - 1):
        failed(gate, CallFailed(Trouble.OUTAGE, "down"))
    waiting = threading.Thread(target=wait)
    with suppress(CallFailed), gate.turn(""):
        waiting.start()
        raise CallFailed(Trouble.OUTAGE, "down")
    waiting.join(10)
    assert isinstance(ended[0], NotMade)
    assert gate.calls == FAILURES


def test_nobody_in_a_long_line_is_forgotten() -> None:
    gate = Gate("p", CALLS)
    passed(gate)
    together, most, lock = 0, 0, threading.Lock()

    def work() -> None:
        nonlocal together, most
        for _ in range(5):
            with gate.turn(""):
                with lock:
                    together += 1
                    most = max(most, together)
                threading.Event().wait(0.001)
                with lock:
                    together -= 1

    threads = [threading.Thread(target=work) for _ in range(8 * CALLS)]
    started = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert gate.calls == 1 + 5 * len(threads)
    assert most <= CALLS
    # Whoever is not woken looks again only after five seconds: that many would take far longer.
    assert time.monotonic() - started < 60


def test_one_that_was_woken_and_gives_up_leaves_its_place_to_the_next() -> None:
    gate = Gate("p", 1)
    passed(gate)
    inside, leave, ended = threading.Event(), threading.Event(), threading.Event()

    def first() -> None:
        with gate.turn(""):
            inside.set()
            leave.wait(20)

    def impatient() -> None:
        with suppress(CallFailed), within(0.2):
            passed(gate)

    def last() -> None:
        passed(gate)
        ended.set()

    threads = [threading.Thread(target=one) for one in (first, impatient, last)]
    threads[0].start()
    assert inside.wait(20)
    for thread in threads[1:]:
        thread.start()
    threads[1].join(20)
    leave.set()
    assert ended.wait(20)
    for thread in threads:
        thread.join(20)


def test_nothing_begins_after_an_error_and_what_is_done_is_kept() -> None:
    begun: list[int] = []

    def work(piece: int) -> int:
        begun.append(piece)
        if piece == 3:
            raise ValueError(piece)
        return piece * 2

    results, error = spread(work, range(10), 1)
    assert isinstance(error, ValueError)
    assert results == [0, 2, 4, *[None] * 7]
    assert begun == [0, 1, 2, 3]
    assert spread(work, [], 4) == ([], None)


def test_pieces_are_at_work_at_once_and_come_back_in_order() -> None:
    together = threading.Barrier(4, timeout=10)

    def work(piece: int) -> int:
        together.wait()
        return piece

    assert spread(work, [3, 1, 2, 0], 4) == ([3, 1, 2, 0], None)


def test_bad_passages_of_batches_at_work_at_once_are_each_their_own(
    fake: Fake, start: Start
) -> None:
    fake.rules(refuse=["number 7", "number 1234"])
    results = embeds(start(provider_calls=CALLS), fake, 400)
    wrong = [n for n, one in enumerate(results) if isinstance(one, EmbeddingFailed)]
    assert wrong == [n for n in range(400) if str(n).startswith("7")]
    assert len(bad(results)) == len(wrong)
    assert isinstance(Passage("x"), Passage)
