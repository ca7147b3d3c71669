"""A value that nobody can read, text or JSON, is a fault of its own knowledge base, and mended."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from seoga.kb import create_kb


@pytest.fixture
def kbs(seoga: Any, base_path: Path, tmp_path: Path) -> tuple[Path, Path]:
    """The folders of two indexed KBs with vectors; what is said in one is not in the other."""
    folders = []
    for name, text in {
        "one": "연차 휴가는 규정에 따라 부여한다",
        "two": "여름 휴가는 팀이 정한다",
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.md").write_text(f"# 휴가 {name}\n\n{text}.\n", "utf-8")
        folder = create_kb(base_path, tmp_path / name).folder
        config = json.loads((folder / "config.json").read_text("utf-8"))
        config["embedding"] = {"provider": "hashing"}
        (folder / "config.json").write_text(json.dumps(config), "utf-8")
        assert seoga("exec", "--path", folder).code == 0
        folders.append(folder)
    return folders[0], folders[1]


DAMAGES = {
    "text that is no UTF-8": "UPDATE chunks SET text = CAST(x'ff' || CAST(text AS BLOB) AS TEXT)",
    "a title that is no UTF-8": "UPDATE files SET title = CAST(x'ed9c' AS TEXT)",
    "a place that is no JSON": "UPDATE chunks SET place = '{bad'",
    "a place of another kind": "UPDATE chunks SET place = '7'",
    "headings that are no JSON": "UPDATE chunks SET heading_path = 'x'",
    "facts of a passage that are no JSON": "UPDATE chunks SET meta = '{'",
    "a card that is no JSON": "UPDATE generations SET card = '{provider'",
    "a card without its numbers": 'UPDATE generations SET card = \'{"provider": "x"}\'',
    "counts that are no JSON": "UPDATE runs SET counts = 'many'",
    "a model that is no number": "UPDATE meta SET value = 'garbage' WHERE key = 'generation'",
    "a commit that is no number": "UPDATE meta SET value = 'garbage' WHERE key = 'commit'",
    "sources that are no JSON": "UPDATE meta SET value = '[' WHERE key = 'sources'",
    "a text that is bytes": "UPDATE chunks SET text = CAST(text AS BLOB)",
    "a title that is bytes": "UPDATE files SET title = CAST(title AS BLOB)",
    "a size that is text": "UPDATE files SET size = 'large'",
    "words that are bytes": "UPDATE chunks_fts_content SET c2 = CAST(c2 AS BLOB)",
    "a file's facts that are no JSON": """UPDATE files SET meta = '{"a": "zq7"}'""",
}


def damage(folder: Path, statement: str) -> None:
    file = folder / "rag.db"
    with closing(sqlite3.connect(file, isolation_level=None)) as conn:
        conn.execute(statement)
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    # What SQLite itself would refuse to write.
    file.write_bytes(file.read_bytes().replace(b'"zq7"', b'"zq7}'))


def test_no_damaged_value_stops_a_search_of_the_others(seoga: Any, kbs: tuple[Path, Path]) -> None:
    one, _ = kbs
    damage(one, DAMAGES["text that is no UTF-8"])
    damage(one, DAMAGES["a card that is no JSON"])
    found = seoga("search", "휴가")
    assert (found.code, "여름" in found.out) == (0, True)
    assert "one was not searched" in found.out + found.err
    assert str(one / "rag.db") in found.out + found.err
    alone = seoga("search", "휴가", "--path", one)
    assert (alone.code, "doctor --deep --repair" in alone.err) == (1, True)
    assert seoga("status").code in (0, 1)


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_value_is_named_mended_and_made_again(
    seoga: Any, kbs: tuple[Path, Path], name: str
) -> None:
    one, _ = kbs
    damage(one, DAMAGES[name])
    for command in (("search", "휴가"), ("status",)):
        said = seoga(*command, "--path", one)
        assert "Error:" not in said.out + said.err
        assert "internal" not in said.err
    found = seoga("doctor", "--deep", "--json")
    failed = [c["name"] for c in found.json["checks"] if c["status"] == "fail"]
    assert found.code == 1
    check = "keyword index" if name.startswith("words") else "values"
    assert f"one ({one.name}): {check}" in failed
    assert all(each.startswith("one (") for each in failed)
    assert sum(c["name"].startswith("two (") for c in found.json["checks"]) == 12
    mended = seoga("doctor", "--deep", "--repair", "--path", one, "--json")
    assert mended.code == 0, mended.out
    assert seoga("exec", "--path", one).code == 0
    assert seoga("doctor", "--deep", "--path", one).code == 0
    assert "연차" in seoga("search", "연차 휴가", "--path", one).out
