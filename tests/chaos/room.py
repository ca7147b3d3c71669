"""A knowledge base to hurt: its documents change, its runs are disturbed, its index is audited."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from contextlib import closing, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

from seoga.errors import NotFound
from seoga.kb import find_kb
from seoga.storage.audit import audit
from seoga.storage.database import open_reader
from seoga.text.tokens import index_text
from seoga_indexer.pipeline import content_hash

CHILD = Path(__file__).with_name("child.py")
WORDS = tuple(
    [
        "색인",
        "문서",
        "검색",
        "서가",
        "회의",
        "결정",
        "예산",
        "index",
        "search",
        "folder",
        "report",
        "budget",
        "plan",
    ]
)
INDEX = (
    "SELECT f.label, f.path, f.hash, f.size, f.state, f.reason, f.made, f.chunk_count, c.ordinal,"
    ' c.text, c.start, c."end", c.state, x.title, x.heading, x.body, c.context, c.keywords,'
    " x.context, x.keywords, g.key, v.count, hex(v.data)"
    " FROM files f LEFT JOIN chunks c ON c.file_id = f.id LEFT JOIN chunks_fts x ON x.rowid = c.id"
    " LEFT JOIN vectors v ON v.chunk_id = c.id LEFT JOIN generations g ON g.id = v.generation"
    " ORDER BY f.label, f.path, c.ordinal"
)
OTHERS = (
    "SELECT term, df FROM terms ORDER BY term",
    "SELECT hash, hint, made FROM extractions ORDER BY 1, 2",
    "SELECT key, status FROM generations",
)
FIRST = 100
CHEAP = (".md",)
LIMIT_S = 120.0


class Room:
    """`docs` and the KB `kb` over it; `chance` decides what happens."""

    def __init__(self, folder: Path, seed: int, first: int = FIRST) -> None:
        self.base, self.docs, self.folder = folder / "base", folder / "docs", folder
        self.chance = random.Random(seed)
        self.made, self.first = 0, first
        # Of what is in the database itself, not only in its log: no power cut takes that away.
        self.safe: set[str] = set()
        (self.base / "kb").mkdir(parents=True)
        self.docs.mkdir(parents=True)
        for _ in range(first):
            self.add()
        self.configure("hashing")

    def configure(self, provider: str, **keys: Any) -> None:
        config = keys | {
            "id": "kb",
            "sourcePaths": [str(self.docs)],
            "embedding": {"provider": provider},
            "chunking": {"targetChars": 500},
        }
        (self.base / "kb" / "config.json").write_text(json.dumps(config))

    @property
    def db_path(self) -> Path:
        return find_kb(self.base, "kb").db_path

    def files(self) -> list[Path]:
        return sorted(path for path in self.docs.rglob("*") if path.is_file())

    def add(self) -> None:
        """A new file: half of them HTML, whose text is kept, some broken, empty or copies."""
        self.made += 1
        path = self.docs / f"d{self.made % 5}" / f"f{self.made:05}"
        path.parent.mkdir(exist_ok=True)
        kind = self.chance.random()
        if kind < 0.03:
            path.with_suffix(".pdf").write_bytes(b"%PDF-1.7 cut off" + bytes([self.made % 256]))
        elif kind < 0.05:
            path.with_suffix(".md").write_text("")
        elif kind < 0.15 and (others := self.files()):
            other = self.chance.choice(others)
            shutil.copyfile(other, path.with_suffix(other.suffix))
        elif kind < 0.6:
            body = "".join(f"<h2>{t}</h2><p>{self.text()}</p>" for t in range(3))
            path.with_suffix(".html").write_text(f"<html><body>{body}</body></html>")
        else:
            path.with_suffix(".md").write_text(f"# Document {self.made}\n\n{self.text()}")

    def text(self) -> str:
        self.made += 1
        return f"{self.made} " + " ".join(self.chance.choices(WORDS, k=90))

    def change(self) -> None:
        """Some files are added, edited, renamed, copied over and deleted."""
        for _ in range(self.chance.randint(5, 25)):
            self.add()
        for path in self.chance.sample(self.files(), 8):
            what = self.chance.random()
            if what < 0.4 and path.suffix == ".md":
                path.write_text(path.read_text() + f"\n\n## More\n\n{self.text()}")
            elif what < 0.7:
                self.made += 1
                path.rename(path.parent.parent / "d0" / f"moved{self.made:05}{path.suffix}")
            elif len(self.files()) > self.first:
                path.unlink()

    def start(self, **options: float) -> subprocess.Popen[str]:
        command = [sys.executable, str(CHILD), str(self.base), str(self.log), json.dumps(options)]
        # The fake provider takes any key.
        env = {**os.environ, "OPENAI_API_KEY": "any"}
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
        assert child.stdout is not None
        assert child.stdout.readline() == "running\n"
        return child

    @property
    def log(self) -> Path:
        return self.folder / "work.log"

    def wal(self) -> Path:
        return self.db_path.with_name(self.db_path.name + "-wal")

    def worked(self) -> Counter[str]:
        """What was done since the last call."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return Counter(_work(*line.split()) for line in lines)

    def query(self, sql: str) -> list[Any]:
        try:
            with closing(open_reader(self.db_path)) as conn:
                return conn.execute(sql).fetchall()
        except NotFound:
            return []

    def stored(self) -> set[str]:
        """The work that is in the index: it must not be done again."""
        rows = set(self.query("SELECT path, hash FROM files"))
        have = {content for _, content in rows}
        done = set()
        for path in self.files():
            name, content = str(path.relative_to(self.docs)), content_hash(path)
            known = (name, content) in rows if path.suffix in CHEAP else content in have
            if known and path.stat().st_size:
                done.add(_work("read", name, _digest(path.read_bytes())))
        # Copies that came while the original was waiting wait with it, and get their own.
        texts = self.query("SELECT text FROM chunks GROUP BY text HAVING min(state = 'Indexed')")
        return done | {_work("embed", "-", _digest(text.encode())) for (text,) in texts}

    def faults(self) -> dict[str, list[str]]:
        try:
            with closing(open_reader(self.db_path)) as conn:
                return {name: [*map(str, f)] for name, f in audit(conn, index_text).items() if f}
        except NotFound:
            return {}

    def content(self) -> list[list[Any]]:
        return [self.query(sql) for sql in (INDEX, *OTHERS)]


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=8).hexdigest()


def _work(kind: str, name: str, content: str) -> str:
    # Of these nothing is kept: a copy is read like any file, but once.
    return f"{kind} {name if name.endswith(CHEAP) else ''} {content}"


def finish(child: subprocess.Popen[str]) -> tuple[int, dict[str, Any]]:
    """Waits for a run: its exit code and its last line."""
    with child:
        out, _ = child.communicate(timeout=LIMIT_S)
    said = out.splitlines()
    return child.returncode, json.loads(said[-1]) if said else {}


def wait(child: subprocess.Popen[str], seconds: float) -> None:
    """Until the child ends, at most so long."""
    with suppress(subprocess.TimeoutExpired):
        child.wait(seconds)


def undisturbed(room: Room, folder: Path) -> list[list[Any]]:
    """The content of an index that is made of the same documents at once."""
    fresh = folder / "fresh"
    shutil.copytree(room.base / "kb", fresh / "base" / "kb", ignore=_only_config)
    clone = object.__new__(Room)
    clone.base, clone.docs, clone.folder = fresh / "base", room.docs, fresh
    code, said = finish(clone.start())
    assert code == 0, said
    return clone.content()


def _only_config(_: str, names: list[str]) -> list[str]:
    return [name for name in names if name not in ("config.json", "labels.json")]
