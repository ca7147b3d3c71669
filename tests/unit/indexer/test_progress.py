"""What a run tells of itself: files while text is read, then passages, and the time to go."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from seoga.cli.progress import ProgressView, counted, detail
from seoga.contracts.indexing import Progress
from seoga_indexer import embedstage, progress
from seoga_indexer.progress import Pace


def told(place: Any, monkeypatch: pytest.MonkeyPatch, **options: Any) -> list[Progress]:
    monkeypatch.setattr(progress, "EVERY_S", 0.0)
    seen: list[Progress] = []
    place.run(progress=seen.append, **options)
    return seen


def test_files_are_counted_with_the_one_in_hand_then_passages(
    place: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.configure("hashing")
    monkeypatch.setattr(embedstage, "BATCH", 4)
    for number in range(24):
        place.write(f"f{number:02}.md", f"text number {number}")
    place.embedding.before = lambda: threading.Event().wait(0.05) and None
    seen = told(place, monkeypatch)
    reading = [one for one in seen if not one.text_done]
    assert {(one.stage, one.unit) for one in reading} == {("extract", "files")}
    assert any(one.current.endswith(".md") for one in reading)
    assert all(one.done <= one.total for one in seen)
    vectors = [one for one in seen if one.text_done]
    assert {(one.stage, one.unit) for one in vectors} == {("embed", "passages")}
    assert {one.total for one in vectors} == {24}
    assert [one.done for one in vectors] == sorted(one.done for one in vectors)
    assert vectors[-1].done == 24
    going = [one for one in vectors if one.rate and 0 < one.done < 24]
    assert all(one.eta_s is not None and one.eta_s < 60 for one in going)


def test_passages_of_an_earlier_run_count_too(place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    place.configure("hashing")
    for number in range(6):
        place.write(f"f{number}.md", f"text {number}")
    place.embedding.refused = {"text"}
    place.run()
    place.embedding.refused = set()
    place.write("new.md", "text of today")
    seen = told(place, monkeypatch)
    assert (seen[-1].unit, seen[-1].done, seen[-1].total) == ("passages", 7, 7)


def test_the_pace_is_that_of_the_last_half_minute() -> None:
    pace = Pace()
    start = time.monotonic()
    done = 0
    for second in range(1, 100):
        done += 100 if second < 50 else 1
        rate = pace.at(start + second, done)
        if second == 40:
            assert rate == pytest.approx(100, rel=0.05)
    assert rate == pytest.approx(1, rel=0.05)


def test_a_line_says_counts_stage_file_rate_and_time_to_go() -> None:
    reading = Progress(
        "extract", done=12, total=40, counting=True, current="a/b.pdf", rate=2.5, chunks_pending=9
    )
    assert counted(reading) == "12/40+ files"
    assert detail(reading) == "extract · a/b.pdf · 9 chunks without vectors · 2.5/s"
    vectors = Progress("embed", "passages", done=300, total=1200, rate=10.0, eta_s=90.0)
    assert counted(vectors) == "300/1200 passages"
    assert detail(vectors) == "embed · 10.0/s · ETA 1:30"


def test_a_log_gets_a_line_at_the_beginning_and_then_one_in_ten_seconds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr("seoga.cli.progress.time.monotonic", lambda: now)
    with ProgressView() as view:
        for second in range(25):
            now = 1000.0 + second
            view(Progress("extract" if second < 5 else "embed", done=second, total=30))
    lines = capsys.readouterr().err.splitlines()
    assert [line.split("/")[0] for line in lines] == ["0", "10", "20"]


def test_a_quiet_view_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressView(quiet=True) as view:
        view(Progress("extract"))
    assert capsys.readouterr().err == ""
