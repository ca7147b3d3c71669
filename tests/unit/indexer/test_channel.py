"""What the threads of a run pass work through."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from seoga_indexer.channel import Channel, Stop, Stopped, Tally

# No wait below has an end of its own: who is not woken fails the test by this.
PATIENCE_S = 20.0


def _waiting(call: Callable[[], object]) -> tuple[threading.Thread, list[type[BaseException]]]:
    ended: list[type[BaseException]] = []

    def run() -> None:
        try:
            call()
        except Stopped as error:
            ended.append(type(error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, ended


@pytest.mark.parametrize("waits_for", ["value", "room", "work"])
def test_whoever_waits_goes_on_when_the_run_ends(waits_for: str) -> None:
    stop = Stop()
    channel: Channel[int] = Channel(1, stop)
    tally = Tally(stop)
    if waits_for == "room":
        channel.put(1)
    tally.begin()
    calls = {"value": channel.get, "room": lambda: channel.put(2), "work": tally.wait}
    waiters = [_waiting(calls[waits_for]) for _ in range(3)]
    stop.set()
    for thread, ended in waiters:
        thread.join(PATIENCE_S)
        assert ended == [Stopped]


def test_values_come_in_order_and_room_is_made_for_who_waits() -> None:
    channel: Channel[int] = Channel(2, Stop())
    thread, ended = _waiting(lambda: [channel.put(number) for number in range(50)])
    assert [channel.get() for _ in range(50)] == list(range(50))
    thread.join(PATIENCE_S)
    assert not ended
    assert channel.poll(0) is None


def test_nothing_new_is_taken_after_the_end_but_what_is_there_can_be_polled() -> None:
    stop = Stop()
    channel: Channel[int] = Channel(2, stop)
    channel.put(1)
    stop.set()
    with pytest.raises(Stopped):
        channel.put(2)
    with pytest.raises(Stopped):
        channel.get()
    assert channel.poll(0) == 1
