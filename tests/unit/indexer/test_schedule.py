"""Deferred entries are taken when the schedule says so, once, and not before."""

from __future__ import annotations

import json
import threading
from datetime import datetime, timedelta
from itertools import count
from typing import Any, cast
from zoneinfo import ZoneInfo

import pytest

from seoga.errors import ConfigError, StorageError
from seoga.settings import settings
from seoga_indexer import schedule
from seoga_indexer.lasting import Lasting
from seoga_indexer.schedule import Scheduler, latest_due

SEOUL, BERLIN = ZoneInfo("Asia/Seoul"), ZoneInfo("Europe/Berlin")


def at(text: str, zone: ZoneInfo = SEOUL) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone)


@pytest.mark.parametrize(
    ("spec", "now", "due"),
    [
        ("03:30", "2026-03-02T03:30", "2026-03-02T03:30"),
        ("03:30", "2026-03-02T03:29", "2026-03-01T03:30"),
        ("06:00, 18:00", "2026-03-02T17:59", "2026-03-02T06:00"),
        ("06:00,18:00", "2026-03-02T23:00", "2026-03-02T18:00"),
        ("06:00,18:00", "2026-03-02T01:00", "2026-03-01T18:00"),
        ("1h", "2026-03-02T17:59", "2026-03-02T17:00"),
        ("30m", "2026-03-02T17:59", "2026-03-02T17:30"),
    ],
)
def test_the_latest_due_time_is_the_last_one_that_has_come(spec: str, now: str, due: str) -> None:
    assert latest_due(spec, at(now)) == at(due)


def test_a_clock_change_skips_no_day() -> None:
    # On 2026-03-29 the clock in Berlin goes from 02:00 to 03:00: 02:30 is the moment of 03:30.
    assert latest_due("02:30", at("2026-03-30T01:00", BERLIN)).date().isoformat() == "2026-03-29"


@pytest.mark.parametrize("bad", ["3:30", "25:00", "6", "6h,7h", "0h", "hourly", "03:30,"])
def test_a_schedule_that_cannot_be_read_is_named(monkeypatch: pytest.MonkeyPatch, bad: str) -> None:
    monkeypatch.setenv("SEOGA_SWEEP_AT", bad)
    settings.cache_clear()
    with pytest.raises(ConfigError, match=r"SEOGA_SWEEP_AT=.*03:30"):
        settings()


def scheduler(place: Any, **changes: str) -> Scheduler:
    chosen = place.stack.settings.model_copy(update=changes)
    return Scheduler(chosen, place.engine.queue, place.engine)


def test_deferred_entries_become_due_at_the_time_and_not_before(place: Any) -> None:
    queue = place.engine.queue
    queue.enqueue("kb", deferred=True)
    schedule = scheduler(place, sweep_at="03:30")
    for now in ("2026-03-02T03:00", "2026-03-02T03:29"):
        schedule.tick(at(now))
        assert queue.state("kb").status == "deferred"
    schedule.tick(at("2026-03-02T03:31"))
    assert queue.state("kb").status == "queued"


def test_a_time_that_was_missed_while_nothing_ran_is_made_up_for(place: Any) -> None:
    queue = place.engine.queue
    scheduler(place, sweep_at="03:30").tick(at("2026-03-02T03:00"))
    queue.enqueue("kb", deferred=True)
    scheduler(place, sweep_at="03:30").tick(at("2026-03-05T12:00"))
    assert queue.state("kb").status == "queued"


def test_two_services_with_one_base_path_act_once(place: Any) -> None:
    schedules = [scheduler(place, check_at="1h") for _ in range(2)]
    asked: list[str] = []
    for one in schedules:
        one._indexing = Asked(asked)
        one.tick(at("2026-03-02T03:00"))
    for one in schedules:
        one.tick(at("2026-03-02T04:00"))
    assert asked == ["kb"]


class Asked:
    """Notes what is queued."""

    def __init__(self, asked: list[str]) -> None:
        self._asked = asked

    def enqueue(self, kb_id: str, **_: Any) -> None:
        self._asked.append(kb_id)


def test_the_regular_look_queues_every_knowledge_base(place: Any) -> None:
    place.write("a.md", "apple")
    (place.base / "second").mkdir()
    (place.base / "second" / "config.json").write_text(json.dumps({"id": "second"}))
    asked: list[str] = []
    schedule = scheduler(place, check_at="1h")
    schedule._indexing = Asked(asked)
    now = at("2026-03-02T03:00")
    schedule.tick(now)
    schedule.tick(now + timedelta(hours=1))
    assert asked == ["kb", "second"]


class Said:
    """In the place of a logger: keeps what is said."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, dict[str, Any]]] = []

    def error(self, event: str, **facts: Any) -> None:
        self.lines.append((event, facts))

    exception = error


def test_a_trouble_that_lasts_is_said_once_and_again_when_it_comes_back() -> None:
    said = Said()
    trouble = Lasting(cast(Any, said), "it cannot be done")
    for _ in range(3):
        trouble.tell(StorageError("damaged", "Move it away."))
    assert said.lines == [("it cannot be done", {"error": "damaged", "hint": "Move it away."})]
    trouble.tell(ValueError("another"))
    trouble.passed()
    trouble.tell(ValueError("another"))
    assert len(said.lines) == 3


def test_a_schedule_outlives_whatever_goes_wrong_at_a_tick(
    place: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedule, "TICK_S", 0.01)
    said, again = Said(), threading.Event()
    monkeypatch.setattr(schedule, "log", said)
    ticks = count()

    def due(*_: Any) -> bool:
        if next(ticks) > 2:
            again.set()
        raise OSError("no such folder")

    monkeypatch.setattr(place.engine.queue, "due", due)
    follows = scheduler(place, sweep_at="1s")
    follows.start()
    assert again.wait(20)
    follows.close()
    assert [event for event, _ in said.lines] == ["the schedule could not be followed"]
