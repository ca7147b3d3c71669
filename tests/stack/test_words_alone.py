"""What README.md says of a knowledge base without an embedder, and of one that gets one later."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from seoga.storage.database import open_reader

ROOT = Path(__file__).resolve().parents[2]
SEOGA = Path(sys.executable).with_name("seoga")
# Nobody answers there: whatever asks the service of it fails.
NOBODY = "http://127.0.0.1:9"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "leave.md").write_text("# Leave\n\nEmployees have fifteen days of annual leave.\n")
    (folder / "minutes.md").write_text("# 회의\n\n회의록은 일 년 동안 저장한다.\n", "utf-8")
    for file in folder.iterdir():
        # One that was written a moment ago is looked at again, as it may have changed unseen.
        os.utime(file, (1_700_000_000, 1_700_000_000))
    return folder


@pytest.fixture
def kb(base_path: Path) -> Path:
    folder = base_path / "kb"
    folder.mkdir()
    return folder


def configure(kb: Path, docs: Path, **keys: object) -> None:
    (kb / "config.json").write_text(json.dumps({"id": "kb", "sourcePaths": [str(docs)], **keys}))


def seoga(*words: object, fails: bool = False, **environment: str) -> Any:
    done = subprocess.run(
        [SEOGA, *map(str, words), "--json"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode != 0) == fails, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def vectors(kb: Path) -> int:
    with closing(open_reader(kb / "rag.db")) as conn:
        found: int = conn.execute("SELECT count(*) FROM vectors").fetchone()[0]
        return found


def keys_of_the_readme() -> dict[str, Any]:
    section = (ROOT / "README.md").read_text("utf-8").partition("### Words alone\n")[2]
    found = re.search(r"```json\n(.*?)```", section, re.DOTALL)
    assert found is not None
    keys: dict[str, Any] = json.loads(found.group(1))
    return keys


def test_words_alone_need_no_embedder_and_vectors_come_later_without_reading_a_file(
    kb: Path, docs: Path
) -> None:
    configure(kb, docs, **keys_of_the_readme())
    alone = {"SEOGA_EMBEDDING_URL": NOBODY}
    first = seoga("exec", "--path", kb, **alone)
    assert (first["indexed"], first["failed"], first["warnings"]) == (2, 0, [])
    assert vectors(kb) == 0
    (hit,) = seoga("search", "annual leave", **alone)["results"]
    assert hit["path"] == "leave.md"
    refused = seoga("search", "annual leave", "--mode", "vector", fails=True, **alone)
    assert "makes no vectors" in refused["message"]

    configure(kb, docs)
    told = seoga("exec", "--path", kb, "--estimate")
    assert (told["files"], told["embedding"]["asked"], vectors(kb)) == (0, 2, 0)
    for file in docs.iterdir():
        # Whoever reads one again finds other words; the stamp does not tell.
        file.write_bytes(b"x" * file.stat().st_size)
        os.utime(file, (1_700_000_000, 1_700_000_000))
    (hit,) = seoga("search", "annual leave", "--mode", "bm25")["results"]
    assert hit["path"] == "leave.md"
    second = seoga("exec", "--path", kb)
    assert (second["indexed"], second["skipped"], second["chunks"]) == (0, 2, 0)
    made = vectors(kb)
    assert made >= 2
    assert seoga("search", "days off work", "--mode", "vector")["results"][0]["path"] == "leave.md"

    configure(kb, docs, **keys_of_the_readme())
    third = seoga("exec", "--path", kb, **alone)
    assert (third["indexed"], vectors(kb)) == (0, 0)
    configure(kb, docs)
    assert seoga("exec", "--path", kb, "--estimate")["embedding"]["asked"] == 2
