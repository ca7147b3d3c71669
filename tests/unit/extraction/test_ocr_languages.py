"""What tesseract said of its languages is believed as long as nothing there changes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from seoga_extraction.ocr import tesseract
from seoga_extraction.ocr.config import OcrConfig

PROGRAM = """#!/bin/sh
echo asked >> "{log}"
echo 'List of available languages in "{data}" (2):'
ls "{data}" | sed 's/.traineddata//'
"""


class Installed:
    """A program that answers as tesseract 5 does, its folder of data, and who asked it."""

    def __init__(self, root: Path) -> None:
        self.data, self.log, self.bin = root / "tessdata", root / "log", root / "bin"
        for folder in (self.data / "script", self.bin):
            folder.mkdir(parents=True)
        self.add("Hangul")
        self.program = self.bin / "tesseract"
        self.program.write_text(PROGRAM.format(log=self.log, data=self.data))
        self.program.chmod(0o755)
        self.kept = root / "cache" / "languages.json"

    def add(self, language: str) -> None:
        (self.data / f"{language}.traineddata").touch()

    def lacks(self, language: str = "Hangul") -> str:
        """As a process that begins now."""
        tesseract._answer.cache_clear()
        return tesseract.lacks(OcrConfig(language=language, kept=str(self.kept)).to_json())

    def starts(self) -> int:
        return self.log.read_text().count("asked") if self.log.exists() else 0


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installed:
    made = Installed(tmp_path)
    monkeypatch.setenv("PATH", f"{made.bin}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("TESSDATA_PREFIX", raising=False)
    return made


def test_the_program_is_started_once_for_many_processes(installed: Installed) -> None:
    assert [installed.lacks() for _ in range(3)] == ["", "", ""]
    assert installed.starts() == 1


def test_a_language_that_is_taken_away_is_missed_at_once(installed: Installed) -> None:
    assert installed.lacks() == ""
    (installed.data / "Hangul.traineddata").unlink()
    assert "Hangul" in installed.lacks()


def test_a_language_that_comes_is_found_at_once(installed: Installed) -> None:
    assert installed.lacks() == ""
    assert "jpn" in installed.lacks("jpn")
    installed.add("jpn")
    assert installed.lacks("Hangul+jpn") == ""


def test_another_program_or_another_folder_is_asked(
    installed: Installed, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed.lacks()
    installed.program.write_text("#!/bin/sh\necho 'no library' >&2\nexit 127\n")
    assert "no library" in installed.lacks()
    installed.program.write_text(PROGRAM.format(log=installed.log, data=installed.data))
    installed.lacks()
    before = installed.starts()
    monkeypatch.setenv("TESSDATA_PREFIX", str(installed.data))
    assert installed.lacks() == ""
    assert installed.starts() == before + 1


@pytest.mark.parametrize("damage", ["", "[]", "{", '{"stamp": 1}', '{"folder": 1, "stamp": []}'])
def test_whatever_is_wrong_with_what_is_kept_the_program_is_asked(
    installed: Installed, damage: str
) -> None:
    installed.lacks()
    installed.kept.write_text(damage)
    assert installed.lacks() == ""
    assert installed.starts() == 2


def test_an_answer_that_names_no_folder_is_not_kept(installed: Installed) -> None:
    text = installed.program.read_text().replace(f' in "{installed.data}"', "")
    installed.program.write_text(text)
    assert installed.lacks() == ""
    assert not installed.kept.exists()
