"""Keyword-only index of 10,000 Markdown files of 2.4 KB, half Korean, half English.

Shows seconds by the clock and of CPU (all processes together, which other work on the machine
changes less) to index, to rescan with nothing changed (the first such run looks at every file and
remembers the folders, the second passes over them) and after one edit. Beside them a bare loop: it
reads the files, then inserts the very same rows of every table, full-text ones with their tokens,
into the same schema, over one connection and in one transaction, table by table. What has to be
done to get the rows (parsing, cutting, tokenising, counting terms) is not in it, nor is the write
back of its WAL. Beside that, what the run's writer does with the same files once they are cut and
tokenised (transactions of as many files, counting terms, keeping what is there in order), alone.
"""

from __future__ import annotations

import compileall
import gc
import json
import os
import random
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from bench import HANDED, SEOGA, Clock, clean_environment, run_json

from seoga.storage.database import open_reader, open_writer
from seoga.storage.documents import DocumentStore
from seoga_indexer.writer import MAX_FILES

# A table: its name, its columns, its rows.
Held = tuple[str, str, list[tuple[object, ...]]]

FILES = 10_000
BYTES = 2_400
SETS = {"ko": ("korquad_ko",), "en": ("scifact_en", "xquad_en")}
ROOT = Path(__file__).resolve().parents[2]
MIGRATIONS = ROOT / "shared" / "seoga" / "storage" / "migrations" / "rag"


