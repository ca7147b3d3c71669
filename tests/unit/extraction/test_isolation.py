"""A parser that crashes, hangs or eats memory costs one file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from seoga.errors import ExtractionFailed, Reason, ServiceUnavailable
from seoga.models import DocumentInfo, Section
from seoga.settings import Settings
from seoga_extraction.engine import ExtractionEngine

HOSTILE = Path(__file__).parent / "hostile"


@pytest.fixture
def seconds() -> float:
    """How long a file may take; short where that is what is tested."""
    return 60


@pytest.fixture
def attacked(monkeypatch: pytest.MonkeyPatch, seconds: float) -> Iterator[ExtractionEngine]:
    """An engine of one child whose formats are the attacks."""
    monkeypatch.setenv("PYTHONPATH", str(HOSTILE))
    settings = Settings(extract_workers=1, extract_timeout_s=seconds, extract_memory_mb=512)
    engine = ExtractionEngine(settings, package="seoga_hostile_formats")
    yield engine
    engine.close()


@pytest.fixture
def attack(tmp_path: Path) -> Callable[[str], Path]:
    def write(what: str) -> Path:
        path = tmp_path / what
        path.write_text(f"ATTACK {what}")
        return path

    return write


def until(condition: Callable[[], bool], seconds: float = 10) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        threading.Event().wait(0.02)
    return condition()


def children() -> list[psutil.Process]:
    found = psutil.Process().children()
    return [one for one in found if "seoga_extraction.worker" in " ".join(one.cmdline())]


def pid_of(engine: ExtractionEngine, path: Path) -> int:
    info = next(iter(list(engine.extract(path, path.name))))
    assert isinstance(info, DocumentInfo)
    return int(info.meta["pid"])


@pytest.mark.parametrize(
    ("what", "reason", "seconds"),
    [
        ("segfault", Reason.CRASH, 60),
        ("leave", Reason.CRASH, 60),
        ("killed", Reason.OUT_OF_MEMORY, 60),
        ("hang", Reason.TIMEOUT, 2),
        ("spin", Reason.TIMEOUT, 2),
        ("eat", Reason.OUT_OF_MEMORY, 60),
        ("nest", Reason.TOO_LARGE, 60),
        ("bug", Reason.CORRUPT, 60),
    ],
)
def test_a_bad_parser_fails_one_file_and_the_next_is_served(
    attacked: ExtractionEngine, attack: Callable[[str], Path], what: str, reason: Reason
) -> None:
    got: list[object] = []
    with pytest.raises(ExtractionFailed) as failed:
        got.extend(attacked.extract(attack(what), what))
    assert failed.value.reason is reason
    assert failed.value.message
    texts = [one.text for one in attacked.extract(attack("fine"), "x") if isinstance(one, Section)]
    assert texts == ["before", "sent", "after"]
    assert all(child.status() != psutil.STATUS_ZOMBIE for child in psutil.Process().children())


def test_what_was_sent_before_a_crash_stands(
    attacked: ExtractionEngine, attack: Callable[[str], Path]
) -> None:
    stream = attacked.extract(attack("segfault"), "x")
    seen = [next(stream), next(stream), next(stream)]
    assert [one.text for one in seen if isinstance(one, Section)] == ["before", "sent"]
    with pytest.raises(ExtractionFailed):
        next(stream)


@pytest.mark.parametrize("seconds", [1])
def test_work_that_is_long_by_its_nature_can_ask_for_more_time(
    attacked: ExtractionEngine, tmp_path: Path
) -> None:
    path = tmp_path / "x"
    path.write_text("PATIENCE")
    events = list(attacked.extract(path, "x"))
    assert [one.text for one in events if isinstance(one, Section)] == ["after"]


def test_a_parser_that_prints_does_not_break_the_stream(
    attacked: ExtractionEngine, attack: Callable[[str], Path]
) -> None:
    assert len(list(attacked.extract(attack("shout"), "x"))) == 4


def test_a_child_serves_many_files_and_a_swollen_one_is_replaced(
    attacked: ExtractionEngine, attack: Callable[[str], Path]
) -> None:
    first = pid_of(attacked, attack("fine"))
    assert pid_of(attacked, attack("leak")) == first
    assert pid_of(attacked, attack("fine")) != first


def test_memory_that_other_files_left_taken_costs_no_file(
    attacked: ExtractionEngine, attack: Callable[[str], Path]
) -> None:
    first = pid_of(attacked, attack("reserve"))
    events = list(attacked.extract(attack("reserve"), "x"))
    texts = [one.text for one in events if isinstance(one, Section)]
    assert texts == ["before", "sent", "after"]
    assert pid_of(attacked, attack("fine")) != first


def test_a_child_killed_while_idle_is_replaced_without_an_error(
    attacked: ExtractionEngine, attack: Callable[[str], Path]
) -> None:
    pid = pid_of(attacked, attack("fine"))
    os.kill(pid, signal.SIGKILL)
    assert until(lambda: psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    assert pid_of(attacked, attack("fine")) != pid


def test_leaving_a_stream_early_frees_the_child(
    attacked: ExtractionEngine, attack: Callable[[str], Path]
) -> None:
    stream = attacked.extract(attack("hang"), "x")
    next(stream)
    stream.close()
    assert len(list(attacked.extract(attack("fine"), "x"))) == 4


def test_threads_share_the_children_and_all_files_are_served(
    engine: ExtractionEngine, tmp_path: Path
) -> None:
    done: list[str] = []

    def work(number: int) -> None:
        for turn in range(20):
            path = tmp_path / f"{number}-{turn}.md"
            path.write_text(f"# T{number}.{turn}\n\nbody")
            info = next(iter(list(engine.extract(path, path.name))))
            assert isinstance(info, DocumentInfo)
            done.append(info.title)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(done) == sorted(f"T{number}.{turn}" for number in range(6) for turn in range(20))
    assert len(children()) <= 2


def test_a_closed_engine_has_no_children_and_says_so(tmp_path: Path) -> None:
    engine = ExtractionEngine(Settings(extract_workers=2))
    path = tmp_path / "a.txt"
    path.write_text("text")
    before = {one.pid for one in children()}
    list(engine.extract(path, "a.txt"))
    started = {one.pid for one in children()} - before
    assert started
    engine.close()
    assert not any(psutil.pid_exists(pid) for pid in started)
    with pytest.raises(ServiceUnavailable):
        list(engine.extract(path, "a.txt"))


def test_closing_in_the_middle_of_a_file_does_not_blame_the_file(
    attacked: ExtractionEngine, attack: Callable[[str], Path]
) -> None:
    stream = attacked.extract(attack("hang"), "x")
    assert [next(stream), next(stream), next(stream)]
    closing = threading.Timer(0.2, attacked.close)
    closing.start()
    with pytest.raises(ServiceUnavailable):
        next(stream)
    closing.join()


def test_children_end_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "hang").write_text("ATTACK hang")
    script = (
        "from pathlib import Path; import sys, time\n"
        "from seoga.settings import Settings\n"
        "from seoga_extraction.engine import ExtractionEngine\n"
        "engine = ExtractionEngine(Settings(extract_workers=1), 'seoga_hostile_formats')\n"
        "for event in engine.extract(Path(sys.argv[1]), 'x'):\n"
        "    print(getattr(event, 'meta', {}).get('pid', ''), flush=True)\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "hang")],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(HOSTILE)},
    )
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert until(lambda: not psutil.pid_exists(pid))


def test_nothing_starts_before_the_first_file() -> None:
    before = len(children())
    engine = ExtractionEngine(Settings(extract_workers=4))
    assert engine.describe()["formats"]["markdown"]["available"]
    assert len(children()) == before
    engine.close()
