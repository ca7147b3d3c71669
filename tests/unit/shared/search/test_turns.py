"""Searches of one process take turns, and nobody waits for another's provider."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from seoga.search import turns

SOON_S = 10


@pytest.fixture(autouse=True)
def one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    only = threading.BoundedSemaphore(1)
    monkeypatch.setattr(turns, "_turns", lambda: only)


def test_a_second_search_waits_for_the_first() -> None:
    inside, over = threading.Event(), threading.Event()

    def second() -> bool:
        with turns.turn():
            inside.set()
            return over.is_set()

    with ThreadPoolExecutor(1) as pool:
        with turns.turn():
            waiting = pool.submit(second)
            assert not inside.wait(0.2)
            over.set()
        assert waiting.result(SOON_S)


def test_who_waits_for_a_provider_lets_another_search() -> None:
    def second() -> None:
        with turns.turn():
            pass

    with ThreadPoolExecutor(1) as pool, turns.turn():
        with turns.aside():
            pool.submit(second).result(SOON_S)
        # And has its turn again after that.
        waiting = pool.submit(second)
        assert not waiting.done()
    waiting.result(SOON_S)


def test_a_search_that_fails_gives_its_turn_back() -> None:
    for _ in range(3):
        with pytest.raises(ValueError, match="broken"), turns.turn(), turns.aside():
            raise ValueError("broken")
    with turns.turn():
        pass


def test_outside_a_search_nothing_is_given_up() -> None:
    with turns.aside():
        assert turns._turns().acquire(blocking=False)
        turns._turns().release()
