"""Keyword-only index of 10,000 Markdown files of 2.4 KB, half Korean, half English.

Shows seconds to index, to rescan with nothing changed and after one edit; beside them a bare loop
that reads the files and inserts the very same rows into the same schema.
"""

from __future__ import annotations

import json
import random
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from bench import HANDED, SEOGA, Clock, clean_environment, run_json

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


def bare_loop(docs: Path, database: Path, scratch: Path) -> tuple[float, int]:
    """(seconds, rows): reading every file and inserting what the index holds, nothing else."""
    with closing(sqlite3.connect(database)) as source:
        held = []
        for name, virtual in tables(source):
            rowid = "rowid, " if virtual else ""
            cursor = source.execute(f'SELECT {rowid}* FROM "{name}"')
            columns = ", ".join(f'"{column[0]}"' for column in cursor.description)
            held.append((name, columns, cursor.fetchall()))
    with closing(sqlite3.connect(scratch / "bare.db", isolation_level=None)) as target:
        target.execute("PRAGMA journal_mode = WAL")
        target.execute("PRAGMA synchronous = NORMAL")
        for migration in sorted(MIGRATIONS.glob("*.sql")):
            target.executescript(migration.read_text(encoding="utf-8"))
        started = time.perf_counter()
        for path in docs.rglob("*.md"):
            path.read_bytes()
        target.execute("BEGIN IMMEDIATE")
        for name, columns, rows in held:
            if rows:
                marks = ", ".join("?" * len(rows[0]))
                target.executemany(
                    f'INSERT OR REPLACE INTO "{name}" ({columns}) VALUES ({marks})', rows
                )
        target.execute("COMMIT")
        return time.perf_counter() - started, sum(len(rows) for *_, rows in held)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="seoga-bench-") as name:
        scratch = Path(name)
        docs = scratch / "docs"
        print(f"{FILES} files, {make_files(docs) / 1e6:.1f} million characters")
        kb = make_kb(scratch / "base", docs)
        environment = clean_environment(scratch / "base")
        command = [*SEOGA, "exec", "--path", str(kb), "--json"]
        with Clock() as first:
            result = run_json(command, environment)
        print(f"index    {first.seconds:6.2f} s   {result}")
        with Clock() as second:
            result = run_json(command, environment)
        print(f"rescan   {second.seconds:6.2f} s   {result}")
        edited = docs / "ko" / "000" / "note-00000.md"
        edited.write_text(edited.read_text(encoding="utf-8") + "\n끝.\n", encoding="utf-8")
        with Clock() as third:
            result = run_json(command, environment)
        print(f"one edit {third.seconds:6.2f} s   {result}")
        bare, rows = bare_loop(docs, kb / "rag.db", scratch)
        print(f"bare     {bare:6.2f} s   {rows} rows; index/bare = {first.seconds / bare:.2f}")
        size = (kb / "rag.db").stat().st_size
        print(f"rag.db   {size / 1e6:6.1f} MB")


if __name__ == "__main__":
    sys.exit(main())
