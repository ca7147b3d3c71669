"""Runs report what they do, stop when asked, refuse what cannot be, and tell how they ended."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from seoga.contracts.indexing import Progress, RunResult
from seoga.errors import (
    Busy,
    ConfigError,
    InvalidArgument,
    LeaseLost,
    ServiceUnavailable,
    StorageError,
)
from seoga.kb import Kb
from seoga.storage.database import connect, open_writer
from seoga.storage.leases import WRITER, Lease
from seoga_indexer import engine

OLD = 1_600_000_000


def age(path: Path) -> None:
    """Makes a file older than the racy window."""
    os.utime(path, (OLD, OLD))


def test_progress_is_told_and_text_is_done_before_vectors(place: Any) -> None:
    place.configure("hashing")
    place.write("a.md", "apple")
    seen: list[Progress] = []
    place.embedding.before = lambda: seen and None
    place.run(progress=seen.append)
    first = next(progress for progress in seen if progress.text_done)
    assert (first.unit, first.done, first.total, first.chunks) == ("passages", 0, 1, 1)
    assert place.query("SELECT 1 FROM meta WHERE key = 'progress'") == []


def test_a_run_that_is_cancelled_keeps_what_is_done(place: Any, cancel: threading.Event) -> None:
    for number in range(50):
        place.write(f"f{number:02}.md", f"text {number}")

    def stop_at(_: Path, name: str) -> None:
        if name == "f20.md":
            cancel.set()

    place.extraction.before = stop_at
    result = place.run(cancel=cancel)
    assert (result.status, result.exit_code) == ("cancelled", 2)
    done = len(place.states())
    assert 10 <= done < 50
    rest = place.run()
    assert len(place.extraction.reads) == 50 - done
    assert rest.skipped == done
    place.check_whole()


def test_a_cancel_file_stops_the_run_and_does_not_stop_the_next(place: Any) -> None:
    for number in range(50):
        place.write(f"f{number:02}.md", f"text {number}")
    seen = threading.Event()

    def drop_file(_: Path, name: str) -> None:
        (place.kb.folder / "cancel").touch()
        seen.wait(0.05)

    place.extraction.before = drop_file
    assert place.run().status == "cancelled"
    place.extraction.before = lambda path, name: None
    (place.kb.folder / "cancel").touch()
    age(place.kb.folder / "cancel")
    assert place.run().status == "done"
    assert not (place.kb.folder / "cancel").exists()
    assert len(place.states()) == 50


def test_a_cancel_file_that_comes_while_the_run_starts_is_meant_for_it(
    place: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write("a.md", "text")

    def asked(kb: Kb, seconds: float) -> Lease:
        (kb.folder / "cancel").touch()
        return leased(kb, seconds)

    leased = engine._leased
    monkeypatch.setattr(engine, "_leased", asked)
    assert place.run().status == "cancelled"
    monkeypatch.undo()
    assert place.run().status == "done"


def test_a_damaged_index_is_told_with_the_way_out(place: Any) -> None:
    for number in range(60):
        place.write(f"f{number}.md", f"text {number}")
    place.run()
    with place.kb.db_path.open("r+b") as file:
        file.seek(4096 * 6)
        file.write(random.Random(1).randbytes(4096 * 4))
    with pytest.raises(StorageError, match="the database is corrupt") as told:
        place.run()
    assert "seoga doctor --deep" in told.value.hint


class Held:
    """A call that is made and not answered."""

    def __init__(self) -> None:
        self.made, self.answered = threading.Event(), threading.Event()

    def __call__(self, *_: Any, **__: Any) -> Any:
        self.made.set()
        self.answered.wait(60)
        raise ServiceUnavailable("nobody waits any more")


@pytest.fixture
def held() -> Iterator[Held]:
    call = Held()
    yield call
    call.answered.set()


def by_event(_: Any, cancel: threading.Event) -> None:
    cancel.set()


def by_file(place: Any, _: threading.Event) -> None:
    (place.kb.folder / "cancel").touch()


@pytest.mark.parametrize("ask", [by_event, by_file])
@pytest.mark.parametrize("call", ["extraction.describe", "embedding.card", "embedding.prompt_id"])
def test_a_port_that_does_not_answer_before_the_work_holds_up_no_stop(
    place: Any, cancel: threading.Event, held: Held, call: str, ask: Callable[..., None]
) -> None:
    place.configure("hashing", contextualizer={"provider": "openai", "model": "m1"})
    place.write("a.md", "apple")
    port, _, name = call.partition(".")
    setattr(getattr(place, port), name, held)
    ended: Future[RunResult] = Future()
    run = threading.Thread(target=lambda: ended.set_result(place.run(cancel=cancel)), daemon=True)
    run.start()
    assert held.made.wait(20)
    ask(place, cancel)
    result = ended.result(timeout=30)
    assert (result.status, result.exit_code, result.indexed) == ("cancelled", 2, 0)
    assert place.embedding.calls == 0
    assert place.query("SELECT status FROM runs") == [("cancelled",)]


def test_a_run_that_is_stopped_before_it_begins_asks_nobody(
    place: Any, cancel: threading.Event, held: Held
) -> None:
    place.configure("hashing")
    place.embedding.card = place.extraction.describe = held
    cancel.set()
    assert place.run(cancel=cancel).status == "cancelled"
    assert not held.made.is_set()


def test_vectors_that_are_awaited_hold_up_no_stop_and_none_are_asked_for_after_it(
    place: Any, cancel: threading.Event
) -> None:
    place.configure("hashing")
    for number in range(300):
        place.write(f"f{number:03}.md", f"text {number}")
    going = threading.Event()

    def hold() -> None:
        cancel.set()
        going.wait(60)

    place.embedding.before = hold
    started = time.monotonic()
    assert place.run(cancel=cancel).status == "cancelled"
    assert time.monotonic() - started < 20
    going.set()
    assert place.embedding.calls == 1


def test_a_calibration_is_left_when_the_run_is_stopped(
    place: Any, cancel: threading.Event, held: Held
) -> None:
    place.configure("hashing")
    for number in range(20):
        place.write(f"f{number:02}.md", f"text {number} of some more words than one")
    answer, place.embedding.embed_queries = place.embedding.embed_queries, held
    ended: Future[RunResult] = Future()
    run = threading.Thread(target=lambda: ended.set_result(place.run(cancel=cancel)), daemon=True)
    run.start()
    assert held.made.wait(30)
    cancel.set()
    assert ended.result(timeout=30).calibration == ""
    held.answered.set()
    assert set(place.states().values()) == {"Ready"}
    place.embedding.embed_queries = answer
    assert "Calibration" in place.run().calibration


def test_a_folder_in_place_of_the_cancel_file_is_named(place: Any) -> None:
    place.write("a.md", "text")
    (place.kb.folder / "cancel").mkdir()
    with pytest.raises(ConfigError, match="cancel is a folder"):
        place.run()
    (place.kb.folder / "cancel").rmdir()
    assert place.run().status == "done"


def test_a_run_names_the_files_that_gave_nothing_and_why(place: Any) -> None:
    place.write("a.md", "!corrupt")
    result = place.run()
    assert result.troubles == ("docs/a.md: corrupt (!corrupt)",)
    assert place.run().troubles == ()


def test_a_cancelled_scan_deletes_nothing(place: Any, cancel: threading.Event) -> None:
    for number in range(5):
        place.write(f"f{number}.md", f"text {number}")
    place.run()
    (place.docs / "f0.md").unlink()
    cancel.set()
    assert place.run(cancel=cancel).removed == 0
    assert len(place.states()) == 5


def test_a_second_run_at_the_same_time_is_refused(place: Any) -> None:
    place.write("a.md", "apple")
    place.run()
    open_writer(place.kb.db_path).close()
    with Lease.acquire(place.kb.db_path, WRITER, 30.0), pytest.raises(Busy):
        place.run()


def test_a_lost_lease_ends_the_run_before_it_writes(place: Any) -> None:
    place.write("a.md", "apple")
    place.run()
    place.write("b.md", "pear")

    def take_over(_: Path, name: str) -> None:
        conn = connect(place.kb.db_path)
        conn.execute("UPDATE leases SET token = token + 1, owner = 'other'")
        conn.close()

    place.extraction.before = take_over
    with pytest.raises(LeaseLost):
        place.run()
    assert list(place.states()) == ["a.md"]


def test_an_unknown_partial_is_refused_before_anything_happens(place: Any) -> None:
    with pytest.raises(InvalidArgument, match="embeding"):
        place.run(partial="embeding")
    assert not place.kb.db_path.exists()


def test_an_unknown_source_type_is_refused(place: Any) -> None:
    place.configure(sourcePaths=[], sources=[{"type": "confluence", "baseUrl": "https://x.test"}])
    with pytest.raises(ConfigError, match="confluence"):
        place.run()


def test_the_history_tells_how_runs_ended(place: Any, cancel: threading.Event) -> None:
    place.write("a.md", "apple")
    place.run()
    cancel.set()
    place.run(cancel=cancel)
    place.extraction.describe = lambda: 1 / 0
    with pytest.raises(ZeroDivisionError):
        place.run()
    assert place.query("SELECT status FROM runs ORDER BY id") == [
        ("done",),
        ("cancelled",),
        ("failed",),
    ]


def test_a_run_without_changes_is_quick(place: Any) -> None:
    for number in range(300):
        age(place.write(f"d{number % 7}/f{number}.md", f"text {number}"))
    place.run()
    started = time.monotonic()
    assert place.run().skipped == 300
    assert time.monotonic() - started < 2
