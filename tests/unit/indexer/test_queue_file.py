"""The JSON queue of the reference product is drained entry by entry, and nothing in it is lost."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from seoga.errors import ConfigError, NotFound, StorageError
from seoga.settings import environment
from seoga_indexer.orchestrator import drain
from seoga_indexer.queuefile import QueueFile

COMMAND = (sys.executable, "-m", "seoga.cli.main", "exec-queue")


def entry(kb_id: str = "kb", **more: Any) -> dict[str, Any]:
    base = {
        "kb_id": kb_id,
        "scheduled_at": "2026-03-01T12:00:00+00:00",
        "is_reindex": True,
        "force": False,
        "deferred": False,
    }
    return base | more


@pytest.fixture
def file(place: Any) -> Path:
    path: Path = place.base / ".deferred-queue.json"
    return path


def fill(file: Path, *entries: Any, **more: Any) -> None:
    file.write_text(json.dumps({"version": 1, "entries": list(entries), **more}))


def left(file: Path) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads(file.read_text())["entries"]
    return entries


def add_kb(place: Any, name: str) -> None:
    folder = place.base / name
    folder.mkdir()
    config = {"id": name, "sourcePaths": [str(place.docs)], "embedding": {"provider": ""}}
    (folder / "config.json").write_text(json.dumps(config))


def test_done_entries_leave_the_file_and_failing_ones_keep_their_error(
    place: Any, file: Path
) -> None:
    place.write("a.md", "apple")
    fill(file, entry("gone", note="kept"), entry(), entry("kb", force=True), writer="other")
    ended = drain(place.stack, queue_file=file)
    assert (ended["done"], ended["failed"]) == (1, 1)
    [trouble] = ended["troubles"]
    assert trouble["kb_id"] == "gone"
    assert place.found("apple") == ["a.md"]
    (kept,) = left(file)
    assert "gone" in kept.pop("last_error")
    assert kept == entry("gone", note="kept")
    assert json.loads(file.read_text())["writer"] == "other"


def test_an_entry_leaves_as_soon_as_it_is_done(place: Any, file: Path) -> None:
    place.write("a.md", "apple")
    add_kb(place, "second")
    fill(file, entry(), entry("second"))
    seen: list[list[str]] = []
    place.extraction.before = lambda path, name: seen.append([one["kb_id"] for one in left(file)])
    drain(place.stack, queue_file=file)
    assert seen == [["kb", "second"], ["second"]]
    assert left(file) == []


def test_deferred_entries_stay_until_the_sweep(place: Any, file: Path) -> None:
    place.write("a.md", "apple")
    fill(file, entry(deferred=True))
    assert drain(place.stack, queue_file=file)["done"] == 0
    assert left(file) == [entry(deferred=True)]
    assert drain(place.stack, queue_file=file, sweep_all=True)["done"] == 1
    assert left(file) == []


def test_what_was_started_by_a_dead_drainer_is_worked_on(place: Any, file: Path) -> None:
    place.write("a.md", "apple")
    fill(file, entry(started_at="2026-03-01T12:00:01+00:00", last_error="killed"))
    assert drain(place.stack, queue_file=file)["done"] == 1
    assert left(file) == []


@pytest.mark.parametrize("mode", [None, "embedding", "contextualization"])
def test_the_partial_mode_is_obeyed(place: Any, file: Path, mode: str | None) -> None:
    place.write("a.md", "apple")
    fill(file, entry(partial_mode=mode))
    drain(place.stack, queue_file=file)
    assert bool(place.states()) is (mode is None)
    assert place.engine.queue.state("kb").last.scope == (mode or "full")


BAD = (
    (entry(partial_mode="embeddings"), "partial_mode 'embeddings' is unknown"),
    (entry(partial_mode=7), "partial_mode '7' is unknown"),
    (entry(force="false"), 'force is "false"; allowed: true or false'),
    (entry("\ud800"), r"'\ud800' is no knowledge base id"),
    (entry("a\0b"), r"'a\x00b' is no knowledge base id"),
    (entry(partial_mode="\ud800"), r"partial_mode '\ud800' is unknown"),
    ("\ud800", r'it is "\ud800", not an object'),
    (entry("../../etc"), "'../../etc' is no knowledge base id"),
    ({"force": True}, "'' is no knowledge base id"),
    ("kb", 'it is "kb", not an object'),
)


@pytest.mark.parametrize(("bad", "why"), BAD)
def test_a_malformed_entry_goes_to_a_file_beside_and_the_others_are_done(
    place: Any, file: Path, bad: Any, why: str
) -> None:
    place.write("a.md", "apple")
    fill(file, bad, entry(), writer="other")
    ended = drain(place.stack, queue_file=file)
    assert (ended["done"], ended["failed"], ended["rejected"]) == (1, 0, 1)
    [trouble] = ended["troubles"]
    assert "entry 1 of the queue file" in trouble["error"]
    assert json.loads(file.read_text()) == {"version": 1, "entries": [], "writer": "other"}
    aside = file.with_name(file.name + ".rejected")
    assert str(aside) in trouble["error"]
    [kept] = left(aside)
    assert (kept["position"], kept["entry"]) == (1, bad)
    assert why in kept["reason"]
    assert not list(file.parent.glob(".*.tmp"))


def test_a_note_that_is_no_text_stays_as_it_was(place: Any, file: Path) -> None:
    fill(file, entry("gone", note="\ud800"))
    assert drain(place.stack, queue_file=file)["failed"] == 1
    assert left(file)[0]["note"] == "\ud800"


def test_a_pipe_or_a_socket_is_no_queue_and_blocks_nobody(place: Any, file: Path) -> None:
    os.mkfifo(file)
    with pytest.raises(NotFound, match="it is a named pipe, not a regular file"):
        drain(place.stack, queue_file=file)
    assert file.is_fifo()
    with pytest.raises(NotFound, match="it is a device, not a regular file"):
        drain(place.stack, queue_file=Path(os.devnull))
    near = Path(os.path.relpath(place.base / "s"))
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(near))
        with pytest.raises(NotFound, match="it is a socket, not a regular file"):
            drain(place.stack, queue_file=near)


def test_what_was_rejected_before_is_kept(place: Any, file: Path) -> None:
    for ending in (".rejected", ".rejected-2"):
        fill(file, "nothing", entry(deferred=True))
        drain(place.stack, queue_file=file)
        assert len(left(file.with_name(file.name + ending))) == 1
        assert left(file) == [entry(deferred=True)]


def test_a_file_that_cannot_be_written_is_said_before_the_work(place: Any, file: Path) -> None:
    place.write("a.md", "apple")
    fill(file, entry())
    with file.open() as held:
        # Readable, and no file can be made beside it.
        fixed = Path(f"/proc/self/fd/{held.fileno()}")
        with pytest.raises(StorageError, match="cannot be written"):
            drain(place.stack, queue_file=fixed)
    assert not place.extraction.reads
    assert left(file) == [entry()]


def test_a_run_that_could_read_no_source_leaves_its_entry_in_the_file(
    place: Any, file: Path
) -> None:
    place.write("a.md", "apple")
    drain(place.stack, queue_file=_filled(file))
    place.docs.rename(place.docs.with_name("unmounted"))
    ended = drain(place.stack, queue_file=_filled(file))
    assert (ended["done"], ended["failed"]) == (0, 1)
    assert "no source could be read" in ended["troubles"][0]["error"]
    assert "no source could be read" in left(file)[0]["last_error"]


def _filled(file: Path) -> Path:
    fill(file, entry())
    return file


def test_what_is_added_during_a_run_stays_for_the_next(place: Any, file: Path) -> None:
    place.write("a.md", "apple")
    fill(file, entry())
    later = entry(scheduled_at="2026-03-01T13:00:00+00:00")
    place.extraction.before = lambda path, name: fill(file, entry(), later)
    drain(place.stack, queue_file=file)
    assert left(file) == [later]


def test_an_id_in_another_case_names_the_same_knowledge_base(place: Any, file: Path) -> None:
    fill(file, entry("KB"))
    assert drain(place.stack, queue_file=file)["done"] == 1
    assert place.engine.queue.state("kb").last.status == "done"


@pytest.mark.parametrize(
    "text", ["{half a fi", '{"version": 1}', '{"entries": 7}', f"[{'9' * 5000}]", "[" * 100_000]
)
def test_corrupt_files_are_kept_aside_each_under_its_own_name(
    place: Any, file: Path, text: str
) -> None:
    for aside in (".bad", ".bad-2"):
        file.write_text(text)
        with pytest.raises(ConfigError, match="is no queue"):
            drain(place.stack, queue_file=file)
        assert file.with_name(file.name + aside).read_text() == text
        assert not file.exists()


def test_a_newer_version_is_refused_and_left_alone(place: Any, file: Path) -> None:
    file.write_text('{"version": 2, "entries": []}')
    with pytest.raises(ConfigError, match="version 2"):
        drain(place.stack, queue_file=file)
    assert file.read_text() == '{"version": 2, "entries": []}'


def test_a_missing_file_is_named(place: Any, file: Path) -> None:
    with pytest.raises(NotFound, match="deferred-queue"):
        drain(place.stack, queue_file=file)


def test_a_file_that_vanishes_during_the_run_stops_nobody(place: Any, file: Path) -> None:
    place.write("a.md", "apple")
    fill(file, entry())
    place.extraction.before = lambda path, name: file.unlink(missing_ok=True)
    assert drain(place.stack, queue_file=file)["done"] == 1


def test_a_list_without_a_version_is_drained_too(place: Any, file: Path) -> None:
    file.write_text(json.dumps([entry()]))
    drain(place.stack, queue_file=file)
    assert json.loads(file.read_text()) == []


def test_a_crash_between_queueing_and_working_loses_nothing(place: Any, file: Path) -> None:
    fill(file, entry())
    QueueFile(file, place.engine.queue).enqueue(deferred_too=False)
    assert left(file) == [entry()]
    assert drain(place.stack, queue_file=file)["done"] == 1
    assert left(file) == []


@pytest.mark.slow
def test_two_drainers_at_once_do_each_entry_once(place: Any, file: Path) -> None:
    names = [f"kb{number}" for number in range(6)]
    place.write("a.md", "apple")
    for name in names:
        add_kb(place, name)
    fill(file, *map(entry, names))
    drainers = [
        subprocess.Popen(
            [*COMMAND, "--queue-file", file, "--json"],
            env=environment(SEOGA_BASE_PATH=str(place.base)),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(2)
    ]
    answers = [one.communicate(timeout=120) for one in drainers]
    assert [one.returncode for one in drainers] == [0, 0], answers
    assert left(file) == []
    for name in names:
        assert [job.status for job in place.engine.queue.history(name)][-1] == "done"
