"""What a run tells while it goes: counts, rate and what is left, at most once a second."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from dataclasses import replace

from seoga.contracts.indexing import Progress
from seoga.models import Source, Stage
from seoga_indexer.channel import Stopped
from seoga_indexer.source import Problem, SourceUnavailable, connector_for
from seoga_indexer.textstage import Counts

EVERY_S = 1.0
WINDOW_S = 30.0
Report = Callable[[Progress], None]


class Reporter:
    """Makes a Progress of the counts, and passes it on when a second has gone by. `waiting`
    counts the stored chunks that wait for vectors."""

    def __init__(
        self, counts: Counts, reports: Iterable[Report], waiting: Callable[[], int]
    ) -> None:
        self._counts = counts
        self._reports = tuple(reports)
        self._waiting = waiting
        self._last = time.monotonic()
        self._pace = Pace()
        self.total: Total | None = None
        self.done = 0
        self.failed = 0
        self.chunks = 0
        self.embedded = self._beside = 0
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
        # What came beside the text may have been written again, and wait once more.
        self._beside = self.embedded
        self._pace = Pace(self.embedded)
        self.tick(force=True)

    def progress(self, now: float) -> Progress:
        """The present state: of files while text is read, of passages once only vectors come."""
        # Counted where they are: one that is written again may have waited before.
        pending = self._waiting()
        shown = self._of_passages(now, pending) if self.text_done else self._of_files(now)
        return replace(
            shown,
            chunks=self.chunks,
            chunks_pending=pending,
            failed=self.failed,
            text_done=self.text_done,
        )

    def _of_files(self, now: float) -> Progress:
        done = self.done + self._counts.unchanged
        counted = self.total is not None and self.total.complete.is_set()
        total = max(self._counts.listed, self.total.files if self.total else 0)
        rate = self._pace.at(now, done)
        return Progress(
            stage=self._counts.stage,
            done=done,
            total=total,
            counting=not counted,
            current=self._counts.current,
            rate=round(rate, 1),
            eta_s=round((total - done) / rate, 1) if rate and counted else None,
        )

    def _of_passages(self, now: float, pending: int) -> Progress:
        rate = self._pace.at(now, self.embedded)
        return Progress(
            stage=Stage.EMBED,
            unit="passages",
            done=self.embedded - self._beside,
            total=self.embedded - self._beside + pending,
            rate=round(rate, 1),
            eta_s=round(pending / rate, 1) if rate else None,
        )


class Pace:
    """How many a second, over the last half minute: what went before says little of what comes."""

    def __init__(self, done: int = 0) -> None:
        self._marks = deque([(time.monotonic(), done)])

    def at(self, now: float, done: int) -> float:
        """The rate now, with `done` in all; 0 while nothing has been done."""
        while len(self._marks) > 1 and now - self._marks[1][0] >= WINDOW_S:
            self._marks.popleft()
        since, before = self._marks[0]
        if now - self._marks[-1][0] >= EVERY_S:
            self._marks.append((now, done))
        return max(0.0, (done - before) / max(now - since, 1e-3))


class Total:
    """Counts the items of all sources beside the run: the scan itself is held back by the work it
    feeds, and a bar wants to know early where it ends."""

    def __init__(self, sources: Iterable[Source], stop: threading.Event) -> None:
        self.files = 0
        self.complete = threading.Event()
        self._sources, self._stop = sources, stop

    def count(self) -> None:
        """Raises Stopped when the run ends first."""
        all_known = True
        for source in self._sources:
            with closing(connector_for(source)) as connector, suppress(SourceUnavailable):
                if connector.remote:
                    all_known = False
                    continue
                for entry in connector.items():
                    if self._stop.is_set():
                        raise Stopped
                    self.files += not isinstance(entry, Problem)
        if all_known:
            self.complete.set()