def passages(sets: tuple[str, ...]) -> list[tuple[str, list[str]]]:
    """(title, sentences) of every handed document of these benchmark sets."""
    out = []
    for name in sets:
        with (HANDED / "bench" / name / "corpus.jsonl").open(encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                parts = [part for part in row["text"].split(". ") if part.strip()]
                out.append(
                    (row["title"].replace("_", " "), [f"{part.strip('. ')}." for part in parts])
                )
    return out


def markdown(known: list[tuple[str, list[str]]], rng: random.Random) -> str:
    """One file: a title, then headed paragraphs of sentences that were never together before."""
    text = f"# {rng.choice(known)[0]}\n"
    while len(text.encode()) < BYTES:
        title, _ = rng.choice(known)
        text += f"\n## {title}\n\n"
        for _ in range(3):
            _, sentences = rng.choice(known)
            text += " ".join(rng.sample(sentences, min(2, len(sentences)))) + " "
        text = text.rstrip() + "\n"
    return text.encode()[:BYTES].decode("utf-8", "ignore")


def make_files(folder: Path) -> int:
    """Writes the files, the same ones every time; returns their bytes."""
    rng = random.Random(20261130)
    total = 0
    known = {lang: passages(sets) for lang, sets in SETS.items()}
    for number in range(FILES):
        lang = ("ko", "en")[number % 2]
        path = folder / lang / f"{number // 200:03d}" / f"note-{number:05d}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        total += path.write_text(markdown(known[lang], rng), encoding="utf-8")
    return total


def make_kb(base: Path, docs: Path) -> Path:
    """A knowledge base without an embedder."""
    kb = base / "bench-10k"
    kb.mkdir(parents=True)
    config = {"id": kb.name, "name": kb.name, "sourcePaths": [str(docs)]}
    config["embedding"] = {"provider": ""}
    (kb / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return kb


def tables(conn: sqlite3.Connection) -> Iterator[tuple[str, bool]]:
    """(name, virtual) of the tables written directly: shadow tables follow by themselves."""
    rows = conn.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
    virtual = [name for name, sql in rows if sql and sql.upper().startswith("CREATE VIRTUAL")]
    for name, _ in rows:
        shadow = any(name.startswith(f"{owner}_") for owner in virtual) and name not in virtual
        if not shadow and not name.startswith("sqlite_"):
            yield name, name in virtual


def rows_of(source: sqlite3.Connection) -> list[Held]:
    """What the index holds, table by table."""
    held = []
    for name, virtual in tables(source):
        rowid = "rowid, " if virtual else ""
        cursor = source.execute(f'SELECT {rowid}* FROM "{name}"')
        columns = ", ".join(f'"{column[0]}"' for column in cursor.description)
        held.append((name, columns, cursor.fetchall()))
    return held


def bare_loop(docs: Path, held: list[Held], scratch: Path) -> float:
    """Reading every file and inserting what the index holds, nothing else; the seconds of CPU that
    the inserts took."""
    with closing(sqlite3.connect(scratch / "bare.db", isolation_level=None)) as target:
        target.execute("PRAGMA journal_mode = WAL")
        target.execute("PRAGMA synchronous = NORMAL")
        for migration in sorted(MIGRATIONS.glob("*.sql")):
            target.executescript(migration.read_text(encoding="utf-8"))
        for path in docs.rglob("*.md"):
            path.read_bytes()
        _settle_memory()
        with Cpu() as cpu:
            target.execute("BEGIN IMMEDIATE")
            for name, columns, rows in held:
                if rows:
                    marks = ", ".join("?" * len(rows[0]))
                    target.executemany(
                        f'INSERT OR REPLACE INTO "{name}" ({columns}) VALUES ({marks})', rows
                    )
            target.execute("COMMIT")
    return cpu.seconds


def _settle_memory() -> None:
    """What is held ready for a loop is no part of it; thresholds are those of the command."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000)


def storing(index: Path, scratch: Path) -> float:
    """The seconds of CPU that a run's writer takes for the same files, cut and tokenised before."""
    with closing(DocumentStore(open_reader(index))) as held:
        ids = [number for (number,) in held.conn.execute("SELECT id FROM files ORDER BY id")]
        files = [one for one in map(held.packed_again, ids) if one is not None]
    _settle_memory()
    with closing(DocumentStore(open_writer(scratch / "stored.db"))) as store:
        store.ensure_generation(None)
        with Cpu() as cpu:
            for at in range(0, len(files), MAX_FILES):
                store.commit_packed(files[at : at + MAX_FILES])
    return cpu.seconds


class Cpu:
    """`with Cpu() as cpu: …`, then `cpu.seconds`: of this process and of children that ended."""

    seconds = 0.0

    def __enter__(self) -> Cpu:
        self._started = self._spent()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = self._spent() - self._started

    def _spent(self) -> float:
        spent = os.times()
        return spent.user + spent.system + spent.children_user + spent.children_system


def shown(name: str, command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Runs and prints; seconds by the clock and of CPU."""
    with Clock() as clock, Cpu() as cpu:
        result = run_json(command, environment)
    print(f"{name:8} {clock.seconds:6.2f} s, CPU {cpu.seconds:6.2f} s   {result}")
    return clock.seconds, cpu.seconds


def main() -> None:
    # As after `make install`: where Python may keep no bytecode, each start would make it anew.
    for folder in ("shared/seoga", "services"):
        compileall.compile_dir(ROOT / folder, quiet=2)
    with tempfile.TemporaryDirectory(prefix="seoga-bench-") as name:
        scratch = Path(name)
        docs = scratch / "docs"
        print(f"{FILES} files, {make_files(docs) / 1e6:.1f} million characters")
        kb = make_kb(scratch / "base", docs)
        environment = clean_environment(scratch / "base")
        command = [*SEOGA, "exec", "--path", str(kb), "--json"]
        first = shown("index", command, environment)
        shown("rescan", command, environment)
        shown("again", command, environment)
        edited = docs / "ko" / "000" / "note-00000.md"
        edited.write_text(edited.read_text(encoding="utf-8") + "\n끝.\n", encoding="utf-8")
        shown("one edit", command, environment)
        with closing(sqlite3.connect(kb / "rag.db")) as conn:
            held = rows_of(conn)
        with Clock() as clock, Cpu() as cpu:
            bare = bare_loop(docs, held, scratch)
        stored = storing(kb / "rag.db", scratch)
        rows = sum(len(rows) for *_, rows in held)
        print(
            f"bare     {clock.seconds:6.2f} s, CPU {cpu.seconds:6.2f} s   {rows} rows; index/bare ="
            f" {first[0] / clock.seconds:.2f} by the clock, {first[1] / cpu.seconds:.2f} of CPU"
        )
        print(
            f"storing          CPU {stored:6.2f} s   what the writer alone takes; the bare inserts"
            f" take {bare:.2f} s, {bare / stored:.2f} of it"
        )
        size = (kb / "rag.db").stat().st_size
        print(f"rag.db   {size / 1e6:6.1f} MB")


if __name__ == "__main__":
    sys.exit(main())
