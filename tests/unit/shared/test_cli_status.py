"""`status` names what gave no text and says what to do; names print as one line, whatever is in
them."""

from __future__ import annotations

import json
import os
import re
import socket
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from seoga.cli.progress import ProgressView
from seoga.contracts.indexing import Progress
from seoga.errors import Reason
from seoga.kb import create_kb
from seoga.models import ModelCard
from seoga.printable import printable, sentences
from seoga.storage.database import open_writer
from seoga.storage.documents import DocumentStore
from seoga.storage.generations import MAX_ATTEMPTS

CARD = ModelCard("builtin", "tiny", "digest", 4, "", "mean", 0.5)
EMPTY_ZIP = b"PK\x05\x06" + bytes(18)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("# 휴가\n\n연차 휴가는 규정에 따라 부여한다.\n", "utf-8")
    (folder / "empty.txt").write_text("", "utf-8")
    (folder / "archive.zip").write_bytes(EMPTY_ZIP)
    return folder


@pytest.fixture
def kb(base_path: Path, docs: Path) -> Path:
    folder = create_kb(base_path, docs).folder
    config = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps(config | {"embedding": {"provider": ""}}))
    return folder


def test_empty_files_are_named_and_text_counts_as_json_does(seoga: Any, kb: Path) -> None:
    seoga("exec", "--path", kb)
    [told] = seoga("status", "--json").json["kbs"]
    files = told["index"]["files"]
    assert (files["Ready"], files["Failed"]) == (2, 1)
    said = seoga("status").out
    assert "  files: 2 Ready (1 empty), 1 Failed (1 unsupported)\n" in said
    assert "Ready: docs/empty.txt (empty)" in said
    assert {"docs/empty.txt", "docs/archive.zip"} == {
        found["document"] for found in told["problem_files"]
    }


def test_status_says_what_to_do_about_each_reason_once(seoga: Any, kb: Path, docs: Path) -> None:
    assert f"hint: `seoga exec --path {kb}` indexes it." in seoga("status").out
    (docs / "another.zip").write_bytes(EMPTY_ZIP)
    seoga("exec", "--path", kb)
    said = seoga("status").out
    assert said.count(f"hint: unsupported: {Reason.UNSUPPORTED.way_out}") == 1
    [told] = seoga("status", "--json").json["kbs"]
    assert {found["hint"] for found in told["problem_files"]} == {
        Reason.UNSUPPORTED.way_out,
        Reason.EMPTY.way_out,
    }


def test_a_request_that_nobody_works_on_says_who_could(seoga: Any, kb: Path, docs: Path) -> None:
    seoga("add", docs)
    assert (
        "hint: No indexer works the queue: `seoga exec-queue` does it here." in seoga("status").out
    )


def test_more_files_than_are_named_are_counted(seoga: Any, kb: Path, docs: Path) -> None:
    for number in range(25):
        (docs / f"{number}.txt").write_text("")
    seoga("exec", "--path", kb)
    [told] = seoga("status", "--json").json["kbs"]
    assert (len(told["problem_files"]), told["problem_files_more"]) == (20, 7)
    assert "… and 7 more files" in seoga("status").out


def test_old_versions_are_told_with_the_way_out(seoga: Any, kb: Path) -> None:
    seoga("exec", "--path", kb)
    assert "stale" not in seoga("status").out
    config = json.loads((kb / "config.json").read_text("utf-8"))
    config |= {"chunking": {"targetChars": 500}, "embedding": {"provider": "hashing"}}
    (kb / "config.json").write_text(json.dumps(config))
    [told] = seoga("status", "--json").json["kbs"]
    assert told["stale"] == {"chunking": 1}
    said = seoga("status").out
    assert "stale: cut by another version or size of the chunker (1 files)" in said
    assert f"hint: Versions are old: `seoga exec --path {kb}` makes anew" in said
    seoga("exec", "--path", kb)
    assert "stale" not in seoga("status").out


def test_what_is_no_file_is_said(seoga: Any, kb: Path, docs: Path) -> None:
    os.mkfifo(docs / "pipe.md")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(docs / "socket.md"))
        done = seoga("exec", "--path", kb)
    assert done.code == 0
    assert "2 entries were not looked at" in done.err
    said = seoga("status").out
    assert "not looked at: docs/pipe.md (a named pipe, no file)" in said
    assert "not looked at: docs/socket.md (a socket, no file)" in said


