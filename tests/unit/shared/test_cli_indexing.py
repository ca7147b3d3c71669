"""`exec`, `index`, `exec-queue`: outputs, exit codes, busy and cancelled runs."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from seoga.kb import create_kb
from seoga.storage.database import open_writer
from seoga.storage.leases import Lease

KEYS = {
    "indexed",
    "skipped",
    "removed",
    "chunks",
    "elapsed_ms",
    "failed",
    "degraded",
    "deferred",
    "needs_action",
}


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "휴가.md").write_text("# 휴가\n\n연차 휴가는 규정에 따라 부여한다.\n", "utf-8")
    (folder / "errors.md").write_text("# Errors\n\nERR_TOKEN_EXPIRED is returned.\n", "utf-8")
    (folder / "empty.txt").write_text("", "utf-8")
    return folder


@pytest.fixture
def kb(base_path: Path, docs: Path) -> Path:
    """The folder of a KB over `docs`, keyword only, so that runs are quick."""
    folder = create_kb(base_path, docs).folder
    config = json.loads((folder / "config.json").read_text("utf-8"))
    config["embedding"] = {"provider": ""}
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    return folder


def test_exec_json_ends_with_one_object_of_all_counts(seoga: Any, kb: Path) -> None:
    done = seoga("exec", f"--path={kb}", "--json")
    assert done.code == 0
    assert set(done.json) >= KEYS
    assert (done.json["indexed"], done.json["skipped"], done.json["chunks"]) == (3, 0, 2)
    again = seoga("exec", "--path", kb, "--json").json
    assert (again["indexed"], again["skipped"]) == (0, 3)


def test_a_run_with_nothing_new_loads_nothing_that_only_work_needs(seoga: Any, kb: Path) -> None:
    heavy = (
        *("numpy", "httpx", "fastapi", "prometheus_client", "pathspec", "multiprocessing"),
        *("seoga_embedding", "seoga_extraction.detect", "seoga_extraction.speech.cuda"),
    )
    assert seoga("exec", "--path", kb, "--json").code == 0
    code = (
        "import json, sys; from seoga.cli.main import invoke;"
        f" code = invoke(['exec', '--path', {str(kb)!r}, '--json']);"
        f" print(json.dumps([code, *(name for name in {heavy!r} if name in sys.modules)]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True
    )
    result, loaded = map(json.loads, done.stdout.splitlines()[-2:])
    assert (result["indexed"], loaded) == (0, [0])


def test_exec_ends_with_run_and_state_lines(seoga: Any, kb: Path) -> None:
    done = seoga("exec", "--path", kb)
    run, state = done.out.splitlines()[-2:]
    assert re.fullmatch(r"Run: indexed=3 skipped=0 removed=0 chunks=2 elapsed=\d+\.\ds", run)
    assert state == "State: failed=0 degraded=0 deferred=0 needsAction=0 unsupported=0"


@pytest.mark.parametrize("partial", [["--partial=embedding"], ["--partial", "embedding"]])
def test_both_forms_of_partial_keep_the_index(seoga: Any, kb: Path, partial: list[str]) -> None:
    seoga("exec", "--path", kb)
    done = seoga("exec", "--path", kb, *partial, "--json")
    assert done.code == 0
    assert done.json["indexed"] == 0
    index = seoga("status", "--json").json["kbs"][0]["index"]
    assert index["chunks"] == 2


def test_a_wrong_partial_touches_nothing(seoga: Any, kb: Path) -> None:
    assert seoga("exec", "--path", kb, "--partial=embeding").code == 64
    assert not (kb / "rag.db").exists()


def test_a_busy_knowledge_base_exits_3(seoga: Any, kb: Path) -> None:
    seoga("exec", "--path", kb)
    database = kb / "rag.db"
    with closing(open_writer(database)), Lease.acquire(database):
        done = seoga("exec", "--path", kb)
    assert done.code == 3
    [said] = [line for line in done.err.splitlines() if line.startswith("error: ")]
    assert f"docs ({kb.name}) is in use by pid {os.getpid()} on {socket.gethostname()}" in said
    [hint] = [line for line in done.err.splitlines() if line.startswith("hint: ")]
    assert f"touch {kb / 'cancel'}" in hint


def test_a_run_in_which_everything_fails_exits_1_and_the_next_without_work_exits_0(
    seoga: Any, kb: Path, docs: Path
) -> None:
    for file in docs.iterdir():
        file.unlink()
    (docs / "broken.docx").write_bytes(b"PK\x03\x04" + bytes(200))
    first = seoga("exec", "--path", kb, "--json")
    assert (first.code, first.json["failed"]) == (1, 1)
    second = seoga("exec", "--path", kb, "--json")
    assert (second.code, second.json["failed"], second.json["skipped"]) == (0, 1, 1)


def test_unknown_config_keys_are_reported_with_the_nearest_name(seoga: Any, kb: Path) -> None:
    config = json.loads((kb / "config.json").read_text("utf-8"))
    (kb / "config.json").write_text(json.dumps({**config, "sourcePath": []}), "utf-8")
    done = seoga("exec", "--path", kb)
    assert done.code == 0
    assert "sourcePath" in done.err
    assert "sourcePaths" in done.err


def test_index_makes_the_knowledge_base_of_a_folder_once(seoga: Any, docs: Path, kb: Path) -> None:
    assert seoga("index", docs, "--json").json["indexed"] == 3
    assert seoga("index", docs, "--json").json["skipped"] == 3
    assert len(seoga("status", "--json").json["kbs"]) == 1


def test_index_without_a_folder_does_all_knowledge_bases(seoga: Any, kb: Path) -> None:
    assert seoga("index", "--json").json["indexed"] == 3


def test_exec_queue_does_what_add_queued(seoga: Any, docs: Path, kb: Path) -> None:
    assert seoga("add", docs, "--json").json["status"] == "queued"
    done = seoga("exec-queue", "--json")
    assert done.code == 0
    assert done.json["done"] == 1
    assert seoga("status", "--json").json["kbs"][0]["queue"]["status"] == "idle"


def test_status_names_what_gave_a_part_of_its_text(seoga: Any, docs: Path, kb: Path) -> None:
    book_with_a_damaged_chapter(docs / "book.epub")
    assert seoga("exec", "--path", kb).code == 0
    assert "Degraded: docs/book.epub (corrupt: " in seoga("status").out


def book_with_a_damaged_chapter(file: Path) -> None:
    names = ("first.xhtml", "second.xhtml")
    items = "".join(
        f'<item id="{name}" href="{name}" media-type="application/xhtml+xml"/>' for name in names
    )
    order = "".join(f'<itemref idref="{name}"/>' for name in names)
    package = f"<manifest>{items}</manifest><spine>{order}</spine>"
    container = '<container><rootfiles><rootfile full-path="c.opf"/></rootfiles></container>'
    with ZipFile(file, "w") as book:
        book.writestr("mimetype", "application/epub+zip")
        book.writestr("META-INF/container.xml", container)
        book.writestr("c.opf", f"<package>{package}</package>")
        for name in names:
            book.writestr(name, f"<html><body><p>words of {name}</p></body></html>")
    # Its checksum is wrong from here on.
    file.write_bytes(file.read_bytes().replace(b"words of second", b"words of s3cond"))


def test_status_tells_how_requests_ended(seoga: Any, docs: Path, kb: Path) -> None:
    seoga("add", docs)
    seoga("exec-queue")
    seoga("add", docs)
    config = (kb / "config.json").read_text("utf-8")
    (kb / "config.json").write_text("{", "utf-8")
    assert seoga("exec-queue").code == 1
    (kb / "config.json").write_text(config, "utf-8")
    queue = seoga("status", "--json").json["kbs"][0]["queue"]
    assert [job["status"] for job in queue["recent"]] == ["failed", "done"]
    assert "config.json" in queue["last_error"]
    said = seoga("status").out
    assert "request ended: failed, full" in said
    assert "request ended: done, full" in said


def test_a_queue_that_cannot_be_read_hides_no_index(seoga: Any, kb: Path, base_path: Path) -> None:
    (base_path / "queue.db").write_text("no database " * 100)
    [found] = seoga("status", "--json").json["kbs"]
    assert found["queue"]["status"] == "unknown"


def test_exec_queue_names_what_failed_and_exits_1(seoga: Any, docs: Path, kb: Path) -> None:
    seoga("add", docs)
    other = docs.with_name("other")
    other.mkdir()
    lost = seoga("add", other, "--json").json["kb_id"]
    other.rename(docs.with_name("away"))
    done = seoga("exec-queue", "--json")
    assert (done.code, done.json["done"], done.json["failed"]) == (1, 1, 1)
    assert [trouble["kb_id"] for trouble in done.json["troubles"]] == [lost]
    assert f"failed: {lost}: no source could be read" in done.err


def test_exec_queue_says_which_entries_of_a_file_it_rejected(
    seoga: Any, base_path: Path, kb: Path
) -> None:
    file = base_path / ".deferred-queue.json"
    file.write_text(json.dumps({"version": 1, "entries": [{"kb_id": kb.name}, {"force": True}]}))
    done = seoga("exec-queue", "--queue-file", file)
    assert done.code == 1
    assert "Queue: done=1" in done.out
    assert "entry 2 of the queue file" in done.err
    assert ".rejected" in done.err


def test_a_damaged_queue_is_seen_and_the_way_out_given(
    seoga: Any, docs: Path, kb: Path, base_path: Path
) -> None:
    seoga("add", docs)
    file = base_path / "queue.db"
    whole = file.read_bytes()
    file.write_bytes(whole[:4096] + b"\xa5" * (len(whole) - 4096))
    checks = {one["name"]: one for one in seoga("doctor", "--json").json["checks"]}
    assert checks["queue"]["status"] == "fail"
    assert "requests that wait" in checks["queue"]["hint"]
    done = seoga("exec-queue")
    assert done.code == 1
    assert "corrupt" in done.err
    assert "no index is" in done.err


def test_an_emptied_root_deletes_nothing_until_told(seoga: Any, kb: Path, docs: Path) -> None:
    seoga("exec", "--path", kb)
    for file in docs.iterdir():
        file.unlink()
    kept = seoga("exec", "--path", kb, "--json")
    # No source could be read, which a nightly job must notice.
    assert (kept.code, kept.json["removed"]) == (1, 0)
    assert "warning" in kept.err
    done = seoga("exec", "--path", kb, "--accept-deletions", "--json")
    assert (done.code, done.json["removed"]) == (0, 3)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_during_a_run_cancels_it_with_exit_2(
    seoga_process: Any, base_path: Path, docs: Path, number: signal.Signals
) -> None:
    for n in range(1500):
        (docs / f"{n}.md").write_text(f"# {n}\n\n문서 {n}번의 내용이다.\n" * 40, "utf-8")
    process: subprocess.Popen[bytes] = seoga_process(
        "exec", "--path", create_kb(base_path, docs).folder
    )
    assert process.stderr is not None
    assert b"files" in process.stderr.readline()
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert b"Traceback" not in err
    assert b"Run: " in out
