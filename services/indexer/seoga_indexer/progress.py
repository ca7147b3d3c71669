"""What a run tells while it goes: counts, rate and what is left, at most once a second."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable

from seoga.contracts.indexing import Progress
from seoga.models import Source, Stage
from seoga_indexer.channel import Stopped
from seoga_indexer.source import Problem, SourceUnavailable, connector_for
from seoga_indexer.textstage import Counts

EVERY_S = 1.0
Report = Callable[[Progress], None]


class Reporter:
    """Makes a Progress of the counts, and passes it on when a second has gone by."""

    def __init__(self, counts: Counts, reports: Iterable[Report], pending: int) -> None:
        self._counts = counts
        self._reports = tuple(reports)
        self._started = self._last = time.monotonic()
        self.total: Total | None = None
        self.done = 0
        self.failed = 0
        self.chunks = 0
        self.pending = pending
        self.embedded = 0
        self.text_done = False

    def tick(self, *, force: bool = False) -> None:
        """Reports, if a second has passed or `force`."""
        now = time.monotonic()
        if force or now - self._last >= EVERY_S:
            self._last = now
            progress = self.progress(now)
            for report in self._reports:
                report(progress)

    def finish_text(self) -> None:
        """Every file can be found by keyword from here on."""
        self.text_done = True
        self.tick(force=True)

    def progress(self, now: float) -> Progress:
        """The present state."""
        done = self.done + self._counts.unchanged
        counted = self.total is not None and self.total.complete.is_set()
        total = max(self._counts.listed, self.total.files if self.total else 0)
        rate = done / max(now - self._started, 1e-3)
        eta = (total - done) / rate if rate and counted else None
        if self.text_done:
            total, eta = self._counts.listed, self._embedding_eta(now)
        return Progress(
            stage=Stage.EMBED if self.text_done else Stage.EXTRACT,
            done=done,
            total=total,
            counting=not (counted or self.text_done),
            current="" if self.text_done else self._counts.current,
            rate=round(rate, 1),
            eta_s=None if eta is None else round(eta, 1),
            chunks=self.chunks,
            chunks_pending=max(0, self.pending),
            failed=self.failed,
            text_done=self.text_done,
        )

    def _embedding_eta(self, now: float) -> float | None:
        rate = self.embedded / max(now - self._started, 1e-3)
        return self.pending / rate if rate else None


class Total:
    """Counts the items of all sources beside the run: the scan itself is held back by the work it
    feeds, and a bar wants to know early where it ends."""

    def __init__(self, sources: Iterable[Source], stop: threading.Event) -> None:
        self.files = 0
        self.complete = threading.Event()
        self._sources, self._stop = sources, stop

    def count(self) -> None:
        """Raises Stopped when the run ends first."""
        for source in self._sources:
            connector = connector_for(source)
            if connector.remote:
                continue
            try:
                for entry in connector.items():
                    if self._stop.is_set():
                        raise Stopped
                    self.files += not isinstance(entry, Problem)
            except SourceUnavailable:
                continue
        self.complete.set()
