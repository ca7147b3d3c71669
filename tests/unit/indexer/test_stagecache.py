"""What is made stays made: a new version redoes what depends on it, and nothing before it."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import pytest

OLD = 1_600_000_000
LONG = "\n\n".join(f"paragraph {number} " + "of many words " * 40 for number in range(12))


def age(path: Path) -> None:
    """Makes a file older than the racy window."""
    os.utime(path, (OLD, OLD))


def kept(place: Any) -> int:
    return int(place.query("SELECT count(*) FROM extractions")[0][0])


def chunks(place: Any) -> int:
    return int(place.query("SELECT count(*) FROM chunks")[0][0])


@pytest.fixture
def two_sources(place: Any, tmp_path: Path) -> tuple[Path, Path]:
    """The folders of two sources, `a` and `z` by label."""
    folders = (tmp_path / "a", tmp_path / "z")
    for folder in folders:
        folder.mkdir()
        # Neither is ever empty: an emptied source loses nothing.
        (folder / "stays.md").write_text(f"stays in {folder.name}")
    place.configure("hashing", sourcePaths=[str(folder) for folder in folders])
    return folders


def test_another_size_of_chunks_cuts_again_what_was_extracted(place: Any) -> None:
    place.write("a.md", LONG)
    place.run()
    before = chunks(place)
    place.configure(chunking={"targetChars": 300, "overlapChars": 30})
    result = place.run()
    assert place.extraction.reads == []
    assert result.indexed == 1
    assert chunks(place) > before
    place.check_whole()
    assert place.run().indexed == 0


def test_a_new_chunker_extracts_nothing_and_embeds_only_new_passages(
    place: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.configure("hashing")
    age(place.write("a.md", LONG))
    age(place.write("b.md", "short"))
    place.run()
    calls = place.embedding.calls
    monkeypatch.setattr("seoga_indexer.versions.CHUNKER_VERSION", "next")
    assert place.engine.check_changes("kb").stale == ("chunking",)
    assert place.engine.check_changes("kb").counts["stale"] == 2
    (place.docs / "b.md").chmod(0)
    place.run()
    assert place.extraction.reads == []
    assert place.embedding.calls == calls
    assert place.engine.check_changes("kb").is_clean


def test_a_new_version_of_one_format_reads_files_of_that_format_only(place: Any) -> None:
    place.write("a.md", "apple")
    place.write("b.txt", "pear")
    place.run()
    place.extraction.versions[".txt"] = "2"
    assert place.engine.check_changes("kb").stale == ("extraction",)
    place.run()
    assert place.extraction.reads == ["b.txt"]
    place.run()
    assert place.extraction.reads == []


def test_a_format_that_reads_files_inside_follows_every_format(place: Any) -> None:
    place.write("a.md", "apple")
    place.write("b.txt", "pear")
    described = place.extraction.describe

    def nesting() -> dict[str, Any]:
        out = described()
        out["formats"][".md"]["nests"] = True
        return dict(out)

    place.extraction.describe = nesting
    place.run()
    place.extraction.versions[".txt"] = "2"
    place.run()
    assert sorted(place.extraction.reads) == ["a.md", "b.txt"]


def test_a_redo_that_was_stopped_goes_on_with_the_rest(place: Any, cancel: threading.Event) -> None:
    for number in range(40):
        age(place.write(f"f{number:02}.md", f"text {number}"))
    place.run()
    place.extraction.version = "2"

    def stop_at(_: Path, name: str) -> None:
        if name == "f20.md":
            cancel.set()

    place.extraction.before = stop_at
    place.run(cancel=cancel)
    done = place.query("SELECT count(*) FROM files WHERE made LIKE '2.%'")[0][0]
    assert 10 <= done < 40
    place.extraction.before = lambda path, name: None
    place.run()
    assert len(place.extraction.reads) == 40 - done


def test_files_of_one_content_are_extracted_once(
    place: Any, two_sources: tuple[Path, Path]
) -> None:
    for folder in two_sources:
        for number in range(5):
            (folder / f"copy{number}.md").write_text("the same words")
    result = place.run()
    assert sum(name.startswith("copy") for name in place.extraction.reads) == 1
    assert result.indexed == 12
    (two_sources[0] / "late.md").write_text("the same words")
    place.run()
    assert place.extraction.reads == []
    place.check_whole()


def test_a_file_that_becomes_a_copy_is_not_extracted(place: Any) -> None:
    place.write("a.md", "apple")
    place.write("b.md", "pear")
    place.run()
    place.write("b.md", "apple")
    assert place.run().indexed == 1
    assert place.extraction.reads == []
    assert place.found("apple") == ["a.md", "b.md"]
    assert place.found("pear") == []


def test_copies_of_a_file_that_gives_no_text_share_its_reason(place: Any) -> None:
    place.write("a.md", "!corrupt")
    place.write("b.md", "!corrupt")
    assert place.run().failed == 2
    assert len(place.extraction.reads) == 1


@pytest.mark.parametrize(("old", "new"), [(0, 1), (1, 0)])
def test_a_file_that_moves_to_another_source_is_made_once(
    place: Any, two_sources: tuple[Path, Path], old: int, new: int
) -> None:
    (two_sources[old] / "moving.md").write_text(LONG)
    place.run()
    ids = place.query("SELECT id FROM chunks ORDER BY id")
    calls = place.embedding.calls
    (two_sources[old] / "moving.md").rename(two_sources[new] / "sub.md")
    place.run()
    assert place.extraction.reads == []
    assert place.embedding.calls == calls
    assert place.query("SELECT id FROM chunks ORDER BY id") == ids
    place.check_whole()


def test_a_moved_file_and_a_copy_of_it_are_made_once(place: Any) -> None:
    place.configure("hashing")
    place.write("old.md", LONG)
    place.run()
    calls = place.embedding.calls
    (place.docs / "old.md").rename(place.docs / "new1.md")
    (place.docs / "a-copy.md").write_text(LONG)
    place.run()
    assert place.extraction.reads == []
    assert list(place.states()) == ["a-copy.md", "new1.md"]
    assert place.embedding.calls == calls
    assert set(place.states().values()) == {"Ready"}
    place.check_whole()


def test_a_copy_gets_the_vectors_of_its_original(place: Any) -> None:
    place.configure("hashing")
    place.write("a.md", LONG)
    place.run()
    calls = place.embedding.calls
    place.write("b.md", LONG)
    place.write("c.md", LONG + "\n\nand more")
    place.run()
    assert place.embedding.texts[-1].endswith("and more")
    assert place.embedding.calls == calls + 1
    assert set(place.states().values()) == {"Ready"}
    place.check_whole()


def test_a_new_extension_is_another_reading(place: Any) -> None:
    place.write("a.md", "apple")
    place.run()
    (place.docs / "a.md").rename(place.docs / "a.txt")
    (place.docs / "b.md").write_text("other")
    place.run()
    assert sorted(place.extraction.reads) == ["a.txt", "b.md"]
    assert place.query("SELECT path, format FROM files ORDER BY 1") == [
        ("a.txt", ".txt"),
        ("b.md", ".md"),
    ]


def test_what_no_file_has_any_more_is_not_kept(place: Any) -> None:
    place.write("a.md", "apple")
    place.write("b.md", "apple")
    place.write("c.md", "pear")
    place.run()
    assert kept(place) == 2
    (place.docs / "a.md").unlink()
    place.run()
    assert kept(place) == 2
    place.write("b.md", "grape")
    place.write("c.md", "plum")
    place.run()
    assert kept(place) == 2
    (place.docs / "b.md").unlink()
    place.run()
    assert kept(place) == 1


def test_nothing_is_kept_of_formats_that_are_quick_to_read(
    place: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.extraction.cheap = {".md"}
    place.write("a.md", "apple")
    place.write("b.txt", "pear")
    place.run()
    assert kept(place) == 1
    monkeypatch.setattr("seoga_indexer.versions.CHUNKER_VERSION", "next")
    place.run()
    assert place.extraction.reads == ["a.md"]


def test_a_damaged_row_is_extracted_again(place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from seoga.storage.database import connect

    place.write("a.md", "apple")
    place.run()
    conn = connect(place.kb.db_path)
    conn.execute("UPDATE extractions SET data = x'00ff'")
    conn.close()
    monkeypatch.setattr("seoga_indexer.versions.CHUNKER_VERSION", "next")
    place.run()
    assert place.extraction.reads == ["a.md"]
    assert place.found("apple") == ["a.md"]


def test_a_file_that_can_be_read_again_unchanged_is_not_extracted_again(
    place: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.configure("hashing")
    place.write("a.md", "apple")
    place.run()
    calls = place.embedding.calls
    real = __import__("seoga_indexer.pipeline", fromlist=["content_hash"]).content_hash

    def refused(path: Any) -> str:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("seoga_indexer.pipeline.content_hash", refused)
    place.run()
    assert place.states() == {"a.md": "NeedsAction unreadable"}
    monkeypatch.setattr("seoga_indexer.pipeline.content_hash", real)
    place.run()
    assert place.states() == {"a.md": "Ready"}
    assert place.extraction.reads == []
    assert place.embedding.calls == calls


def test_a_file_made_unreadable_without_a_new_stamp_is_seen(
    place: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    shut = place.write("a.md", "apple")
    age(shut)
    place.run()
    shut.chmod(0)

    def refused(path: Any) -> str:
        raise PermissionError(13, "Permission denied", str(path))

    # Root may read everything: what the system says to others is said here.
    monkeypatch.setattr("seoga_indexer.sources.folder.os.access", lambda path, mode: False)
    monkeypatch.setattr("seoga_indexer.pipeline.content_hash", refused)
    monkeypatch.setattr("seoga_indexer.dryrun.content_hash", refused)
    report = place.engine.check_changes("kb")
    assert (report.is_clean, report.needs_action) == (False, ("docs/a.md: Permission denied",))
    place.run()
    assert place.states() == {"a.md": "NeedsAction unreadable"}
    monkeypatch.undo()
    shut.chmod(0o644)
    place.run()
    assert place.states() == {"a.md": "Ready"}
    assert place.extraction.reads == []


def test_force_takes_nothing_from_what_is_kept(place: Any) -> None:
    place.write("a.md", "apple")
    place.write("b.md", "apple")
    place.run()
    place.run(force=True)
    assert sorted(place.extraction.reads) == ["a.md", "b.md"]
    assert kept(place) == 1


def test_an_index_of_an_older_schema_can_be_compared(place: Any) -> None:
    import sqlite3

    from seoga.storage.migrate import APPLICATION_ID, migrations

    place.write("a.md", "apple")
    old = sqlite3.connect(place.kb.db_path, isolation_level=None)
    old.executescript(migrations("rag")[0])
    old.execute("PRAGMA journal_mode = WAL")
    old.execute("PRAGMA user_version = 1")
    old.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    old.execute(
        "INSERT INTO files (label, path, size, mtime_ns, scanned_ns, state)"
        " VALUES ('docs', 'b.md', 1, 1, 1, 'Ready')"
    )
    old.close()
    report = place.engine.check_changes("kb")
    assert (report.added, report.deleted) == (("docs/a.md",), ("docs/b.md",))
    assert place.run(accept_deletions=True).indexed == 1
