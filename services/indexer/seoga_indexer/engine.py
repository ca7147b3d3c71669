"""The indexing engine: runs on knowledge bases, dry runs, and the queue's worker."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any, Unpack

from seoga import logs
from seoga.contracts.indexing import (
    ChangeReport,
    EnqueueResult,
    RunEstimate,
    RunOptions,
    RunResult,
)
from seoga.errors import Busy, ConfigError, InvalidArgument, NotFound
from seoga.instances import old_index
from seoga.kb import CONFIG, Kb, create_kb, find_kb, list_kbs
from seoga.storage.database import open_writer, reader, speaking
from seoga.storage.documents import DocumentStore
from seoga.storage.foreign import is_foreign, set_aside
from seoga.storage.jobs import SCOPES, Queue
from seoga.storage.leases import WRITER, Lease, holder
from seoga.storage.reading import runs
from seoga.wiring import Stack
from seoga_indexer.orchestrator import Orchestrator
from seoga_indexer.recorded import CANCEL_FILE, run_recorded
from seoga_indexer.run import Order

QUEUE = "queue.db"

log = logs.get("indexer")


class IndexingEngine:
    """Implements `Indexing`. Nothing starts before its first use; thread-safe.

    `stack.detached_worker` True: work is done by a process of its own that outlives this one.
    """

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._base = stack.settings.base_path
        self._lock = threading.Lock()
        self._queue: Queue | None = None
        self._worker: Orchestrator | None = None

    def run_kb(self, kb: Kb, **options: Unpack[RunOptions]) -> RunResult:
        """Indexes a KB now, in this thread, under its lease.

        Raises Busy when another run has it, InvalidArgument for an unknown `partial`, ConfigError
        for an unknown source type or provider, StorageError, LeaseLost, and ServiceUnavailable when
        extraction does not answer. What was committed stays, whatever is raised.
        """
        began = time.time()
        order = _order(options)
        settings = self._stack.settings
        for strange in (old_index(kb), kb.db_path if kb.index and is_foreign(kb.db_path) else None):
            if strange is not None:
                aside = set_aside(strange)
                log.warning("not an index of Seoga: kept under another name", file=str(aside))
        with ExitStack() as opened:
            store = opened.enter_context(closing(DocumentStore(open_writer(kb.db_path))))
            lease = _leased(kb, settings.lease_seconds)
            store.lease = opened.enter_context(lease)
            # Only now: before, it could have been meant for the run that had the lease.
            cancel_file = kb.folder / CANCEL_FILE
            _forget_cancel(cancel_file, began)
            kb.keep_labels()
            with speaking(kb.db_path):
                result = run_recorded(kb, store, self._stack, order)
            with suppress(OSError):
                cancel_file.unlink(missing_ok=True)
        return result

    def enqueue(
        self, kb_id: str, *, scope: str = "full", force: bool = False, deferred: bool = False
    ) -> EnqueueResult:
        """See Indexing. Raises NotFound or InvalidArgument before anything is queued."""
        kb = find_kb(self._base, kb_id)
        entry = self.queue.enqueue(kb.id, scope, force=force, deferred=deferred)
        if not deferred:
            self.worker.ensure()
        return EnqueueResult(entry.status, entry.kb_id, entry.position)

    def cancel(self, kb_id: str) -> dict[str, Any]:
        """See Indexing. A run that was not queued (`exec`) is stopped by its cancel file."""
        kb = find_kb(self._base, kb_id)
        removed, stopping = self.queue.cancel(kb.id)
        if _is_running(kb):
            (kb.folder / CANCEL_FILE).touch()
            stopping = True
        return {"kb_id": kb.id, "removed": removed, "stopping": stopping}

    def create_kb(self, path: str, name: str = "") -> dict[str, Any]:
        """See Indexing. Raises InvalidArgument for a path that is relative or no folder here."""
        folder = Path(path)
        if not folder.is_absolute() or "\0" in path:
            raise InvalidArgument(
                f"{path!r} is no absolute path", "Give the folder as the indexer sees it."
            )
        before = {kb.id for kb in list_kbs(self._base).kbs}
        kb = create_kb(self._base, folder, name)
        status = self.enqueue(kb.id).status
        return {
            "kb_id": kb.id,
            "name": kb.name,
            "created": kb.id not in before,
            "status": status,
        }

    def delete_kb(self, kb_id: str) -> dict[str, Any]:
        """See Indexing. What runs is asked to stop; it writes into a folder that is no knowledge
        base any more."""
        kb = find_kb(self._base, kb_id)
        (kb.folder / CONFIG).unlink(missing_ok=True)
        self.queue.cancel(kb.id)
        self.queue.forget(kb.id)
        if _is_running(kb):
            (kb.folder / CANCEL_FILE).touch()
        return {"kb_id": kb.id, "deleted": True}

    def check_changes(self, kb_id: str) -> ChangeReport:
        """See Indexing."""
        return self.check_kb(find_kb(self._base, kb_id))

    def stale(self, kb_id: str) -> dict[str, int]:
        """See Indexing."""
        from seoga_indexer.dryrun import stale

        return stale(find_kb(self._base, kb_id), self._stack)

    def check_kb(self, kb: Kb) -> ChangeReport:
        """The same for a KB wherever it lies."""
        from seoga_indexer.dryrun import check

        return check(kb, self._stack)

    def estimate_kb(self, kb: Kb, **options: Unpack[RunOptions]) -> RunEstimate:
        """What `run_kb` with these options would do and cost now; calls no provider, writes
        nothing, needs no lease. Raises InvalidArgument, ConfigError."""
        from seoga_indexer.estimate.report import estimate

        return estimate(kb, self._stack, _order(options))

    @property
    def queue(self) -> Queue:
        """The queue of this base path."""
        with self._lock:
            if self._queue is None:
                self._queue = Queue(self._base / QUEUE)
            return self._queue

    @property
    def worker(self) -> Orchestrator:
        """What works the queue for this engine."""
        queue = self.queue
        with self._lock:
            if self._worker is None:
                self._worker = Orchestrator(queue, self._stack, self.run_kb)
            return self._worker

    def ready(self) -> dict[str, Any]:
        """Details for /ready. Raises StorageError when the queue cannot be used."""
        return {"queued": len(self.queue.waiting())}

    def close(self) -> None:
        """Stops the worker of this process at its next batch (its job stays queued)."""
        with self._lock:
            worker, self._worker = self._worker, None
            queue, self._queue = self._queue, None
        if worker is not None:
            worker.close()
        if queue is not None:
            queue.close()


def _order(options: RunOptions) -> Order:
    partial = options.get("partial")
    if partial is not None and partial not in SCOPES[:2]:
        raise InvalidArgument(
            f"partial {partial!r} is unknown", f"Allowed: {', '.join(SCOPES[:2])}."
        )
    return Order(
        force=options.get("force", False),
        partial=partial,
        accept_deletions=options.get("accept_deletions", False),
        progress=options.get("progress"),
        cancel=options.get("cancel") or threading.Event(),
    )


def _forget_cancel(file: Path, began: float) -> None:
    """Removes one that was meant for a run before; what came since `began` is meant for this."""
    if file.is_dir():
        raise ConfigError(
            f"{file} is a folder",
            "Remove or rename it: a file of that name is how a run is asked to stop.",
        )
    with suppress(FileNotFoundError):
        # Clocks of file systems tick in hundredths.
        if file.stat().st_mtime < began - 0.02:
            file.unlink()
            log.warning("a request to stop from before this run was removed", file=str(file))


def _leased(kb: Kb, seconds: float) -> Lease:
    """The lease of a run. Raises Busy naming the KB, who has it, since when, and the way out."""
    try:
        return Lease.acquire(kb.db_path, WRITER, seconds, f"{kb.name} ({kb.id})")
    except Busy as busy:
        with reader(kb.db_path) as conn:
            last = next(iter(runs(conn, 1)), None)
        since = f", running since {last['started_at']}" if last and not last["ended_at"] else ""
        stop = f" `touch {kb.folder / CANCEL_FILE}` asks it to stop."
        raise Busy(busy.message + since, busy.hint + stop) from busy


def _is_running(kb: Kb) -> bool:
    try:
        with reader(kb.db_path) as conn:
            return holder(conn, WRITER) is not None
    except NotFound:
        return False
