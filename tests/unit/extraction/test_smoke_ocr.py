"""`seoga smoke-ocr`: prints the text of a scan, or says which of all causes there is none for."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from seoga.cli.main import invoke
from seoga.settings import settings as current
from seoga_extraction.ocr import tesseract

from .drawn import opened, pdf_of, small_page

Smoke = Callable[..., int]

pytestmark = pytest.mark.skipif(
    not tesseract.installed("Hangul"), reason="tesseract with its Hangul script is not installed"
)


@pytest.fixture
def smoke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Smoke:
    """Runs the command on these bytes; variables are given whole."""

    def run(data: bytes, **variables: str) -> int:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        current.cache_clear()
        path = tmp_path / "scan.pdf"
        path.write_bytes(data)
        return invoke(["smoke-ocr", "--pdf", str(path)])

    return run


def scan() -> bytes:
    return pdf_of(small_page("The quarterly report 보고서"))


def locked() -> bytes:
    document = opened(scan())
    return bytes(document.tobytes(encryption=5, owner_pw="owner", user_pw="secret"))


def program_of_another_machine(folder: Path) -> Path:
    """The program with the number of another processor in its header."""
    folder.mkdir()
    real = Path(shutil.which("tesseract") or "")
    data = bytearray(real.read_bytes())
    # e_machine of the ELF header; 8 is MIPS.
    data[18:20] = b"\x08\x00"
    (folder / "tesseract").write_bytes(data)
    (folder / "tesseract").chmod(0o755)
    return folder


def script(folder: Path, text: str) -> Path:
    folder.mkdir()
    (folder / "tesseract").write_text(f"#!/bin/sh\n{text}\n")
    (folder / "tesseract").chmod(0o755)
    return folder


def test_the_text_is_printed_with_the_confidence_of_each_page(
    smoke: Smoke, capsys: pytest.CaptureFixture[str]
) -> None:
    assert smoke(scan()) == 0
    said = capsys.readouterr()
    assert "The quarterly report 보고서" in said.out
    assert "page 1: confidence 0." in said.err


@pytest.mark.parametrize(
    ("data", "variables", "says"),
    [
        (scan, {"PATH": "/nowhere"}, "The program tesseract is not installed"),
        (scan, {"SEOGA_OCR_LANGUAGE": "jpn"}, "The language jpn of tesseract is not installed"),
        (scan, {"SEOGA_OCR_PAGE_S": "0.01"}, "not recognised: The page was not recognised within"),
        (lambda: b"%PDF-1.7 cut off", {}, "unreadable PDF: "),
        (locked, {}, "unreadable PDF: "),
        (lambda: b"# Notes\n\nnothing of a PDF\n", {}, "is no PDF but"),
        (lambda: pdf_of(Image.new("L", (600, 800), 240)), {}, "empty result: "),
        (lambda: bytes(blank_pdf()), {}, "empty result: "),
    ],
    ids=["program", "language", "time", "broken", "locked", "no PDF", "picture", "blank"],
)
def test_each_cause_has_its_own_words(
    smoke: Smoke,
    capsys: pytest.CaptureFixture[str],
    data: Callable[[], bytes],
    variables: dict[str, str],
    says: str,
) -> None:
    assert smoke(data(), **variables) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert says in said.err
    assert "Traceback" not in said.err


def blank_pdf() -> bytes:
    document = opened()
    document.new_page()
    return bytes(document.tobytes())


def test_a_program_of_another_architecture_or_without_a_library_is_named(
    smoke: Smoke, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    other = program_of_another_machine(tmp_path / "mips")
    assert smoke(scan(), PATH=str(other)) == 1
    assert "made for another architecture" in capsys.readouterr().err
    lacking = script(tmp_path / "lacking", "echo libtesseract.so.5: no such file >&2; exit 127")
    assert smoke(scan(), PATH=str(lacking)) == 1
    said = capsys.readouterr().err
    assert "cannot start" in said
    assert "libtesseract.so.5: no such file" in said
