"""The parent's side of the child processes: one child, and the pool that lends them."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from seoga.contracts.stop import stoppable, stopped
from seoga.errors import Cancelled, ExtractionFailed, Reason, ServiceUnavailable
from seoga.settings import environment
from seoga_extraction.frames import HEADER, Orders, message_of
from seoga_extraction.lanes import Lane
from seoga_extraction.limits import Limits, resident_mb

RECYCLE_FILES = 20_000
# So long a stop may go unnoticed.
_LOOK_S = 0.2


class Gone(Exception):
    """The child ended before it had taken the request."""


class Child:
    """One child process. Used by one thread at a time."""

    def __init__(self, package: str, lane: Lane) -> None:
        orders = Orders(os.getpid(), package, lane)
        self._limits = lane.limits
        # -P: a json.py in the working directory must not be imported. A session of its own: Ctrl-C
        # is for the parent, which decides what is still finished.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "seoga_extraction.worker", orders.to_text()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=environment(**lane.environment),
        )
        self._buffer = bytearray()
        self._files = 0
        self._rss = 0

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def worn(self) -> bool:
        """Whether it has served so much that a fresh one should follow."""
        return self._files >= RECYCLE_FILES or self._rss >= self._limits.recycle_mb

    @property
    def files(self) -> int:
        """How many it was asked for."""
        return self._files

    @property
    def rss_mb(self) -> int:
        """MiB it held after its last file."""
        return self._rss

    def send(self, path: Path, name: str, whole: bool = False) -> None:
        """Asks for one file; `whole`: for all of it, though its format has another lane. Raises
        Gone."""
        self._ask({"path": str(path), "name": name, "whole": whole})
        self._files += 1

    def check(self) -> None:
        """Asks what its formats found to work with. Raises Gone."""
        self._ask({"check": True})

    def finish(self, files: Sequence[tuple[Path, str, Any]], task: str) -> None:
        """Asks for what `task` makes of each file (see `seoga_extraction.finishing`). Raises
        Gone."""
        told = [(str(path), name, what) for path, name, what in files]
        self._ask({"finish": task, "files": told})
        self._files += len(files)

    def _ask(self, request: dict[str, Any]) -> None:
        pipe = self._process.stdin
        if pipe is None or self._process.poll() is not None:
            raise Gone
        try:
            pipe.write(json.dumps(request).encode() + b"\n")
            pipe.flush()
        except OSError as error:
            raise Gone from error

    def messages(self) -> Iterator[dict[str, Any]]:
        """The frames of the file asked for, up to its last. Raises ExtractionFailed (timeout,
        crash, out_of_memory), Cancelled; the time that the caller takes between frames is not
        counted."""
        left = self._limits.time_s
        while True:
            started = time.monotonic()
            message = self._frame(started + left)
            left += message.get("grant_s", 0) - (time.monotonic() - started)
            self._rss = message.get("rss", self._rss)
            yield message
            if message.get("end"):
                return

    def _frame(self, deadline: float) -> dict[str, Any]:
        self._fill(HEADER.size, deadline)
        (length,) = HEADER.unpack_from(self._buffer)
        self._fill(HEADER.size + length, deadline)
        body = bytes(self._buffer[HEADER.size : HEADER.size + length])
        del self._buffer[: HEADER.size + length]
        return message_of(body)

    def _fill(self, size: int, deadline: float) -> None:
        if len(self._buffer) >= size or self._process.stdout is None:
            return
        descriptor = self._process.stdout.fileno()
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        while len(self._buffer) < size:
            wait = deadline - time.monotonic()
            if wait <= 0:
                raise _timeout(self._limits)
            if stopped():
                raise Cancelled("stopped")
            if not poll.poll(1000 * (min(wait, _LOOK_S) if stoppable() else wait)):
                continue
            piece = os.read(descriptor, 1 << 20)
            if not piece:
                raise self._autopsy()
            self._buffer += piece

    def _autopsy(self) -> ExtractionFailed:
        """What the end of this process says about the file it was at."""
        self.kill()
        code = self._process.returncode
        if code == -signal.SIGXCPU:
            return _timeout(self._limits)
        if code == -signal.SIGKILL:
            return ExtractionFailed(
                "The parser was killed by the system, most likely for memory.",
                "Split the document or give the machine more memory.",
                Reason.OUT_OF_MEMORY,
            )
        how = f"signal {-code}" if code < 0 else f"exit status {code}"
        return ExtractionFailed(
            f"The parser crashed on this document ({how}).",
            "Other files are not affected. Report it with the file.",
            Reason.CRASH,
        )

    def stop(self) -> None:
        """Ends it while another thread reads from it; that thread finds out and reaps it."""
        if self._process.returncode is not None:
            return
        # With its session: programs that it runs (tesseract) must not outlive it.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def kill(self) -> None:
        """Ends it at once (it holds nothing that must be saved) and reaps it."""
        self.stop()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None and not pipe.closed:
                # What is still buffered for a dead child is of no use.
                try:
                    pipe.close()
                except OSError:
                    continue


class Pool:
    """At most `lane.size` children, started when first needed. Thread-safe."""

    def __init__(self, package: str, lane: Lane) -> None:
        self._package = package
        self._lane = lane
        self._idle: list[Child] = []
        self._busy: set[Child] = set()
        self._starting = 0
        self._closed = False
        self._change = threading.Condition()
        # Children die with the thread that started them (PR_SET_PDEATHSIG), so it must stay.
        self._spawner = ThreadPoolExecutor(1, thread_name_prefix="seoga-extract-spawn")

    @property
    def closed(self) -> bool:
        """Whether `close` was called: children that end now say nothing about their file."""
        return self._closed

    @property
    def name(self) -> str:
        """What its children read: "common" formats, or that of their lane."""
        return self._lane.name or "common"

    def resident_mb(self) -> int:
        """MiB that all its children hold in memory now."""
        with self._change:
            pids = [child.pid for child in (*self._idle, *self._busy)]
        return sum(map(resident_mb, pids))

    def take(self, fresh: bool = False) -> Child:
        """A child for one file; waits while all are busy. `fresh`: one that has read none yet.
        Raises ServiceUnavailable when closed."""
        used = None
        with self._change:
            while True:
                if self._closed:
                    raise ServiceUnavailable("Extraction is closing.")
                if self._idle:
                    child = self._idle.pop()
                    if not (fresh and child.files):
                        self._busy.add(child)
                        return child
                    used = child
                    break
                if len(self._busy) + self._starting < self._lane.size:
                    break
                self._change.wait()
            self._starting += 1
        if used is not None:
            used.kill()
        return self._start()

    def _start(self) -> Child:
        child: Child | None = None
        try:
            child = self._spawner.submit(Child, self._package, self._lane).result()
        except (OSError, RuntimeError) as error:
            raise ServiceUnavailable(f"No extraction process could start ({error}).") from error
        finally:
            with self._change:
                self._starting -= 1
                if child is not None:
                    self._busy.add(child)
                    if self._closed:
                        child.stop()
                self._change.notify()
        return child

    def give(self, child: Child, healthy: bool) -> None:
        """Brings a child back; one that is not healthy, or worn, is ended."""
        keep = healthy and not child.worn
        with self._change:
            self._busy.discard(child)
            keep = keep and not self._closed
            if keep:
                self._idle.append(child)
            self._change.notify()
        if not keep:
            child.kill()

    def close(self) -> None:
        """Ends all children, busy ones too."""
        with self._change:
            self._closed = True
            idle, self._idle = self._idle, []
            for child in self._busy:
                child.stop()
            self._change.notify_all()
        for child in idle:
            child.kill()
        self._spawner.shutdown()


def _timeout(limits: Limits) -> ExtractionFailed:
    return ExtractionFailed(
        f"The document was not read within {limits.time_s:g} s.",
        "Raise SEOGA_EXTRACT_TIMEOUT_S, or save it in a simpler form.",
        Reason.TIMEOUT,
    )
