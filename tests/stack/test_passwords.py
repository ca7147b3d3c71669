"""Encrypted documents wait for a person, open once their password is given, and nothing leaks."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pymupdf
import pytest

from seoga import metrics
from seoga.kb import find_kb
from seoga.settings import Settings
from seoga.storage.database import open_reader
from seoga.wiring import Stack

SECRET = "열려라-Sesame-4711"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "open.md").write_text("# Open\n\nfor everybody", encoding="utf-8")
    with pymupdf.open() as document:
        document.new_page().insert_text((72, 72), "the vault holds marmalade")
        document.save(
            str(folder / "vault.pdf"),
            encryption=pymupdf.PDF_ENCRYPT_AES_256,
            user_pw=SECRET,
            owner_pw="other",
        )
    return folder


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "passwords.txt"
    path.write_text("not this one\n", encoding="utf-8")
    return path


@pytest.fixture
def stack(docs: Path, base_path: Path, file: Path) -> Iterator[Stack]:
    folder = base_path / "kb"
    folder.mkdir()
    config = {"id": "kb", "sourcePaths": [str(docs)], "embedding": {"provider": ""}}
    (folder / "config.json").write_text(json.dumps(config))
    made = Stack(Settings(base_path=base_path, extract_workers=1, passwords_file=str(file)))
    yield made
    made.close()


def rows(base: Path) -> dict[str, tuple[str, str, str]]:
    with closing(open_reader(find_kb(base, "kb").db_path)) as conn:
        found = conn.execute("SELECT path, state, reason, detail FROM files").fetchall()
    return {path: (state, reason, detail) for path, state, reason, detail in found}


def test_a_run_goes_on_without_its_passwords_file_and_opens_the_rest_once_it_is_there(
    stack: Stack, base_path: Path, file: Path
) -> None:
    file.unlink()
    first = stack.indexing.run_kb(find_kb(base_path, "kb"))
    assert (first.indexed, first.needs_action, first.failed) == (1, 1, 0)
    state, reason, detail = rows(base_path)["vault.pdf"]
    assert (state, reason) == ("NeedsAction", "encrypted")
    assert f"SEOGA_PASSWORDS_FILE={file}: there is no such file" in detail

    file.write_bytes(f"{SECRET}\n".encode() + b"\xff")
    assert stack.indexing.run_kb(find_kb(base_path, "kb")).tried == 0
    file.write_text(f"{SECRET}\n", encoding="utf-8")
    assert stack.indexing.run_kb(find_kb(base_path, "kb")).indexed == 1
    assert rows(base_path)["vault.pdf"][0] == "Ready"


def test_a_password_that_is_added_opens_what_waited_for_it(
    stack: Stack, base_path: Path, file: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    first = stack.indexing.run_kb(find_kb(base_path, "kb"))
    assert (first.indexed, first.needs_action) == (1, 1)
    state, reason, detail = rows(base_path)["vault.pdf"]
    assert (state, reason) == ("NeedsAction", "encrypted")
    assert "AES-256" in detail
    assert "SEOGA_PASSWORDS_FILE" in detail
    assert stack.indexing.run_kb(find_kb(base_path, "kb")).tried == 0

    file.write_text(f"not this one\n{SECRET}\n", encoding="utf-8")
    again = stack.indexing.run_kb(find_kb(base_path, "kb"))
    assert (again.indexed, again.needs_action, again.tried) == (1, 0, 1)
    assert rows(base_path)["vault.pdf"][0] == "Ready"

    said = io.StringIO()
    said.write(metrics.exposition("")[0].decode())
    said.writelines(capfd.readouterr())
    assert SECRET not in said.getvalue()
    for path in base_path.rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        assert SECRET.encode() not in data
        assert SECRET.encode("utf-16-le") not in data
