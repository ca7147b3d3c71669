"""When a file was last changed on its branch, read from the log only as far back as needed."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator
from pathlib import Path

from seoga_indexer.sources.git.command import Git, GitFailed
from seoga_indexer.sources.git.tree import name_of

# Reading the log of a very long history must not hold a run up: older files get the date reached.
MOST_S = 30.0

_LOG = (
    "log", "--first-parent", "-m", "--name-only", "-z", "--no-renames", "--no-ext-diff",
    "--no-textconv", "--format=%x01%ct",
)  # fmt: skip


class Dates:
    """Commit dates by path. A changed file was changed lately, so an incremental run reads little;
    the first run reads the log once. Thread-safe."""

    def __init__(self, git: Git, folder: Path, commit: str, prefix: str = "") -> None:
        self._log = self._entries(git, folder, commit, prefix)
        self._prefix = prefix
        self._lock = threading.Lock()
        self._seen: dict[str, int] = {}
        self._last = 0
        self._spent = 0.0

    def of(self, path: str) -> int:
        """Nanoseconds since the epoch of the newest commit that touched the path, 0 if unknown."""
        with self._lock:
            started = time.monotonic()
            while path not in self._seen:
                if self._spent + time.monotonic() - started > MOST_S:
                    break
                entry = next(self._log, None)
                if entry is None:
                    break
                self._seen.setdefault(*entry)
            self._spent += time.monotonic() - started
            return self._seen.get(path, self._last) * 1_000_000_000

    def _entries(
        self, git: Git, folder: Path, commit: str, prefix: str
    ) -> Generator[tuple[str, int], None, None]:
        below = ("--", f":(top,literal){prefix}") if prefix else ("--",)
        try:
            for record in git.records(folder, *_LOG, commit, *below):
                # A commit is `\1<seconds>`; its first name follows a line end.
                if record.startswith(b"\1") and record[1:].isdigit():
                    self._last = int(record[1:])
                elif name := record.removeprefix(b"\n"):
                    yield name_of(name).removeprefix(self._prefix), self._last
        except GitFailed:
            return

    def close(self) -> None:
        """Ends the log."""
        with self._lock:
            self._log.close()
