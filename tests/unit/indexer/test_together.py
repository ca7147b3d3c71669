"""Files that are finished where they are read make the index that one by one they make."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from seoga.contracts.extraction import Event
from seoga.errors import Cancelled
from seoga.settings import Settings
from seoga_extraction.engine import ExtractionEngine

OLD = 1_600_000_000
INDEX = (
    "SELECT f.path, f.state, f.reason, f.title, f.lang, f.meta, f.made, f.format, f.text_chars,"
    " f.hash, hex(t.text), hex(t.marks), c.ordinal, c.text, c.place, c.kind, c.lang, c.words,"
    " x.title, x.heading, x.body, x.keywords"
    " FROM files f LEFT JOIN texts t ON t.file_id = f.id LEFT JOIN chunks c ON c.file_id = f.id"
    " LEFT JOIN chunks_fts x ON x.rowid = c.id ORDER BY f.path, c.ordinal"
)
TERMS = "SELECT term, df FROM terms ORDER BY term"


class OneByOne:
    """The product's extraction as a service elsewhere has it; says what was asked of it."""

    def __init__(self, inner: ExtractionEngine) -> None:
        self.inner = inner
        self.alone: list[str] = []

    def extract(self, path: Path, name: str) -> Iterator[Event]:
        self.alone.append(name)
        return self.inner.extract(path, name)

    def describe(self) -> dict[str, Any]:
        return self.inner.describe()

    def close(self) -> None:
        self.inner.close()


class Spied(OneByOne):
    """The product's extraction; does something `before` files are finished."""

    def __init__(self, inner: ExtractionEngine) -> None:
        super().__init__(inner)
        self.together: list[str] = []
        self.before: Callable[[], object] = lambda: None

    def finish(self, files: Sequence[tuple[Path, str, Any]], task: str) -> list[Any]:
        self.before()
        self.together += [name for _, name, _ in files]
        return self.inner.finish(files, task)


@pytest.fixture
def spied(place: Any) -> Iterator[Spied]:
    place.stack.extraction = spied = Spied(ExtractionEngine(Settings(extract_workers=2)))
    yield spied
    spied.close()


def write_some(place: Any, files: int = 20) -> None:
    for number in range(files):
        front = f"---\ntags: [t{number}]\nstatus: superseded\n---\n" if number % 5 == 0 else ""
        text = "".join(f"\n## 제목 {part}\n\n문장 {number}이다. And words.\n" for part in range(4))
        place.write(f"d{number % 3}/n{number:02d}.md", f"{front}# Note {number}\n{text}")
    place.write("code.py", "def f():\n    return 1\n")
    place.write("table.csv", "name,size\n" + "이름,1\n" * 90)
    place.write("empty.md", "")
    place.write("blank.md", " \n\n")
    (place.docs / "binary.md").write_bytes(bytes(range(256)) * 9)
    place.write("large.md", "# Large\n\n" + "many words. " * 9000)


def test_the_index_is_the_one_that_files_make_one_by_one(place: Any, spied: Spied) -> None:
    write_some(place)
    place.run()
    assert len(spied.together) > len(spied.alone)
    assert {"large.md", "binary.md"} <= set(spied.alone)
    together = place.query(INDEX), place.query(TERMS)
    place.check_whole()
    shutil.rmtree(place.base)
    place.configure()
    place.stack.extraction = alone = OneByOne(spied.inner)
    place.run()
    assert "n01.md" in {Path(name).name for name in alone.alone}
    assert (place.query(INDEX), place.query(TERMS)) == together


def test_edits_moves_and_copies_are_what_they_are_one_by_one(place: Any, spied: Spied) -> None:
    write_some(place)
    for path in place.docs.rglob("*.*"):
        os.utime(path, (OLD, OLD))
    place.run()
    ids = dict(place.query("SELECT path, id FROM files"))
    place.write("d0/n00.md", "# New\n\nother words\n")
    place.write("d0/n03.md", "# New too\n\nother words\n")
    (place.docs / "d1" / "n01.md").rename(place.docs / "moved.md")
    shutil.copy(place.docs / "d2" / "n02.md", place.docs / "copy.md")
    place.write("d1/twin-a.md", "the same\n")
    place.write("d1/twin-b.md", "the same\n")
    place.run()
    now = dict(place.query("SELECT path, id FROM files"))
    assert now["moved.md"] == ids["d1/n01.md"]
    assert now["d0/n00.md"] == ids["d0/n00.md"]
    assert place.found("same") == ["d1/twin-a.md", "d1/twin-b.md"]
    assert place.found("other") == ["d0/n00.md", "d0/n03.md"]
    place.check_whole()
    changed = place.query(INDEX)
    assert place.run(force=True).indexed == len(now) - 1
    assert [row[:-2] for row in place.query(INDEX)] == [row[:-2] for row in changed]
    assert place.run().tried == 0


def test_a_file_that_changes_while_it_is_read_is_read_again(place: Any, spied: Spied) -> None:
    place.write("a.md", "first words\n")
    place.write("b.md", "steady words\n")
    spied.before = lambda: place.write("a.md", "second words now\n")
    place.run()
    assert (spied.together, spied.alone) == (["a.md", "b.md"], ["a.md"])
    assert place.found("second") == ["a.md"]
    assert place.found("first") == []


def test_a_file_that_vanishes_on_the_way_costs_itself(place: Any, spied: Spied) -> None:
    place.write("a.md", "first words\n")
    place.write("b.md", "steady words\n")
    spied.before = lambda: (place.docs / "a.md").unlink(missing_ok=True)
    place.run()
    assert place.states() == {"b.md": "Ready"}


def test_a_run_that_is_stopped_stores_what_it_has(place: Any, spied: Spied) -> None:
    write_some(place)

    def stopped() -> None:
        raise Cancelled("stopped")

    spied.before = stopped
    place.run()
    assert "d0/n00.md" not in place.states()
    spied.before = lambda: None
    place.run()
    assert place.states()["d0/n00.md"] == "Ready"
