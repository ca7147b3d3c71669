"""The first half of a run: scan, look at every file that may have changed, then settle what moved
and what is gone."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from seoga.errors import Cancelled
from seoga.models import Stage
from seoga.storage.documents import DocumentStore
from seoga.storage.folders import FolderRow
from seoga.storage.reading import document
from seoga.storage.records import FileRow, KnownFile
from seoga.storage.spoken import name_of
from seoga_indexer.changes import Change, Redo, Verdict
from seoga_indexer.channel import Channel, Stop, Stopped, Tally
from seoga_indexer.contextstage import ContextStage
from seoga_indexer.outcome import (
    Barrier,
    Gone,
    Looked,
    Message,
    Moved,
    Settled,
    TextDone,
    Twin,
    Work,
)
from seoga_indexer.pipeline import Bench
from seoga_indexer.preparing import title_tokens
from seoga_indexer.scan import SourceReport, doubt_of, scan_source
from seoga_indexer.source import Connector, Standing
from seoga_indexer.stagecache import hint_of
from seoga_indexer.together import SMALL_BYTES, index_together

# Folders that are stored at once.
_SETTLED = 1000
# Groups of files that wait to be read; those that wait for a process of their own (recordings)
# keep no other waiting, so more of them may.
_AHEAD = 8
_AHEAD_APART = 1000
# Files of formats that are read at once share the trips between threads and processes, which cost
# more than they do. A larger one has its own.
_GROUP = 32
_TICK_S = 0.1


@dataclass(slots=True)
class Counts:
    """What the scan has seen so far; one thread writes, others may read."""

    listed: int = 0
    unchanged: int = 0
    current: str = ""
    stage: Stage = Stage.EXTRACT


@dataclass(frozen=True, slots=True)
class TextPlan:
    """What is to be scanned, by label. `accept` believes a source that lost most of its files;
    `quick` are the extensions of files that are read at once, `apart` of those that have a process
    of their own; `stamp` is what `redo` answers by,
    empty where every file must be asked for."""

    connectors: Mapping[str, Connector]
    redo: Redo
    accept: bool
    bench: Bench
    contexts: ContextStage
    quick: Collection[str] = ()
    apart: Collection[str] = ()
    stamp: bytes = b""


@dataclass(slots=True)
class TextStage:
    """One thread runs `direct`, several run `work`, one `work_apart`; outcomes go to
    `inbox`, TextDone last."""

    plan: TextPlan
    reader: DocumentStore
    inbox: Channel[Message]
    stop: Stop
    cancelled: Callable[[], bool]
    counts: Counts = field(default_factory=Counts)
    _queue: Channel[list[Work]] = field(init=False)
    _apart: Channel[list[Work]] = field(init=False)
    _group: list[Work] = field(init=False, default_factory=list)
    _tally: Tally = field(init=False)
    _twins: list[Twin] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self._queue = Channel(_AHEAD, self.stop)
        self._apart = Channel(_AHEAD_APART, self.stop)
        self._tally = Tally(self.stop)

    def direct(self) -> None:
        """The whole stage, seen from above. Raises Stopped when the run ends early."""
        reports = [self._scan(label, source) for label, source in self.plan.connectors.items()]
        reports += self._orphans(doubt_of(reports))
        self._wait()
        moved = self._settle_twins(reports)
        self._wait()
        if not self.cancelled():
            gone = [known for report in reports for known in self._gone(report, moved)]
            self.inbox.put(Gone(gone))
        self.inbox.put(TextDone(reports, complete=not self.cancelled()))

    def work(self) -> None:
        """Indexes files until the run ends (Stopped)."""
        self._work(self._queue)

    def work_apart(self) -> None:
        """The same for files that have a process of their own."""
        self._work(self._apart)

    def _work(self, queue: Channel[list[Work]]) -> None:
        while True:
            group = queue.get()
            try:
                if not self.cancelled():
                    self._index(group)
            finally:
                self._tally.end()

    def _index(self, group: list[Work]) -> None:
        try:
            outcomes = index_together(map(self._shown, group), self.plan.bench)
        except Cancelled:
            return
        self._twins += [one for one in outcomes if isinstance(one, Twin)]
        apply = self.plan.contexts.apply
        if rest := [apply(one) for one in outcomes if not isinstance(one, Twin)]:
            self.inbox.put(Looked(rest))

    def _shown(self, work: Work) -> Work:
        self.counts.current = f"{work.item.label}/{work.item.path}"
        return work

    def _scan(self, label: str, source: Connector) -> SourceReport:
        report = SourceReport(label)
        stamp = self.plan.stamp
        standing = Standing(stamp, partial(self.reader.files_in, label)) if stamp else None
        settled: list[FolderRow] = []
        known, redo = self.reader.known, self.plan.redo
        for change in scan_source(source, report, known, redo, standing):
            if self.cancelled():
                break
            if change.verdict is Verdict.SETTLED and change.folder is not None:
                settled.append(FolderRow(label, *change.folder))
            if len(settled) >= _SETTLED:
                self._settle(settled)
            self._take(change)
        self._settle(settled)
        return report

    def _settle(self, folders: list[FolderRow]) -> None:
        if folders:
            self.inbox.put(Settled(tuple(folders)))
            folders.clear()

    def _take(self, change: Change) -> None:
        if change.folder is not None and change.verdict is Verdict.STANDING:
            self.counts.listed += change.folder.files
            self.counts.unchanged += change.folder.files
        if change.item is None:
            return
        self.counts.listed += 1
        if change.verdict is Verdict.UNCHANGED:
            self.counts.unchanged += 1
        else:
            self._send(Work(change.item, change.known, redo=change.depth))

    def _send(self, work: Work) -> None:
        item = work.item
        if hint_of(item.path) in self.plan.apart:
            self._tally.begin()
            self._apart.put([work])
            return
        if not (0 < item.size <= SMALL_BYTES and hint_of(item.path) in self.plan.quick):
            self._put([work])
            return
        self._group.append(work)
        if len(self._group) == _GROUP:
            self._send_group()

    def _send_group(self) -> None:
        group, self._group = self._group, []
        if group:
            self._put(group)

    def _put(self, group: list[Work]) -> None:
        self._tally.begin()
        self._queue.put(group)

    def _wait(self) -> None:
        self._send_group()
        self._tally.wait()

    def _orphans(self, doubt: str) -> list[SourceReport]:
        """Sources that the config names no more: their files are gone, or moved to another."""
        reports = []
        labels = self.reader.labels()
        for label in labels:
            if label not in self.plan.connectors and not self.cancelled():
                gone = list(self.reader.known(label))
                # Measured by the whole index: an emptied list of sources would drop all of it.
                known = sum(labels.values())
                report = SourceReport(label, known=known, gone=gone, dropped=True, doubt=doubt)
                reports.append(report)
        return reports

    def _settle_twins(self, reports: Iterable[SourceReport]) -> set[int]:
        """New files with known content: where a file with it is gone, that one moved; the others
        are copies and are read like any file. Returns the ids of what moved."""
        if self._twins:
            # What was read of a content just now must be there for its copies.
            self._wait_until_stored()
        free = _places(known for report in reports if not report.trouble for known in report.gone)
        moved: set[int] = set()
        for twin in self._twins:
            old = next(free.get((twin.row.hash, hint_of(twin.row.path)), iter(())), None)
            if old is None:
                self._send(replace(twin.work, settled=True))
            else:
                moved.add(old.id)
                self.inbox.put(self._move(old, twin.row))
        self._twins.clear()
        return moved

    def _wait_until_stored(self) -> None:
        barrier = Barrier(threading.Event())
        self.inbox.put(barrier)
        while not barrier.stored.wait(_TICK_S):
            if self.stop.is_set():
                raise Stopped

    def _move(self, old: KnownFile, row: FileRow) -> Moved:
        stored = document(self.reader.conn, old.label, old.path)
        title = stored.title if stored is not None else ""
        if title == name_of(old.path):
            title = row.title
        return Moved(old, replace(row, title=title), title_tokens(title, row.path))

    def _gone(self, report: SourceReport, moved: set[int]) -> list[int]:
        return report.settle(moved, self.plan.accept)


def _places(gone: Iterable[KnownFile]) -> dict[tuple[str, str], Iterator[KnownFile]]:
    """The files that are gone, each for one that has its content and its extension, by which it
    was read; those with chunks first."""
    out: dict[tuple[str, str], list[KnownFile]] = {}
    for known in gone:
        out.setdefault((known.hash, hint_of(known.path)), []).append(known)
    for several in out.values():
        several.sort(key=lambda known: (not known.chunk_count, known.id))
    return {key: iter(several) for key, several in out.items()}
