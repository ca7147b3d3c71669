"""`seoga extract` as a person uses it: sections with places, JSON, pipes, and what is no file."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path

import pytest

from seoga.cli.main import invoke


def ran(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = invoke(["extract", *words])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_sections_are_shown_with_kind_place_and_headings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.md"
    file.write_text("# 제목\n\n본문\n\n| a |\n|---|\n| 1 |\n", encoding="utf-8")
    code, out, err = ran(capsys, str(file))
    assert code == 0
    assert out.splitlines() == [
        "markdown  제목",
        "",
        "[heading · line 1 · 제목]",
        "# 제목",
        "",
        "[paragraph · line 3 · 제목]",
        "본문",
        "",
        "[table · lines 5-7 · 제목]",
        "| a |",
        "|---|",
        "| 1 |",
    ]
    assert "3 sections" in err
    assert not (tmp_path / "base").exists()


def test_json_is_one_object_even_of_a_file_that_breaks_off(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.pdf"
    file.write_bytes(b"%PDF-1.7\nnothing else")
    code, out, _ = ran(capsys, str(file), "--json")
    said = json.loads(out)
    assert code == 1
    assert (said["sections"], said["error"]["reason"]) == ([], "corrupt")
    file.write_text("words", encoding="utf-8")
    code, out, _ = ran(capsys, "--json", str(file))
    said = json.loads(out)
    assert (code, said["error"]) == (0, None)
    assert said["document"]["format"] == "text"
    assert said["sections"][0]["place"] == {"line_start": 1, "line_end": 1}


def test_what_is_piped_in_is_read_and_may_have_a_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def piped(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    piped(b"<!doctype html><h1>T</h1>")
    assert ran(capsys, "-")[1].startswith("html  T")
    piped(b"a,b\n1,2\n")
    assert "| a | b |" in ran(capsys, "-", "--name", "x.csv")[1]


@pytest.mark.parametrize(
    ("name", "code", "says"),
    [
        ("none.md", 1, "none.md is not there"),
        ("folder", 64, "is a folder"),
        ("loop", 1, "is a link that leads nowhere"),
        ("pipe", 64, "is not a regular file"),
    ],
)
def test_what_is_no_file_is_said_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, code: int, says: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe")
    got, out, err = ran(capsys, str(tmp_path / name))
    assert (got, out) == (code, "")
    assert says in err
    assert "Traceback" not in err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.md"
    file.write_text("x")
    file.chmod(0)
    code, _, err = ran(capsys, str(file))
    assert code == 1
    assert "permission" in err.lower()


def test_a_blank_file_says_that_there_is_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.txt"
    file.write_text("\n \n")
    code, _, err = ran(capsys, str(file))
    assert code == 0
    assert "no text" in err