@pytest.mark.parametrize("broken", ["{", '{"search": {"topK": 99}}', "[]", '{"id": "other"}'])
def test_a_broken_config_comes_with_the_way_out(seoga: Any, kb: Path, broken: str) -> None:
    (kb / "config.json").write_text(broken)
    done = seoga("exec", "--path", kb)
    assert done.code == 1
    [hint] = [line for line in done.err.splitlines() if line.startswith("hint: ")]
    assert hint.removeprefix("hint: ") in " ".join(seoga("status").out.split())


def test_passages_that_get_no_vector_and_a_run_that_failed_come_with_why(
    seoga: Any, kb: Path
) -> None:
    seoga("exec", "--path", kb)
    with closing(DocumentStore(open_writer(kb / "rag.db"))) as store:
        store.ensure_generation(CARD)
        waiting = store.pending(10)
        for _ in range(MAX_ATTEMPTS):
            store.fail_chunks([(chunk.id, "The model gave nothing.") for chunk in waiting])
        store.end_run(store.begin_run(), "failed", {}, "The disk is full.")
    said = seoga("status").out
    assert f"{len(waiting)} of them can get none and are found by words only" in said
    assert "Failed: docs/a.md (embedding: The model gave nothing.)" in said
    assert re.search(r"last run: failed, .* \(The disk is full\.\)\n", said)


def test_an_address_without_http_and_a_variable_almost_a_setting_are_told(seoga: Any) -> None:
    done = seoga("status", SEOGA_EMBEDDING_URL="localhost:8767")
    assert done.code == 1
    assert "SEOGA_EMBEDDING_URL='localhost:8767'" in done.err
    assert "http://host:port" in done.err
    done = seoga("doctor", SEOGA_PROVIDER_CALL="4", SEOGA_OF_ANOTHER_PROGRAM="1")
    assert "SEOGA_PROVIDER_CALL is no setting (Did you mean SEOGA_PROVIDER_CALLS?)" in done.out
    assert "SEOGA_OF_ANOTHER_PROGRAM" not in done.out


def test_names_with_control_characters_stay_on_their_line(
    seoga: Any, base_path: Path, docs: Path
) -> None:
    folder = base_path / "bad\nproblem: \x1b[2Jforged"
    folder.mkdir(parents=True)
    (folder / "rag.db").touch()
    (docs / "new\nline.zip").write_bytes(EMPTY_ZIP)
    create_kb(base_path, docs, "two\x1b[31m\nlines")
    assert seoga("index", "--json").code == 0
    done = seoga("status")
    assert "\x1b" not in done.out + done.err
    assert sum(line.startswith("problem: ") for line in done.out.splitlines()) == 1
    assert r"bad\nproblem: \x1b[2Jforged" in done.out
    assert r"new\nline.zip" in done.out


def test_text_that_may_be_printed_moves_no_cursor_and_turns_no_line() -> None:
    assert (
        printable("가\u202e나\x9b1m\tb\u2028", keep="\t") == r"가\u202e나\x9b1m" + "\tb" + r"\u2028"
    )
    assert sentences("is its disk mounted?", "If so, run again.") == (
        "is its disk mounted? If so, run again."
    )
    assert sentences("nothing", "") == "nothing."


@pytest.mark.parametrize(
    "command",
    [
        ["exec", "--path", ""],
        ["exec", "--path= "],
        ["status", "--config", ""],
        ["status", "--base-path", ""],
        ["index", ""],
        ["exec-queue", "--queue-file", ""],
        ["extract", ""],
    ],
)
def test_an_empty_path_is_not_the_working_directory(seoga: Any, command: list[str]) -> None:
    done = seoga(*command)
    assert done.code == 64
    assert "an empty path names nothing" in done.err


def test_an_empty_variable_is_one_that_is_not_set(seoga: Any, base_path: Path) -> None:
    assert seoga("status", SEOGA_SWEEP_AT="", SEOGA_LEASE_SECONDS="").code == 0


def test_no_passages_are_no_progress(capsys: pytest.CaptureFixture[str]) -> None:
    view = ProgressView()
    view(Progress("embed", unit="passages", text_done=True))
    assert capsys.readouterr().err == ""
    view(Progress("extract", counting=True))
    assert capsys.readouterr().err == "looking for files · extract\n"
