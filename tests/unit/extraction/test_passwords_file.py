"""The file of passwords itself: as it stands, bounded, and no obstacle to what is not encrypted."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pymupdf
import pytest

from seoga.errors import ConfigError, ExtractionFailed, Reason
from seoga.models import Section
from seoga.settings import Settings
from seoga_extraction import passwords
from seoga_extraction.engine import ExtractionEngine


def sealed() -> bytes:
    with pymupdf.open() as document:
        document.new_page().insert_text((72, 72), "inside")
        cipher = pymupdf.PDF_ENCRYPT_AES_256
        made: bytes = document.tobytes(encryption=cipher, user_pw="hunter0", owner_pw="x")
        return made


def test_the_file_is_read_as_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "p"
    path.write_bytes("\ufeff one \r\n\r\n둘\n one \n".encode())
    assert passwords.read(str(path)) == [" one ", "둘"]
    assert passwords.read("") == []


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"hunter2\xff", "not UTF-8"),
        (b"\n".join(b"hunter%d" % n for n in range(201)), "at most 200"),
    ],
)
def test_a_file_that_cannot_be_used_is_an_error_without_its_content(
    tmp_path: Path, data: bytes, said: str
) -> None:
    path = tmp_path / "p"
    path.write_bytes(data)
    with pytest.raises(ConfigError, match=said) as failed:
        passwords.read(str(path))
    assert f"SEOGA_PASSWORDS_FILE={path}" in failed.value.message
    assert "hunter" not in failed.value.message + failed.value.hint


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: None, "there is no such file"),
        (lambda path: path.mkdir(), "not a regular file"),
        (os.mkfifo, "not a regular file"),
        (lambda path: path.write_bytes(b"x" * (2 << 20)), "larger than a list"),
        (lambda path: path.write_bytes(b"hunter2\xff"), "not UTF-8"),
    ],
    ids=["none", "folder", "pipe", "large", "binary"],
)
def test_a_bad_passwords_file_keeps_encrypted_files_closed_and_no_others(
    tmp_path: Path, make: Callable[[Path], object], said: str
) -> None:
    path, locked, plain = tmp_path / "p", tmp_path / "a.pdf", tmp_path / "b.md"
    make(path)
    locked.write_bytes(sealed())
    plain.write_text("open", encoding="utf-8")
    engine = ExtractionEngine(Settings(passwords_file=str(path), extract_workers=1))
    with pytest.raises(ExtractionFailed, match=said) as failed:
        list(engine.extract(locked, "a.pdf"))
    assert failed.value.reason is Reason.ENCRYPTED
    assert f"SEOGA_PASSWORDS_FILE={path}" in failed.value.message
    assert failed.value.hint
    got = [one.text for one in engine.extract(plain, "b.md") if isinstance(one, Section)]
    assert got == ["open"]
    described = engine.describe()
    assert described["passwords"] == ""
    assert said in described["passwords_file"]["error"]
    assert "hunter" not in str(described) + failed.value.message
    engine.close()
