"""Names in memory follow the index: whatever was added, renamed or removed is known at once."""

from __future__ import annotations

import random
from collections.abc import Callable

from seoga.search.nameindex import NameIndex, keys_of_file, rows_of
from seoga.search.readers import reading

from .conftest import Shelf

Make = Callable[..., Shelf]


def called(shelf: Shelf, index: NameIndex, key: tuple[str, str]) -> list[str]:
    """Paths of the documents that are called so, by the index and the rows behind it."""
    with reading(shelf.kb.db_path) as conn:
        rows = list(rows_of(conn, index.files(conn, [key])))
    return sorted(path for _, label, path, title in rows if key in keys_of_file(label, path, title))


def test_random_changes_leave_it_like_one_that_is_made_anew(shelf: Shelf) -> None:
    chance, index, there = random.Random(3), NameIndex(), set[str]()
    for _ in range(60):
        path = f"d{chance.randrange(4)}/{chance.randrange(6)}.md"
        known = shelf.store.get("docs", path)
        if known is not None and chance.random() < 0.4:
            shelf.store.remove([known.id])
            there.discard(path)
        else:
            shelf.put(path, f"text {chance.random()}", title=f"Title {chance.randrange(5)}")
            there.add(path)
        asked = [("path", path), ("stem", path[3]), ("title", f"title {chance.randrange(5)}")]
        for key in asked:
            assert called(shelf, index, key) == called(shelf, NameIndex(), key)
        assert called(shelf, index, ("path", path)) == [path] * (path in there)


def test_after_a_commit_only_what_changed_is_read(shelf: Shelf) -> None:
    for number in range(30):
        shelf.put(f"{number}.md", "text", title=f"Name {number}")
    index = NameIndex()
    assert called(shelf, index, ("title", "name 7")) == ["7.md"]
    shelf.put("7.md", "other text", title="Another")
    shelf.put("new.md", "text", title="Newest")
    rows: list[str] = []
    with reading(shelf.kb.db_path) as conn:
        conn.set_trace_callback(rows.append)
        assert len(index.files(conn, [("title", "newest")])) == 1
        conn.set_trace_callback(None)
    assert any("WHERE id > 30" in text for text in rows)
    assert not any("WHERE id > 0" in text for text in rows)
    assert called(shelf, index, ("title", "another")) == ["7.md"]
    assert called(shelf, index, ("title", "name 7")) == []


def test_an_index_of_an_older_schema_is_read_whole_each_time(shelf: Shelf) -> None:
    shelf.put("a.md", "text", title="First")
    shelf.store.conn.execute("DROP TRIGGER file_renamed")
    shelf.store.conn.execute("DROP TABLE renamed")
    index = NameIndex()
    assert called(shelf, index, ("title", "first")) == ["a.md"]
    shelf.put("a.md", "text 2", title="Second")
    assert called(shelf, index, ("title", "second")) == ["a.md"]
    assert called(shelf, index, ("title", "first")) == []


def test_who_was_away_too_long_reads_all_names(shelf: Shelf) -> None:
    shelf.put("a.md", "text", title="First")
    index = NameIndex()
    assert called(shelf, index, ("title", "first")) == ["a.md"]
    shelf.put("a.md", "text 2", title="Second")
    shelf.store.conn.execute("INSERT INTO renamed (file_id) VALUES (0), (0), (0)")
    shelf.store.conn.execute("DELETE FROM renamed WHERE id < 4")
    assert called(shelf, index, ("title", "second")) == ["a.md"]
