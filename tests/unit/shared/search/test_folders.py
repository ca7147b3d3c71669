"""Folders that stay out of searches are followed in memory, whatever comes, moves or goes."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest

from seoga.search.folders import FOLDERS, FolderCache
from seoga.search.readers import reading

from .conftest import Shelf


def inside(shelf: Shelf, cache: FolderCache, folders: Iterable[str]) -> set[str]:
    """Paths of the documents there are below these folders."""
    with reading(shelf.kb.db_path) as conn:
        files = cache.files(conn, shelf.kb.db_path, folders)
        rows = conn.execute("SELECT id, path FROM files").fetchall()
    return {path for file_id, path in rows if file_id in files}


def move(shelf: Shelf, path: str, to: str) -> None:
    shelf.store.conn.execute("UPDATE files SET path = ? WHERE path = ?", (to, path))


def test_random_changes_leave_it_like_one_that_is_made_anew(shelf: Shelf) -> None:
    chance, cache = random.Random(5), FolderCache()
    for number in range(80):
        folder = chance.choice(("Archive", "archive/deep", "live", "plans/2024", "planning"))
        shelf.put(f"{folder}/{number}.md", f"text {number}")
        there = [path for (path,) in shelf.store.conn.execute("SELECT path FROM files")]
        if chance.random() < 0.4:
            known = shelf.store.get("docs", chance.choice(there))
            assert known is not None
            shelf.store.remove([known.id])
        elif chance.random() < 0.5:
            move(shelf, chance.choice(there), f"{chance.choice(('archive', 'x'))}/m{number}.md")
        for folders in (["archive", "plans"], ["archive/deep"], ["LIVE"]):
            expected = inside(shelf, FolderCache(), folders)
            assert inside(shelf, cache, folders) == expected
            asked = [name.lower() for name in folders]
            rows = [path for (path,) in shelf.store.conn.execute("SELECT path FROM files")]
            slow = {p for p in rows if any(f"/{name}/" in f"/{p}/".lower() for name in asked)}
            assert expected == slow


def test_only_what_changed_is_read_again(shelf: Shelf) -> None:
    for number in range(30):
        shelf.put(f"archive/{number}.md", "text")
    cache = FolderCache()
    assert len(inside(shelf, cache, ["archive"])) == 30
    shelf.put("archive/new.md", "text")
    said: list[str] = []
    with reading(shelf.kb.db_path) as conn:
        conn.set_trace_callback(said.append)
        assert len(cache.files(conn, shelf.kb.db_path, ["archive"])) == 31
        conn.set_trace_callback(None)
    assert any("WHERE id > 30" in text for text in said)
    assert not any("WHERE id > 0" in text for text in said)


def test_letters_of_every_alphabet_are_equal_in_both_cases(shelf: Shelf) -> None:
    for path in ("Архив/a.md", "ÄLTER/b.md", "보관/c.md", "보관함/d.md"):
        shelf.put(path, "text")
    assert inside(shelf, FOLDERS, ["архив", "älter", "보관"]) == {
        "Архив/a.md",
        "ÄLTER/b.md",
        "보관/c.md",
    }


@pytest.mark.parametrize("folders", [[], [""], ["/"], [" "]])
def test_no_name_keeps_nothing_out(shelf: Shelf, folders: list[str]) -> None:
    shelf.put("archive/a.md", "text")
    assert inside(shelf, FOLDERS, folders) == set()
