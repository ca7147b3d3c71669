"""The only code of a run that writes: outcomes in, transactions out, in batches."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import singledispatchmethod
from typing import TypeVar

from seoga import metrics
from seoga.errors import Reason
from seoga.models import FileState
from seoga.storage.documents import DocumentStore
from seoga.storage.packing import PackedFile
from seoga.storage.records import STATED, FileRow, Kept, Touch
from seoga_indexer.outcome import (
    Barrier,
    Gone,
    Looked,
    Missing,
    Moved,
    NoText,
    Same,
    Settled,
    Text,
    Unreadable,
    Vectors,
)
from seoga_indexer.progress import Reporter
from seoga_indexer.statements import FAULT

T = TypeVar("T")

# Larger batches write each common term of the keyword index less often.
MAX_FILES = 2048
MAX_CHARS = 4_000_000
MOST_TROUBLES = 100
MOST_FAULTS = 3
# A batch waits this long where more is coming all the time, and half a second where it is not. On
# a slow machine it waits as long as the last one took to write, or most time would go into common
# terms.
MAX_AGE_S, IDLE_AGE_S = 2.0, 0.5
SLOW_AGE_S = 10.0


@dataclass(slots=True)
class Done:
    """What this run has stored so far."""

    indexed: int = 0
    same: int = 0
    removed: int = 0
    chunks: int = 0
    tried: int = 0
    tried_failed: int = 0
    faulty: int = 0
    faults: list[str] = field(default_factory=list)
    missing: int = 0
    first_missing: str = ""
    troubles: list[str] = field(default_factory=list)

    def trouble(self, name: str, reason: str, detail: str) -> None:
        """Remembers the first files that gave no text, with why."""
        if len(self.troubles) < MOST_TROUBLES:
            self.troubles.append(f"{name}: {reason}" + (f" ({detail})" if detail else ""))

    def statements(self, row: FileRow) -> None:
        """Remembers the first files whose statements about their own life cannot all be read."""
        told = [text for field, text in row.meta.get(STATED, ()) if field == FAULT]
        self.faulty += bool(told)
        if told and len(self.faults) < MOST_FAULTS:
            name = row.path.rpartition("/")[2]
            said = told[0].removeprefix(f"{name}: ")
            self.faults.append(f"{row.label}/{row.path}: {said}")


class Writer:
    """Applies outcomes to the store. Files wait in a batch until it is full or old; everything
    else is written at once, after what came before it."""

    def __init__(
        self, store: DocumentStore, reporter: Reporter, done: Done, *, reuse: bool
    ) -> None:
        self.done = done
        self._store, self._reporter, self._reuse = store, reporter, reuse
        self._texts: list[PackedFile] = []
        self._rows: list[FileRow] = []
        self._kept: list[Kept] = []
        self._touches: list[Touch] = []
        self._chars = 0
        self._since = self._took = 0.0

    def flush_if_due(self, idle: bool = True) -> None:
        """Writes the batch when it is full or old; `idle`: nothing more is there to be taken."""
        files = len(self._texts) + len(self._rows) + len(self._touches)
        most = IDLE_AGE_S if idle else max(MAX_AGE_S, min(self._took, SLOW_AGE_S))
        old = files and time.monotonic() - self._since >= most
        if files >= MAX_FILES or self._chars >= MAX_CHARS or old:
            self.flush()

    def flush(self) -> None:
        """Writes the batch: files with text, files without, new stamps."""
        started = time.monotonic()
        if self._texts:
            self._store.commit_packed(self._texts, reuse=self._reuse)
        if self._rows:
            self._store.set_state(self._rows, self._kept)
        if self._touches:
            self._store.touch(self._touches)
        self._texts, self._rows, self._kept, self._touches, self._chars = [], [], [], [], 0
        self._took = time.monotonic() - started

    @singledispatchmethod
    def take(self, message: object) -> None:
        """Stores one message of the stages."""
        raise TypeError(f"no way to store {type(message).__name__}")

    @take.register
    def _(self, message: Looked) -> None:
        for outcome in message.outcomes:
            self.take(outcome)

    @take.register
    def _(self, message: Text) -> None:
        chunks = len(message.packed.chunks)
        self.done.statements(message.packed.row)
        self._add(self._texts, message.packed)
        self._chars += message.packed.chars
        self.done.indexed += 1
        self.done.chunks += chunks
        self._reporter.chunks += chunks
        self._tried("text")

    @take.register
    def _(self, message: NoText) -> None:
        row = message.row
        self._add(self._rows, row)
        if message.kept is not None:
            self._kept.append(message.kept)
        if row.state is FileState.READY:
            self.done.indexed += 1
            self._tried("empty")
        elif row.reason == Reason.UNSUPPORTED:
            self._reporter.done += 1
            metrics.INDEXER_FILES.labels(str(row.reason)).inc()
        else:
            self.done.trouble(f"{row.label}/{row.path}", row.reason, row.detail)
            self._tried(str(row.reason), failed=True)

    @take.register
    def _(self, message: Same) -> None:
        self._add(self._touches, message.touch)
        self.done.same += 1
        self._reporter.done += 1

    @take.register
    def _(self, message: Unreadable) -> None:
        self.flush()
        self._store.mark([message.known.id], FileState.NEEDS_ACTION, message.reason, message.detail)
        known = message.known
        self.done.trouble(f"{known.label}/{known.path}", message.reason, message.detail)
        # One that stays shut is looked at in every run; that is no failure of this one.
        self._tried(message.reason, failed=True, news=known.reason != message.reason)

    @take.register
    def _(self, message: Missing) -> None:
        # A file of a folder was deleted meanwhile; a server may go on listing what is not there.
        if not message.item.local:
            name = f"{message.item.label}/{message.item.path}: {message.detail}"
            self.done.first_missing = self.done.first_missing or name
            self.done.missing += 1
        self._reporter.done += 1

    @take.register
    def _(self, message: Moved) -> None:
        self.flush()
        self._store.rename(message.known.id, message.row, message.title_tokens)
        self.done.same += 1
        self._reporter.done += 1

    @take.register
    def _(self, message: Settled) -> None:
        self.flush()
        self._store.settle_folders(message.folders)

    @take.register
    def _(self, message: Gone) -> None:
        self.flush()
        if message.ids:
            self._store.remove(message.ids)
            self.done.removed += len(message.ids)

    @take.register
    def _(self, message: Vectors) -> None:
        self.flush()
        if message.rows:
            stored = self._store.commit_vectors(message.generation, message.rows)
            self._reporter.embedded += stored
        if message.refused:
            self._store.fail_chunks(message.refused)
        metrics.INDEXER_CHUNKS.labels("embedded").inc(len(message.rows))
        metrics.INDEXER_CHUNKS.labels("refused").inc(len(message.refused))

    @take.register
    def _(self, message: Barrier) -> None:
        self.flush()
        message.stored.set()

    def _add(self, batch: list[T], value: T) -> None:
        if not (self._texts or self._rows or self._touches):
            self._since = time.monotonic()
        batch.append(value)

    def _tried(self, outcome: str, *, failed: bool = False, news: bool = True) -> None:
        self.done.tried += news
        self.done.tried_failed += failed and news
        self._reporter.done += 1
        self._reporter.failed += failed
        metrics.INDEXER_FILES.labels(outcome).inc()
