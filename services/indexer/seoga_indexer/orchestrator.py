"""The queue's worker: whoever holds the lease "worker" takes the jobs, one at a time or as many as
`SEOGA_QUEUE_WORKERS` says, never two of one knowledge base."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from seoga import logs
from seoga.contracts.indexing import Progress, RunResult
from seoga.errors import Busy, LeaseLost, SeogaError
from seoga.kb import Kb, find_kb
from seoga.models import Job
from seoga.storage.jobs import Outcome, Queue
from seoga.storage.leases import WORKER, Lease
from seoga.wiring import Stack
from seoga_indexer.lasting import Lasting
from seoga_indexer.queuefile import QueueFile, Trouble

POLL_S = 0.5
# A second child waits for the first one's lease; more would only wait beside it.
_MOST_CHILDREN = 2
# Of a failed entry, in its one line.
_MOST_REASONS = 3
# Of this process: detached workers outlive the engine that started them, and must be reaped.
_children: list[subprocess.Popen[bytes]] = []

RunKb = Callable[..., RunResult]

log = logs.get("orchestrator")


@dataclass(slots=True)
class Worker:
    """Takes jobs until `stop` is set. `progress` follows the run in flight; `ended` is told when an
    entry has its outcome in the queue."""

    queue: Queue
    stack: Stack
    run_kb: RunKb
    stop: threading.Event = field(default_factory=threading.Event)
    progress: Callable[[Progress], None] | None = None
    outcomes: Counter[str] = field(default_factory=Counter)
    troubles: dict[int, Trouble] = field(default_factory=dict)
    ended: Callable[[], None] = lambda: None

    def drain(self) -> None:
        """Returns when no entry is due, whoever did the work."""
        while not self.stop.is_set():
            worked = self._shift()
            if not self._due():
                return
            if not worked:
                self.stop.wait(POLL_S)

    def serve(self) -> None:
        """Works until `stop`. The lease is kept while nothing is to do, so that others see that
        somebody works here."""
        trouble = Lasting(log, "the queue cannot be worked")
        while not self.stop.is_set():
            try:
                self._shift(stay=True)
                trouble.passed()
            except Exception as error:  # an indexer that is up and works no queue is found out late
                trouble.tell(error)
            self.stop.wait(POLL_S)

    def _due(self) -> bool:
        return any(job.status == "queued" and not job.deferred for job in self.queue.waiting())

    def _shift(self, stay: bool = False) -> bool:
        """Works under the lease until nothing is due (`stay`: until `stop`); False when another
        worker has it."""
        seconds = self.stack.settings.lease_seconds
        try:
            lease = Lease.acquire(self.queue.path, WORKER, seconds)
        except Busy:
            return False
        try:
            with lease:
                self.queue.recover(lease)
                self._work(lease)
                while stay and not (lease.lost or self.stop.wait(POLL_S)):
                    if self._due():
                        self._work(lease)
        except LeaseLost as error:
            # Nobody asked for this: whoever looks for the entries must find where they went.
            log.warning(
                "the queue's lease was lost; its entries go on elsewhere", error=error.message
            )
            return False
        return True

    def _work(self, lease: Lease) -> None:
        """Returns when nothing is due. Raises LeaseLost."""
        most = self.stack.settings.queue_workers
        running: set[Future[None]] = set()
        with ThreadPoolExecutor(most, "queue-job") as pool:
            while not self.stop.is_set():
                job = self.queue.take(lease) if len(running) < most else None
                if job is not None:
                    running.add(pool.submit(self._do, job, lease))
                elif not running:
                    return
                done, running = wait(running, POLL_S * (job is None), FIRST_COMPLETED)
                for one in done:
                    one.result()
            for one in running:
                one.result()

    def _do(self, job: Job, lease: Lease) -> None:
        outcome: Outcome = "done"
        error, result = "", RunResult()
        try:
            kb = find_kb(self.stack.settings.base_path, job.kb_id)
            result = self._run(kb, job, lease)
            outcome, error = _came_of(result)
        except Busy as busy:
            self._again(job, busy.message)
            return
        except SeogaError as failure:
            log.error("run failed", kb_id=job.kb_id, error=failure.message)
            outcome, error = "failed", failure.message
        except Exception as failure:  # the next entry must get its turn whatever happens here
            log.exception("a job failed", kb_id=job.kb_id)
            outcome, error = "failed", f"{type(failure).__name__}: {failure}"
        if outcome == "cancelled" and (self.stop.is_set() or lease.lost):
            # The worker stops, nobody asked this job to: another worker goes on with it.
            self.queue.requeue(job.id)
            return
        self.outcomes[outcome] += 1
        if outcome == "failed":
            self.troubles[job.id] = Trouble(job.kb_id, error)
        self.queue.finish(job.id, outcome, result=result.to_json(), error=error)
        self.ended()

    def _run(self, kb: Kb, job: Job, lease: Lease) -> RunResult:
        log.info("run started", kb_id=kb.id, scope=job.scope, force=job.force)
        with self._watched(job, lease) as cancel:
            result = self.run_kb(
                kb,
                force=job.force,
                partial=None if job.scope == "full" else job.scope,
                progress=self.progress,
                cancel=cancel,
            )
        for trouble in result.troubles:
            log.warning("a file gives no text", kb_id=kb.id, file=trouble)
        counts = result.to_json()
        for warning in counts.pop("warnings"):
            log.warning(warning, kb_id=kb.id)
        log.info("run ended", kb_id=kb.id, status=result.status, **counts)
        return result

    @contextmanager
    def _watched(self, job: Job, lease: Lease) -> Iterator[threading.Event]:
        """An event that is set when this job must stop: asked to, worker stops, lease lost."""
        cancel, over = threading.Event(), threading.Event()

        def watch() -> None:
            while not over.wait(POLL_S):
                asked = False
                with suppress(SeogaError):  # a queue that is locked for a moment is asked again
                    asked = self.queue.cancel_requested(job.id)
                if asked or self.stop.is_set() or lease.lost:
                    cancel.set()
                    return

        thread = threading.Thread(target=watch, name="job-watch", daemon=True)
        thread.start()
        try:
            yield cancel
        finally:
            over.set()
            thread.join()

    def _again(self, job: Job, why: str) -> None:
        """The KB is busy with a run of its own: this entry goes behind the others, and waits."""
        self.queue.requeue(job.id, behind=True, error=why)
        self.stop.wait(POLL_S)


def _came_of(result: RunResult) -> tuple[Outcome, str]:
    """How an entry ends by the run that it asked for. One in which nothing could be read is not
    done: nobody would ask again."""
    if result.status == "cancelled":
        return "cancelled", ""
    if result.exit_code == 0:
        return "done", ""
    why = result.warnings if result.unread else result.troubles
    what = "no source could be read" if result.unread else "every file that it tried failed"
    return "failed", f"{what}: {'; '.join(why[:_MOST_REASONS])}" if why else what


class Orchestrator:
    """Makes sure that somebody works the queue: a thread of this process, or a process of its own
    that outlives this one (`stack.detached_worker`)."""

    def __init__(self, queue: Queue, stack: Stack, run_kb: RunKb) -> None:
        self._queue, self._stack, self._run_kb = queue, stack, run_kb
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._wanted = False

    def ensure(self) -> None:
        """Called after an entry was queued."""
        with self._lock:
            if self._stack.detached_worker:
                self._ensure_child()
                return
            self._wanted = True
            if self._thread is None:
                self._start(self._drain)

    def serve(self) -> None:
        """Works the queue from now on (the indexer service)."""
        with self._lock:
            if self._thread is None:
                self._start(Worker(self._queue, self._stack, self._run_kb, self._stop).serve)

    def close(self) -> None:
        """Stops the thread at its next batch; detached processes go on."""
        self._stop.set()
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()

    def _start(self, target: Callable[[], None]) -> None:
        self._thread = threading.Thread(target=target, name="queue-worker", daemon=True)
        self._thread.start()

    def _drain(self) -> None:
        while True:
            with self._lock:
                # Decided under the lock that `ensure` takes: no entry falls between two stools.
                if not self._wanted or self._stop.is_set():
                    self._thread = None
                    return
                self._wanted = False
            try:
                Worker(self._queue, self._stack, self._run_kb, self._stop).drain()
            except SeogaError as error:
                log.error("the queue cannot be worked", error=error.message)

    def _ensure_child(self) -> None:
        _children[:] = [child for child in _children if child.poll() is None]
        if len(_children) < _MOST_CHILDREN:
            base = str(self._stack.settings.base_path)
            command = [sys.executable, "-m", "seoga.cli.main", "exec-queue", "--base-path", base]
            _children.append(
                subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
            )


def drain(
    stack: Stack,
    *,
    sweep_all: bool = False,
    queue_file: Path | None = None,
    cancel: threading.Event | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> dict[str, Any]:
    """Works the queue of a base path until nothing is due (`exec-queue`): how many entries ended
    how (`rejected`: malformed ones of the file), and in `troubles` which failed and why. With
    `sweep_all`, deferred entries are due too; those of `queue_file` are queued first and leave the
    file as they are done."""
    from seoga_indexer.engine import IndexingEngine

    engine = IndexingEngine(stack)
    worker = Worker(engine.queue, stack, engine.run_kb, cancel or threading.Event(), progress)
    troubles, rejected = worker.troubles, 0
    try:
        if queue_file is not None:
            entries = QueueFile(queue_file, engine.queue, troubles)
            entries.enqueue(deferred_too=sweep_all)
            rejected = entries.rejected
            worker.ended = entries.settle
        if sweep_all:
            engine.queue.sweep_all()
        worker.drain()
        # What another worker did for us is written down here.
        worker.ended()
    finally:
        engine.close()
    counts = {name: worker.outcomes[name] for name in ("done", "failed", "cancelled")}
    counts["rejected"] = rejected
    return {**counts, "troubles": [asdict(troubles[number]) for number in sorted(troubles)]}
