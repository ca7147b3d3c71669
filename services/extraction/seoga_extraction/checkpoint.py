"""What was read of a long file so far, kept until it is done: after a crash the rest is enough."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from seoga.errors import ExtractionFailed

# A file that nobody asks for again within this time leaves nothing behind.
KEPT_S = 30 * 24 * 3600
# What was read to its end, but whose reader may die before it has stored it.
DONE_S = 3600


def key_of(path: Path, *how: str) -> str:
    """Names the content of a file together with how it is read."""
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256")
    digest.update("\0".join(how).encode())
    return digest.hexdigest()


class Checkpoint:
    """The parts of one file, one JSON object a line. Use it in a `with`; `finish` deletes it, at
    once or after the seconds `done_s`. One thread at a time.

    It is a convenience: where its folder cannot be written, or another process reads the same file
    now, it holds nothing and takes everything.
    """

    def __init__(self, folder: Path, key: str, done_s: float = 0) -> None:
        self._path = folder / f"{key}.jsonl"
        self._done_s = done_s
        self._stream: IO[str] | None = None
        self.parts: list[dict[str, Any]] = []
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            _sweep(folder)
            self._open()

    def _open(self) -> None:
        stream = self._path.open("a+", encoding="utf-8")
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            stream.close()
            return
        stream.seek(0)
        whole = 0
        for line in stream:
            # A crash can leave half a line.
            if not line.endswith("\n"):
                break
            self.parts.append(json.loads(line))
            whole += len(line.encode())
        stream.truncate(whole)
        self._stream = stream

    def add(self, part: Mapping[str, Any]) -> None:
        """One more part, on disk when this returns."""
        if self._stream is None:
            return
        with contextlib.suppress(OSError):
            self._stream.write(json.dumps(part, ensure_ascii=False) + "\n")
            self._stream.flush()
            os.fsync(self._stream.fileno())

    def finish(self) -> None:
        """The file was read to its end."""
        if self._stream is None:
            return
        if not self._done_s or not self._size():
            self._path.unlink(missing_ok=True)
            return
        last = time.time() - KEPT_S + self._done_s
        with contextlib.suppress(OSError):
            os.utime(self._path, (last, last))

    def _size(self) -> int:
        return 0 if self._stream is None else os.fstat(self._stream.fileno()).st_size

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._stream is None:
            return
        # A broken file breaks at the same place again; only a process that dies leaves work to do.
        if isinstance(error, ExtractionFailed) or not self._size():
            self.finish()
        self._stream.close()


def _sweep(folder: Path) -> None:
    now = time.time()
    for old in folder.glob("*.jsonl"):
        if now - old.stat().st_mtime > KEPT_S:
            old.unlink(missing_ok=True)
