"""Two indexer containers on one volume: one works; when it is frozen for longer than its lease the
other takes over, and the first, thawed while that one writes, writes nothing any more."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .test_end_to_end import engine_answers, until

CHECKOUT = Path(__file__).resolve().parents[2]
PROJECT = "seoga-fencing"
FILES = 200
LEASE_S = 6
SETTINGS = {"services": {"indexer": {"environment": {"SEOGA_LEASE_SECONDS": str(LEASE_S)}}}}
WRITER = """
import sqlite3, sys
conn = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
print(conn.execute("SELECT owner FROM leases WHERE name = 'writer'").fetchone()[0])
"""
# Ends with 0 where nobody is in the middle of a write to one of the two databases.
FREE = """
import pathlib, sqlite3, sys
rag = pathlib.Path(sys.argv[1])
for path in (rag, rag.parents[1] / "queue.db"):
    conn = sqlite3.connect(f"file:{path}?mode=rw", uri=True, timeout=1, isolation_level=None)
    conn.execute("BEGIN IMMEDIATE")
    conn.execute("ROLLBACK")
"""
# Rows that one file, or one chunk, has more than once or not at all.
COUNTS = """
import json, sqlite3, sys
conn = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
one = lambda sql: conn.execute(sql).fetchone()[0]
print(json.dumps({
    "files": one("SELECT count(*) FROM files"),
    "paths": one("SELECT count(DISTINCT label || '/' || path) FROM files"),
    "states": conn.execute("SELECT DISTINCT state FROM files").fetchall(),
    "twice": one("SELECT count(*) FROM (SELECT 1 FROM chunks GROUP BY file_id, ordinal"
                 " HAVING count(*) > 1)"),
    "unindexed": one("SELECT (SELECT count(*) FROM chunks) - (SELECT count(*) FROM chunks_fts)"),
}))
"""

pytestmark = [pytest.mark.containers, pytest.mark.slow, pytest.mark.timeout(1200)]


class Pair:
    """Two indexers of one Compose project, with the extraction and embedding that they need."""

    def __init__(self, folder: Path, docs: Path) -> None:
        override = folder / "lease.yaml"
        override.write_text(json.dumps(SETTINGS))
        files = ["-f", str(CHECKOUT / "compose.yaml"), "-f", str(override)]
        self._compose = ["docker", "compose", "-p", PROJECT, *files]
        self._env = {**os.environ, "DOCS": str(docs)}

    def compose(self, *words: str, timeout: float = 120) -> str:
        done = subprocess.run(
            [*self._compose, *words],
            cwd=CHECKOUT,
            env=self._env,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
        return done.stdout

    def up(self) -> None:
        both = ["up", "-d", "--build", "--wait", "--wait-timeout", "300", "--scale", "indexer=2"]
        self.compose(*both, "extraction", "embedding", "indexer", timeout=900)
        self.containers = self.compose("ps", "-q", "indexer").split()
        assert len(self.containers) == 2

    def said(self, container: str) -> list[dict[str, Any]]:
        """The log of one container: an object a line."""
        done = subprocess.run(["docker", "logs", container], capture_output=True, check=True)
        lines = (done.stdout + done.stderr).decode("utf-8", "replace").splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    def events(self, container: str) -> list[str]:
        return [str(line.get("event")) for line in self.said(container)]

    def working(self) -> str:
        """The container whose log tells of a run, "" while there is none."""
        found = [one for one in self.containers if "run started" in self.events(one)]
        assert len(found) < 2, "two at once"
        return found[0] if found else ""

    def ask(self, container: str, script: str, kb_id: str) -> str:
        """What a script prints in a container about the database of the knowledge base."""
        command = ["docker", "exec", container, "python3", "-c", script, f"/data/{kb_id}/rag.db"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return done.stdout

    def writes(self, container: str, kb_id: str) -> bool:
        """Whether a container has the lease of the writer: an owner begins with its host name."""
        return self.ask(container, WRITER, kb_id).startswith(container[:12])

    def freeze(self, owner: str, other: str, kb_id: str) -> None:
        """Freezes a container between two writes: a process that stands still inside a write keeps
        the lock of the file, which is the one thing that no lease can take from it."""
        write_is_over = threading.Event()
        check = ["docker", "exec", other, "python3", "-c", FREE, f"/data/{kb_id}/rag.db"]
        for _ in range(20):
            docker("pause", owner)
            tried = subprocess.run(check, capture_output=True, text=True, check=False)
            if tried.returncode == 0:
                return
            assert "database is locked" in tried.stderr, tried.stderr
            docker("unpause", owner)
            write_is_over.wait(0.2)
        pytest.fail("20 times in the middle of a write")

    def down(self) -> None:
        for container in getattr(self, "containers", ()):
            # A frozen one cannot be stopped; one that is not frozen is no trouble here.
            subprocess.run(["docker", "unpause", container], capture_output=True, check=False)
        self.compose("down", "-v", "--timeout", "15")


def docker(command: str, container: str) -> None:
    subprocess.run(["docker", command, container], capture_output=True, check=True)


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    if not engine_answers():
        pytest.skip("no Docker engine with Compose v2 here")
    docs = tmp_path / "docs"
    docs.mkdir()
    for number in range(FILES):
        parts = (f"## Part {part}\n\n" + f"word{number}x{part} " * 150 for part in range(8))
        (docs / f"f{number:03}.md").write_text(f"# Document {number}\n\n" + "\n\n".join(parts))
    # The user of the containers is nobody's.
    for parent in [docs, *docs.parents]:
        if parent.owner() == docs.owner() and parent != Path(parent.anchor):
            parent.chmod(parent.stat().st_mode | 0o055)
    both = Pair(tmp_path, docs)
    try:
        both.up()
        yield both
    finally:
        both.down()


def test_a_frozen_indexer_is_replaced_and_does_not_write_when_it_thaws(pair: Pair) -> None:
    added = pair.compose("exec", "-T", "indexer", "seoga", "add", "/docs", "--json")
    kb_id = json.loads(added)["kb_id"]
    until(pair.working, 60, "one of the two starts the run")
    owner = pair.working()
    (other,) = [one for one in pair.containers if one != owner]
    pair.freeze(owner, other, kb_id)
    frozen = time.monotonic()
    assert "run ended" not in pair.events(owner), "the run was over before it could be frozen"
    assert "run started" not in pair.events(other)

    until(lambda: pair.writes(other, kb_id), 60, "the other takes over")
    # The last renewal was at most a third of its time ago.
    assert time.monotonic() - frozen > LEASE_S / 2

    before = len(pair.said(owner))
    docker("unpause", owner)
    until(lambda: "run failed" in pair.events(owner), 60, "the late one notices")
    until(lambda: "run ended" in pair.events(other), 600, "the other ends the run")
    late = pair.said(owner)[before:]
    assert any("lease" in str(line.get("error")) for line in late), late
    assert "run ended" not in [line.get("event") for line in late]

    whole = {"files": FILES, "paths": FILES, "states": [["Ready"]], "twice": 0, "unindexed": 0}
    assert json.loads(pair.ask(other, COUNTS, kb_id)) == whole
    # Exits with another status when anything is wrong.
    told = pair.compose("exec", "-T", "indexer", "seoga", "doctor", "--deep")
    assert "fail" not in told
