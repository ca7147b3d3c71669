"""Child processes that cut and tokenise, so that the one process that writes can keep up.

A run of few files starts none: a start costs more than they would save. Each is a
`python -m seoga_indexer.preparers FD PARENT` that answers drafts until its connection ends.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from seoga import logs
from seoga.errors import Reason
from seoga.models import DocumentInfo, Place, Section, SectionKind
from seoga.storage.packing import PackedFile
from seoga.storage.records import FileRow
from seoga_indexer.channel import Stopped
from seoga_indexer.preparing import Draft, Sizes, packed

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

# Files prepared in this process before children are worth their start.
AFTER_FILES = 100
_LOOK_S = 5.0

Result = PackedFile | FileRow
# Plain tuples: they cross the pipe several times faster than frozen dataclasses.
_Flat = tuple[str, str, tuple[str, ...], int, dict[str, Any], dict[str, Any]]
_Sent = tuple[FileRow, DocumentInfo, list[_Flat], Sizes, tuple[Reason, str] | None]

log = logs.get("indexer")


class PreparingFailed(Exception):
    """What went wrong with one file while it was cut and tokenised."""


class Preparers:
    """At most `size` children; `prepare` may be called by as many threads."""

    def __init__(self, size: int, after: int = AFTER_FILES) -> None:
        self._size, self._after = size, after
        self._seen = 0
        self._idle: list[_Child] = []
        self._busy: set[_Child] = set()
        self._lock = threading.Lock()
        self._closed = False

    def prepare(self, draft: Draft) -> Result:
        """See `seoga_indexer.preparing.packed`. Raises PreparingFailed."""
        (result,) = self.prepare_all([draft])
        if isinstance(result, PreparingFailed):
            raise result
        return result

    def prepare_all(self, drafts: Sequence[Draft]) -> list[Result | PreparingFailed]:
        """The same for several files in one trip to a child, which many small ones need."""
        with self._lock:
            self._seen += len(drafts)
            here = self._size < 1 or self._seen <= self._after or self._closed
        if here:
            return _told([_prepared(draft) for draft in drafts])
        # A child that was killed by others is replaced once; a file that kills two is at fault.
        for _ in range(2):
            child = self._taken()
            try:
                results = child.prepare(drafts)
            except (EOFError, OSError):
                self._ended(child)
                log.warning("a preparing process ended", path=drafts[0].row.path)
                continue
            self._give(child)
            return results
        if len(drafts) > 1:
            return [result for draft in drafts for result in self.prepare_all([draft])]
        return [PreparingFailed("The process that cuts this document into chunks ended twice.")]

    def _taken(self) -> _Child:
        """Raises Stopped when nobody wants what it would do any more."""
        with self._lock:
            child = self._idle.pop() if self._idle else None
        child = child or _Child()
        with self._lock:
            closed = self._closed
            if not closed:
                self._busy.add(child)
        if closed:
            child.close()
            raise Stopped
        return child

    def _give(self, child: _Child) -> None:
        with self._lock:
            if not self._closed:
                self._busy.discard(child)
                self._idle.append(child)
                return
        self._ended(child)

    def _ended(self, child: _Child) -> None:
        """Raises Stopped where it was `close` that ended it."""
        with self._lock:
            closed = self._closed
            self._busy.discard(child)
        child.close()
        if closed:
            raise Stopped

    def close(self) -> None:
        """Ends the children, those at work too; whoever waits for one of them meets Stopped."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            for child in self._busy:
                child.kill()
        for child in idle:
            child.close()


class _Child:
    """One process; used by one thread at a time."""

    def __init__(self) -> None:
        from multiprocessing import Pipe

        ours: Connection[Any, Any]
        ours, theirs = Pipe()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", __name__, str(theirs.fileno()), str(os.getpid())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
        self._connection = ours

    def prepare(self, drafts: Sequence[Draft]) -> list[Result | PreparingFailed]:
        """Raises EOFError or OSError when the process is gone."""
        self._connection.send([_sent(draft) for draft in drafts])
        results: list[Result | str] = self._connection.recv()
        return _told(results)

    def kill(self) -> None:
        """Ends it while another thread waits for it; that one finds out and closes it."""
        self._process.kill()

    def close(self) -> None:
        """Kills the process: it holds nothing that needs saving."""
        self._connection.close()
        self._process.kill()
        self._process.wait()


def _flat(section: Section) -> _Flat:
    place = section.place.to_json()
    kind = section.kind.value
    return section.text, kind, section.heading_path, section.level, place, dict(section.meta)


def _section(flat: _Flat) -> Section:
    text, kind, heading_path, level, place, meta = flat
    return Section(text, SectionKind(kind), heading_path, level, Place(**place), meta)


def _told(results: Sequence[Result | str]) -> list[Result | PreparingFailed]:
    # A fault travels as words: a child knows this module, and so its classes, as `__main__`.
    return [PreparingFailed(one) if isinstance(one, str) else one for one in results]


def _sent(draft: Draft) -> _Sent:
    flat = [_flat(section) for section in draft.sections]
    return (draft.row, draft.info, flat, draft.sizes, draft.trouble)


def _received(sent: _Sent) -> Draft:
    row, info, flat, sizes, trouble = sent
    return Draft(row, info, [*map(_section, flat)], sizes, trouble)


def _prepared(draft: Draft) -> Result | str:
    try:
        return packed(draft)
    except Exception as error:  # whatever a document does to us is told as its own fault
        return f"{type(error).__name__}: {error}"


def main() -> None:
    """Answers until the parent closes the connection or is gone."""
    from multiprocessing.connection import Connection

    connection: Connection[Any, Any] = Connection(int(sys.argv[1]))
    parent = int(sys.argv[2])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        while not connection.poll(_LOOK_S):
            # A fork of the parent may hold the other end open, so its death shows only here.
            if os.getppid() != parent:
                return
        try:
            connection.send([_prepared(_received(sent)) for sent in connection.recv()])
        except (EOFError, OSError):
            return


if __name__ == "__main__":
    main()
