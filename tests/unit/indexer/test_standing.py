"""A folder that stands as the index has it is passed over as a whole, and never wrongly."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from seoga.models import Source
from seoga.storage.audit import audit
from seoga.storage.database import open_reader, open_writer
from seoga.storage.documents import DocumentStore
from seoga.storage.folders import FolderRow
from seoga.storage.records import FileRow
from seoga_indexer.changes import Change, Verdict
from seoga_indexer.scan import SourceReport, scan_source
from seoga_indexer.source import Standing, connector_for
from seoga_indexer.versions import Versions, redo_rule

OLD_NS = 1_600_000_000 * 10**9
VERSIONS = Versions("1", "1", {"markdown": "1"}, frozenset(), frozenset(), "1", "")


def age(*paths: Path) -> None:
    """Makes files older than the racy window."""
    for path in paths:
        os.utime(path, ns=(OLD_NS, OLD_NS))


def standing(place: Any) -> dict[str, int]:
    return dict(place.query("SELECT path, files FROM folders ORDER BY path"))


def settled(place: Any) -> None:
    """Indexes, and lets a second run find everything unchanged."""
    place.run()
    place.run()


def forge(place: Any, path: str) -> None:
    """Makes a row contradict its file without the index noticing: a scan that looks at the file
    sees it, one that passes over the folder does not."""
    with closing(sqlite3.connect(place.kb.db_path, isolation_level=None)) as conn:
        triggers = conn.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'folder_%'"
        ).fetchall()
        for name, _ in triggers:
            conn.execute(f"DROP TRIGGER {name}")
        changed = conn.execute(
            "UPDATE files SET size = size + 1, hash = 'x' WHERE path = ?", (path,)
        )
        assert changed.rowcount == 1
        for _, sql in triggers:
            conn.execute(sql)


def three_folders(place: Any) -> None:
    for path in ("a.md", "m/b.md", "m/c.md", "m/deep/d.md", "z/e.md"):
        age(place.write(path, f"words of {path}"))


def test_folders_are_remembered_by_the_run_that_finds_them_unchanged(place: Any) -> None:
    three_folders(place)
    place.run()
    assert standing(place) == {}
    place.run()
    assert standing(place) == {"": 1, "m/": 2, "m/deep/": 1, "z/": 1}


def test_files_of_a_standing_folder_are_not_looked_at_and_counted_all_the_same(place: Any) -> None:
    three_folders(place)
    settled(place)
    forge(place, "m/b.md")
    result = place.run()
    assert (result.indexed, result.skipped, result.removed) == (0, 5, 0)


def test_a_changed_file_is_found_and_its_folder_forgotten_until_the_next_look(place: Any) -> None:
    three_folders(place)
    settled(place)
    age(place.write("m/b.md", "other and longer words"))
    result = place.run()
    assert (result.indexed, result.skipped) == (1, 4)
    assert place.found("longer") == ["m/b.md"]
    assert "m/" not in standing(place)
    assert "m/deep/" in standing(place)
    place.run()
    assert "m/" in standing(place)


@pytest.mark.parametrize("gone", ["m/b.md", "m/deep", "m", "a.md"])
def test_what_is_deleted_is_removed_wherever_it_stood(place: Any, gone: str) -> None:
    three_folders(place)
    settled(place)
    path = place.docs / gone
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    place.run()
    left = {path for (path,) in place.query("SELECT path FROM files")}
    assert left == {str(p.relative_to(place.docs)) for p in place.docs.rglob("*.md")}


def test_a_young_file_keeps_its_folder_from_standing(place: Any) -> None:
    three_folders(place)
    place.write("m/young.md", "written just now")
    settled(place)
    assert "m/" not in standing(place)
    assert "z/" in standing(place)


def test_other_rules_look_at_every_folder_below_them(place: Any) -> None:
    three_folders(place)
    settled(place)
    (place.docs / "m" / ".seogaignore").write_text("c.md\n")
    place.run()
    assert "m/c.md" not in place.states()
    place.run()
    (place.docs / "m" / ".seogaignore").write_text("d.md\n")
    place.run()
    assert set(place.states()) == {"a.md", "m/b.md", "m/c.md", "z/e.md"}
    source = {"type": "folder", "label": "docs", "path": str(place.docs), "exclude": ["z/"]}
    place.configure(sources=[source], sourcePaths=[])
    place.run()
    assert "z/e.md" not in place.states()


def test_another_version_of_a_parser_looks_at_every_file(place: Any) -> None:
    three_folders(place)
    settled(place)
    place.extraction.version = "2"
    result = place.run()
    assert sorted(place.extraction.reads) == sorted(place.states())
    assert result.skipped == 0


def test_force_looks_at_every_file(place: Any) -> None:
    three_folders(place)
    settled(place)
    assert place.run(force=True).indexed == 5


def test_a_link_or_a_file_shut_off_keeps_its_folder_from_standing(place: Any) -> None:
    three_folders(place)
    (place.docs / "z" / "link.md").symlink_to(place.docs / "a.md")
    settled(place)
    assert "z/" not in standing(place)
    assert "m/" in standing(place)


def test_a_file_that_was_moved_leaves_and_enters_folders(place: Any) -> None:
    three_folders(place)
    settled(place)
    (place.docs / "z" / "e.md").rename(place.docs / "m" / "deep" / "e.md")
    place.run()
    assert place.extraction.reads == []
    assert {"z/e.md", "m/deep/e.md"} & set(place.states()) == {"m/deep/e.md"}
    assert {"m/deep/", "z/"}.isdisjoint(standing(place))


def test_a_folder_that_came_and_went_between_two_looks_leaves_nothing(place: Any) -> None:
    three_folders(place)
    settled(place)
    age(place.write("m/new/f.md", "short-lived"))
    # The index takes the file in, but nobody remembers the folder above with it.
    with closing(DocumentStore(open_writer(place.kb.db_path))) as store:
        store.set_state([FileRow("docs", "m/new/f.md", 1, OLD_NS, time.time_ns(), hash="h")])
    assert {"", "m/"}.isdisjoint(standing(place))
    shutil.rmtree(place.docs / "m" / "new")
    place.run()
    assert "m/new/f.md" not in place.states()


def test_doctor_finds_a_folder_that_claims_too_much(place: Any) -> None:
    three_folders(place)
    settled(place)
    with closing(open_writer(place.kb.db_path)) as conn:
        conn.execute("UPDATE folders SET files = 7 WHERE path = 'm/'")
    with closing(open_reader(place.kb.db_path)) as conn:
        found = [fault for faults in audit(conn).values() for fault in faults]
    assert [(fault.check, fault.count) for fault in found] == [("folders", 1)]


class Tree:
    """A folder under random changes, and an index that follows it by scans."""

    def __init__(self, root: Path, seed: int) -> None:
        self.docs, self.path = root / "docs", root / "rag.db"
        self.docs.mkdir()
        self.random = random.Random(seed)
        self.store = DocumentStore(open_writer(self.path))
        self.clock = OLD_NS

    def change(self) -> None:
        """One edit, somewhere."""
        folders = [self.docs, *(path for path in sorted(self.docs.rglob("*")) if path.is_dir())]
        files = sorted(path for path in self.docs.rglob("*.md") if path.is_file())
        folder = self.random.choice(folders)
        kind = self.random.choice(["write", "write", "write", "edit", "drop", "move", "rules"])
        if kind == "write":
            folder = self.random.choice([folder, folder / self.random.choice("ab0")])
            self.write(folder / f"{self.random.choice('xyz')}.md")
        elif kind == "rules":
            file = folder / ".seogaignore"
            file.write_text(self.random.choice(["x.md\n", "a/\n", "", "[\n"]))
        elif kind == "edit" and files:
            self.write(self.random.choice(files))
        elif kind == "move" and files:
            self.random.choice(files).rename(folder / f"{self.random.choice('xyz')}.md")
        elif folder != self.docs:
            shutil.rmtree(folder)

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.clock += 10**9
        path.write_text("w" * self.random.randrange(9))
        os.utime(path, ns=(self.clock, self.clock))

    def scan(self, whole: bool) -> tuple[SourceReport, list[Change]]:
        report = SourceReport("docs")
        standing = Standing(VERSIONS.stamp(), partial(self.store.files_in, "docs"))
        found = scan_source(
            connector_for(Source("folder", "docs", str(self.docs))),
            report,
            self.store.known,
            redo_rule(VERSIONS),
            standing if whole else None,
        )
        return report, list(found)

    def follow(self, report: SourceReport, found: list[Change]) -> None:
        """What a run would store, or the beginning of it where it was cut off."""
        cut = self.random.choice([None, None, self.random.randrange(5)])
        made = VERSIONS.made("markdown")
        for change in islice(found, cut):
            item, folder = change.item, change.folder
            if change.verdict is Verdict.SETTLED and folder is not None:
                self.store.settle_folders([FolderRow("docs", *folder)])
            elif item is not None and change.verdict is not Verdict.UNCHANGED:
                row = FileRow("docs", item.path, item.size, item.mtime_ns, time.time_ns())
                self.store.set_state([self.done(row, made)])
        if cut is None:
            self.store.remove(report.settle((), accept=self.random.random() < 0.7))

    def done(self, row: FileRow, made: str) -> FileRow:
        return FileRow(
            *(row.label, row.path, row.size, row.mtime_ns, row.scanned_ns),
            hash="h",
            format="markdown",
            made=made,
        )


def told(report: SourceReport, found: list[Change]) -> tuple[object, ...]:
    quiet = (Verdict.UNCHANGED, Verdict.STANDING, Verdict.SETTLED)
    return (
        *(report.known, report.listed, report.trouble, report.problem_count),
        [known.path for known in report.gone],
        [
            (change.verdict, entry.path)
            for change in found
            if change.verdict not in quiet and (entry := change.item or change.problem)
        ],
    )


@pytest.fixture
def trees(tmp_path: Path) -> Iterator[list[Tree]]:
    made = []
    for seed in range(12):
        (tmp_path / str(seed)).mkdir()
        made.append(Tree(tmp_path / str(seed), seed))
    yield made
    for tree in made:
        tree.store.close()


def test_whatever_happens_a_scan_by_folders_tells_what_a_scan_by_files_tells(
    trees: list[Tree],
) -> None:
    passed = 0
    for tree in trees:
        for _ in range(40):
            for _ in range(tree.random.choice([0, 1, 1, 3])):
                tree.change()
            report, found = tree.scan(whole=True)
            assert told(report, found) == told(*tree.scan(whole=False))
            passed += sum(change.verdict is Verdict.STANDING for change in found)
            tree.follow(report, found)
            with closing(open_reader(tree.path)) as conn:
                assert not audit(conn)["folders"]
    assert passed > 200
