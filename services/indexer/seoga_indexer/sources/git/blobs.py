"""Contents of a repository, through one `git cat-file --batch` that stays open."""

from __future__ import annotations

import re
import threading
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from seoga_indexer.sources.git.command import Git, GitFailed, Running

_ID = re.compile(r"[0-9a-f]{40,64}")
_PIECE = 1 << 20


class Blobs:
    """Reads blobs of one repository by id. Thread-safe: one after another."""

    def __init__(self, git: Git, folder: Path) -> None:
        self._git, self._folder = git, folder
        self._lock = threading.Lock()
        self._running: Running | None = None

    def copy(self, blob: str, to: BinaryIO) -> int:
        """Writes a blob to a file; returns its size in bytes.

        Raises FileNotFoundError when there is no such blob, OSError when it cannot be read now.
        """
        if not _ID.fullmatch(blob):
            raise FileNotFoundError(f"{blob[:80]!r} is no id of git")
        with self._lock:
            try:
                return self._copy(blob, to)
            except (OSError, GitFailed, ValueError) as error:
                # Whatever was left unread would be taken for the next answer.
                self._end()
                if isinstance(error, OSError):
                    raise
                raise OSError(f"git does not give the content: {error}") from error

    def read(self, blob: str) -> bytes:
        """A blob as a whole, for small ones; raises like `copy`."""
        held = BytesIO()
        self.copy(blob, held)
        return held.getvalue()

    def _copy(self, blob: str, to: BinaryIO) -> int:
        if self._running is None:
            self._running = self._git.start(self._folder, "cat-file", "--batch", feed=True)
        running = self._running
        running.input.write(blob.encode() + b"\n")
        running.input.flush()
        # `<id> <type> <size>`, or `<id> missing`.
        answer = running.output.readline().split()
        if len(answer) == 2 and answer[1] == b"missing":
            raise FileNotFoundError(f"the repository has no blob {blob}")
        size = left = int(answer[2]) if len(answer) == 3 else -1
        if size < 0:
            raise ValueError("it ended")
        while left:
            piece = running.output.read(min(left, _PIECE))
            if not piece:
                raise ValueError("it ended half-way")
            to.write(piece)
            left -= len(piece)
        running.output.read(1)
        return size

    def _end(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            self._git.end(running)

    def close(self) -> None:
        """Ends the process, after the blob that is being read."""
        with self._lock:
            self._end()
