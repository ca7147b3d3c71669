"""kill -9 at any moment of a run: the next run ends with the index of an undisturbed one."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from seoga.errors import NotFound
from seoga.kb import find_kb
from seoga.storage.database import open_reader

CHILD = Path(__file__).with_name("indexing_child.py")
FILES = 700
# The bench form of this test (`make bench NAME=kill`) kills 20 times.
ROUNDS = 4
WORDS = [
    "색인",
    "문서",
    "검색",
    "서가",
    "회의",
    "결정",
    "index",
    "search",
    "folder",
    "report",
    "budget",
    "plan",
    "answer",
]

INDEX = (
    'SELECT f.label, f.path, f.hash, f.state, c.ordinal, c.text, c.start, c."end", c.state,'
    " x.title, x.heading, x.body, v.count, hex(v.data)"
    " FROM files f LEFT JOIN chunks c ON c.file_id = f.id LEFT JOIN chunks_fts x ON x.rowid = c.id"
    " LEFT JOIN vectors v ON v.chunk_id = c.id ORDER BY f.label, f.path, c.ordinal"
)
TERMS = "SELECT term, df FROM terms ORDER BY term"
COMMITTED = "SELECT path FROM files"
LONELY = (
    "SELECT (SELECT count(*) FROM chunks_fts) - (SELECT count(*) FROM chunks),"
    " (SELECT count(*) FROM vectors) - (SELECT count(*) FROM chunks WHERE state = 'Indexed')"
)


@pytest.fixture(scope="module")
def docs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of words, a heading or two each; some broken, some empty."""
    root = tmp_path_factory.mktemp("docs")
    chance = random.Random(7)
    for number in range(FILES):
        folder = root / f"d{number % 5}"
        folder.mkdir(exist_ok=True)
        parts = [
            f"## Part {part}\n\n" + " ".join(chance.choices(WORDS, k=120))
            for part in range(1 + number % 4)
        ]
        text = f"# Document {number}\n\n" + "\n\n".join(parts)
        (folder / f"f{number:03}.md").write_text("" if number % 50 == 0 else text, encoding="utf-8")
        os.utime(folder / f"f{number:03}.md", (1_600_000_000, 1_600_000_000))
    (root / "broken.pdf").write_bytes(b"%PDF-1.7 cut off")
    return root


def make_base(folder: Path, docs: Path) -> Path:
    (folder / "kb").mkdir(parents=True)
    config = {"id": "kb", "sourcePaths": [str(docs)], "embedding": {"provider": "hashing"}}
    (folder / "kb" / "config.json").write_text(json.dumps(config))
    return folder


def start(base: Path, log: Path) -> subprocess.Popen[bytes]:
    child = subprocess.Popen(
        [sys.executable, str(CHILD), str(base), str(log)], stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    assert child.stdout.readline() == b"running\n"
    return child


def finish(child: subprocess.Popen[bytes]) -> dict[str, Any]:
    with child:
        assert child.stdout is not None
        lines = child.stdout.read().decode().splitlines()
    assert child.returncode == 0
    result: dict[str, Any] = json.loads(lines[-1])
    return result


def kill(child: subprocess.Popen[bytes]) -> None:
    with child:
        child.kill()


def read(base: Path, sql: str) -> list[Any]:
    with closing(open_reader(find_kb(base, "kb").db_path)) as conn:
        return conn.execute(sql).fetchall()


def differences(whole: list[Any], found: list[Any]) -> list[Any]:
    """What differs, at most five rows: (path, ordinal, column, as it should be, as it is)."""
    keys = [{(row[1], row[4]): row for row in rows} for rows in (whole, found)]
    out: list[Any] = [("rows", len(whole), len(found))] if len(whole) != len(found) else []
    for key, row in keys[0].items():
        other = keys[1].get(key, [None] * len(row))
        pairs = enumerate(zip(row, other, strict=True))
        out += [(*key, n, str(a)[:80], str(b)[:80]) for n, (a, b) in pairs if a != b]
    return out[:5]


@pytest.fixture(scope="module")
def undisturbed(docs: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    """An index that nobody disturbed, and the seconds that it took."""
    base = make_base(tmp_path_factory.mktemp("whole") / "base", docs)
    child = start(base, base / "log")
    started = time.monotonic()
    finish(child)
    return base, time.monotonic() - started


def one_round(folder: Path, docs: Path, whole: tuple[Path, float], moment: float) -> int:
    """Kills a first run after `moment` of its time, lets a second one end; how many files the
    first had committed."""
    base = make_base(folder, docs)
    child = start(base, base / "first.log")
    with suppress(subprocess.TimeoutExpired):
        child.wait(moment * whole[1])
    kill(child)
    committed: set[str] = set()
    # Killed before there was a schema, the database does not count as one.
    with suppress(NotFound):
        committed = {path for (path,) in read(base, COMMITTED)}
    finish(start(base, base / "second.log"))
    again = (base / "second.log").read_text().split() if (base / "second.log").exists() else []
    assert not committed & set(again)
    assert len(again) == len(set(again))
    assert differences(read(whole[0], INDEX), read(base, INDEX)) == []
    assert read(base, TERMS) == read(whole[0], TERMS)
    assert read(base, LONELY) == [(0, 0)]
    assert read(base, "PRAGMA integrity_check") == [("ok",)]
    return len(committed)


def test_a_killed_run_is_finished_by_the_next(
    docs: Path, undisturbed: tuple[Path, float], tmp_path: Path
) -> None:
    rounds = int(os.environ.get("KILL_ROUNDS", ROUNDS))
    chance = random.Random()
    # Squared: most of what can go wrong is in the first half, where text is committed.
    moments = [chance.random() ** 2 for _ in range(rounds)]
    print("moments", moments)
    for number, moment in enumerate(moments):
        committed = one_round(tmp_path / str(number), docs, undisturbed, moment)
        print("killed at", round(moment, 3), "with", committed, "files committed")
