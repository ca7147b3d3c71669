"""Times of day and intervals: when deferred entries are taken and every source is looked at."""

from __future__ import annotations

import threading
from datetime import datetime, time, timedelta

from seoga import logs
from seoga.contracts.indexing import Indexing
from seoga.kb import list_kbs
from seoga.settings import Settings
from seoga.storage.jobs import Queue
from seoga_indexer.lasting import Lasting

SWEEP, CHECK = "sweep", "check"
TICK_S = 1.0
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}

log = logs.get("orchestrator")


def latest_due(spec: str, now: datetime) -> datetime:
    """The last time up to `now` (with a time zone) that `spec` names: `03:30`, `06:00,18:00` in
    the zone of `now`, or an interval such as `6h`, counted from 1970."""
    if spec[-1] in _UNITS:
        every = timedelta(**{_UNITS[spec[-1]]: int(spec[:-1])})
        return now - timedelta(seconds=now.timestamp() % every.total_seconds())
    times = [time.fromisoformat(one.strip()) for one in spec.split(",")]
    # Two days back, because the hour that a clock change skips has no time to be due.
    days = [(now - timedelta(days=back)).date() for back in range(3)]
    named = (datetime.combine(day, at, now.tzinfo) for day in days for at in times)
    return max(moment for moment in named if moment <= now)


class Scheduler:
    """A thread of the indexer service; of several such services one acts at each due time."""

    def __init__(self, settings: Settings, queue: Queue, indexing: Indexing) -> None:
        self._settings, self._queue, self._indexing = settings, queue, indexing
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="schedule", daemon=True)

    def start(self) -> None:
        """Begins, where a schedule is set."""
        if self._settings.sweep_at or self._settings.check_at:
            self._thread.start()

    def close(self) -> None:
        """Ends the thread."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def tick(self, now: datetime) -> None:
        """Does what is due at `now`."""
        if self._due(SWEEP, self._settings.sweep_at, now):
            log.info("deferred entries are taken now", count=self._queue.sweep_all())
        if self._due(CHECK, self._settings.check_at, now):
            for kb in list_kbs(self._settings.base_path).kbs:
                self._indexing.enqueue(kb.id)

    def _due(self, name: str, spec: str, now: datetime) -> bool:
        return bool(spec) and self._queue.due(name, latest_due(spec, now))

    def _run(self) -> None:
        trouble = Lasting(log, "the schedule could not be followed")
        while not self._stop.is_set():
            try:
                self.tick(datetime.now().astimezone())
                trouble.passed()
            except Exception as error:  # a thread that ends would follow no schedule any more
                trouble.tell(error)
            self._stop.wait(TICK_S)
