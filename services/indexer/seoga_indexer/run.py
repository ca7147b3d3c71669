"""One run over a knowledge base: stages in threads, one writer, one result."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from seoga import logs
from seoga.contracts.indexing import Progress, RunResult
from seoga.contracts.stop import unless_stopped, until
from seoga.errors import (
    Cancelled,
    EmbeddingFailed,
    MissingDependency,
    Reason,
    ServiceUnavailable,
)
from seoga.kb import Kb
from seoga.models import FileState, Partial
from seoga.printable import sentences
from seoga.storage.database import PASS_CACHE, open_reader
from seoga.storage.documents import SWEPT, DocumentStore
from seoga.storage.reading import file_counts, pending_count
from seoga_indexer import versions
from seoga_indexer.budget import Budget
from seoga_indexer.calibrating import after_run
from seoga_indexer.changes import Depth
from seoga_indexer.channel import Channel, Stop, Stopped
from seoga_indexer.contextstage import PROMPT, ContextStage, identity_of
from seoga_indexer.embedstage import EmbedPlan, EmbedStage
from seoga_indexer.outcome import Crash, EmbedDone, Message, TextDone
from seoga_indexer.pipeline import Bench, sizes_of
from seoga_indexer.ports import Ports
from seoga_indexer.preparers import Preparers
from seoga_indexer.progress import Reporter, Total
from seoga_indexer.recontext import RecontextStage
from seoga_indexer.scan import SourceReport
from seoga_indexer.source import Connector, connector_for
from seoga_indexer.stagecache import StageCache
from seoga_indexer.textstage import Counts, TextPlan, TextStage
from seoga_indexer.writer import Done, Writer

_INBOX = 32
_WAIT_S = 0.1
# Shorter runs end before a count of their files would be of use to anybody.
_COUNT_AFTER_S = 1.0
_GRACE_S = 2.0
# Threads that end get this long; who was stopped has had the grace before.
_JOIN_S, _STOPPED_JOIN_S = 5.0, 0.5

log = logs.get("indexer")


@dataclass(frozen=True, slots=True)
class Order:
    """What is asked of a run (see RunOptions)."""

    force: bool = False
    partial: Partial | None = None
    accept_deletions: bool = False
    progress: Callable[[Progress], None] | None = None
    cancel: threading.Event = field(default_factory=threading.Event)


class Run:
    """The threads of one run and the loop that writes what they find. Used once."""

    def __init__(self, kb: Kb, store: DocumentStore, ports: Ports, order: Order) -> None:
        self._kb, self._store, self._ports, self._order = kb, store, ports, order
        self._stop = Stop()
        self._text_done = threading.Event()
        self._inbox: Channel[Message] = Channel(_INBOX, self._stop)
        self._threads: list[threading.Thread] = []
        self._warnings: list[str] = []
        self._price, self._lanes, self._call = 0.0, 1, 0
        self._connectors: dict[str, Connector] = {}
        self._complete = False
        self._trouble = ""
        self._calibration = ""
        self._unread = False
        self._deadline = 0.0
        self._counts, self._done = Counts(), Done()
        self._text: TextStage | RecontextStage | None = None
        self._description: dict[str, Any] = {}

    def execute(self) -> RunResult:
        """The whole run. Raises what no run survives; what was committed stays."""
        started = time.monotonic()
        with ExitStack() as stack:
            self._reader = DocumentStore(open_reader(self._kb.db_path, cache_kib=PASS_CACHE))
            stack.callback(self._reader.close)
            self._preparers = Preparers(self._ports.settings.extract_workers)
            stack.callback(self._preparers.close)
            stack.callback(self._end_threads)
            try:
                self._prepare()
            except Cancelled:
                return self._result(started)
            self._start()
            self._loop()
        self._tidy()
        return self._result(started)

    def _prepare(self) -> None:
        """Asks the ports what they are and opens the redo, so that the stages can begin. Raises
        Cancelled."""
        order = self._order
        self._context_stage = contexts = self._contexts()
        # Of what is stored already no source is asked, and no file is read.
        self._scans = order.partial is None
        again = order.partial == "contextualization" and bool(contexts.spec.provider)
        if self._scans:
            self._description = unless_stopped(self._ports.extraction.describe)
        identity = unless_stopped(lambda: identity_of(contexts.spec, self._ports, self._store))
        self._versions = versions.current(self._description, sizes_of(self._kb), identity)
        if identity:
            self._store.set_meta(PROMPT, identity.rpartition("-")[2])
        generation, since = self._generation(), ""
        if order.partial is not None or order.force:
            since, resumed = self._store.begin_redo(order.partial or "force")
            if not (resumed or self._scans or again):
                # Behind new contexts only passages whose words have changed get new vectors. A KB
                # without an LLM has nothing to contextualize: its vectors are made anew.
                self._store.restart_embedding()
        if self._scans:
            self._text = self._text_stage(since)
        elif again:
            self._text = self._recontext_stage(identity, since)
        self._embed = self._embed_stage(generation)
        self._reporter, self._writer = self._writing()

    def _writing(self) -> tuple[Reporter, Writer]:
        reports = [lambda progress: self._store.progress(progress.to_json())]
        if self._order.progress is not None:
            reports.append(self._order.progress)
        reporter = Reporter(self._counts, reports, lambda: pending_count(self._store.conn))
        reuse = not self._order.force
        return reporter, Writer(self._store, reporter, self._done, reuse=reuse)

    def _embed_stage(self, generation: int) -> EmbedStage:
        spec, cancel = self._kb.embedding_spec(), self._order.cancel
        return EmbedStage(
            EmbedPlan(self._ports, spec, generation, self._budget(), self._lanes, self._call),
            self._reader,
            self._inbox,
            self._text_done,
            cancel.is_set,
            cancel.wait,
        )

    def _recontext_stage(self, identity: str, since: str) -> RecontextStage:
        return RecontextStage(
            self._context_stage,
            identity,
            since,
            self._reader,
            self._inbox,
            self._stop,
            self._order.cancel.is_set,
            self._counts,
        )

    def _generation(self) -> int:
        """The vectors this KB wants; 0 where it wants none or none can be made now."""
        spec = self._kb.embedding_spec()
        if not spec.provider:
            return self._store.ensure_generation(None)
        try:
            card = unless_stopped(lambda: self._ports.embedding.card(spec))
            self._price, self._lanes, self._call = card.price, card.lanes, card.batch
            return self._store.ensure_generation(card)
        except (EmbeddingFailed, MissingDependency, ServiceUnavailable) as error:
            self._warnings.append(f"No vectors in this run: {error.message}")
            return self._store.ensure_generation(None, known=False)

    def _budget(self) -> Budget:
        keys = self._kb.config.embedding
        price = keys.price_per_million or self._price
        return Budget("embedding", keys.max_tokens_per_run, keys.max_cost_per_run, price)

    def _contexts(self) -> ContextStage:
        keys = self._kb.config.contextualizer
        budget = Budget(
            "contextualizer",
            keys.max_tokens_per_run,
            keys.max_cost_per_run,
            keys.price_per_million,
        )
        again = self._order.partial == "contextualization"
        spec = replace(self._kb.context_spec(), fresh=again, forced=self._order.force)
        return ContextStage(self._ports, spec, budget, self._order.cancel.is_set)

    def _tidy(self) -> None:
        """What comes after the work; the next run does it where this one was stopped."""
        if missing := self._done.missing:
            self._warnings.append(
                f"{missing:,} documents are listed and were not there to be read (first:"
                f" {self._done.first_missing}). The next run asks again."
            )
        if faulty := self._done.faulty:
            some = "1 document states" if faulty == 1 else f"{faulty} documents state"
            which = "; ".join(self._done.faults)
            self._warnings.append(
                f"{some} something that cannot be read; seoga lint lists all ({which})"
            )
        cancelled = self._order.cancel.is_set
        while not cancelled() and self._store.sweep_generations() >= SWEPT:
            pass
        if self._complete and self._scans:
            self._store.set_meta(versions.KEY, json.dumps(self._versions.to_json()))
        if self._complete and not (cancelled() or self._trouble):
            self._store.end_redo()
        if not cancelled():
            self._calibration = after_run(self._kb, self._store, self._ports)

    def _text_stage(self, since: str) -> TextStage:
        force, sizes = self._order.force, sizes_of(self._kb)
        depth = Depth.EXTRACT if force else Depth.CHUNK
        redo = versions.redo_rule(self._versions, since if self._scans else "", depth)
        sources = self._kb.sources()
        connectors = {source.label: connector_for(source) for source in sources}
        self._connectors = connectors
        bench = Bench(
            extraction=self._ports.extraction,
            prepare=self._preparers.prepare_all,
            refresh=lambda item: connectors[item.label].refresh(item),
            open=lambda item: connectors[item.label].open(item),
            is_known=lambda content: self._reader.first_with(content) is not None,
            cancelled=self._order.cancel.is_set,
            cache=StageCache(self._reader, self._versions, reuse=not force),
            sizes=sizes,
            max_bytes=self._ports.settings.max_file_mb << 20,
        )
        quick = versions.quick(self._description)
        contexts, accept = self._context_stage, self._order.accept_deletions
        stamp = b"" if since else self._versions.stamp()
        apart = versions.apart(self._description)
        plan = TextPlan(connectors, redo, accept, bench, contexts, quick, apart, stamp)
        return TextStage(
            plan, self._reader, self._inbox, self._stop, self._order.cancel.is_set, self._counts
        )

    def _start(self) -> None:
        if self._text is None:
            self._finish_text(TextDone((), complete=True))
        else:
            self._spawn("scan", self._text.direct)
            # One more than there are children: while each of these reads, the next files are ready.
            for number in range(self._ports.settings.extract_workers + 1):
                self._spawn(f"extract-{number}", self._text.work)
        if isinstance(self._text, TextStage):
            self._spawn("extract-apart", self._text.work_apart)
        if self._scans:
            self._spawn("count", self._count)
        self._spawn("embed", self._embed.run)

    def _spawn(self, name: str, target: Callable[[], None]) -> None:
        def guarded() -> None:
            try:
                with until(self._order.cancel):
                    target()
            except (Stopped, Cancelled):
                return
            except BaseException as error:  # it must reach the writer, whatever it is
                with suppress(Stopped):
                    self._inbox.put(Crash(error))

        thread = threading.Thread(target=guarded, name=f"run-{name}", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _count(self) -> None:
        if not (self._text_done.wait(_COUNT_AFTER_S) or self._stop.is_set()):
            self._reporter.total = Total(self._kb.sources(), self._text_done)
            self._reporter.total.count()

    def _loop(self) -> None:
        """Writes until the stages have said that nothing more comes."""
        embed_done = False
        while not (embed_done and self._text_done.is_set()) and not self._overdue():
            message = self._inbox.poll(_WAIT_S)
            if isinstance(message, Crash):
                self._writer.flush()
                raise message.error
            if isinstance(message, TextDone):
                self._finish_text(message)
            elif isinstance(message, EmbedDone):
                embed_done = True
                self._trouble = message.trouble
                if message.trouble and not self._order.cancel.is_set():
                    self._warnings.append(f"Some chunks have no vectors yet: {message.trouble}")
            elif message is not None:
                self._writer.take(message)
            self._writer.flush_if_due(idle=message is None)
            self._reporter.tick()
        self._writer.flush()

    def _overdue(self) -> bool:
        """After a cancellation: whether the stages had their time to bring in what they have."""
        if self._order.cancel.is_set() and not self._deadline:
            self._deadline = time.monotonic() + _GRACE_S
        return bool(self._deadline) and time.monotonic() > self._deadline

    def _finish_text(self, message: TextDone) -> None:
        self._writer.flush()
        if (trouble := self._context_stage.trouble) and not self._order.cancel.is_set():
            self._warnings.append(f"Some chunks have no context yet: {trouble}")
        self._complete = message.complete
        self._note_sources(message.reports)
        self._reporter.finish_text()
        self._text_done.set()

    def _note_sources(self, reports: Sequence[SourceReport]) -> None:
        told = [report for report in reports if report.trouble or not report.dropped]
        self._unread = bool(told) and all(r.trouble and not r.listed for r in told)
        if told:
            states = {report.label: report.to_json() for report in told}
            self._store.set_meta("sources", json.dumps(states, ensure_ascii=False))
        for report in told:
            if report.trouble:
                said = sentences(f"Source {report.label}: {report.trouble}", report.hint)
                self._warnings.append(said)
            if report.problems:
                first = report.telling()[0]
                self._warnings.append(
                    f"Source {report.label}: {report.problem_count:,} entries were not looked at"
                    f" (first: {first.path}: {first.detail})."
                )
        if self._scans and not self._kb.sources():
            self._warnings.append("The configuration names no source: give sourcePaths or sources.")
            self._unread = not any(file_counts(self._store.conn)[0].values())

    def _end_threads(self) -> None:
        self._stop.set()
        self._text_done.set()
        for connector in self._connectors.values():
            connector.close()
        patience = _STOPPED_JOIN_S if self._order.cancel.is_set() else _JOIN_S
        deadline = time.monotonic() + patience
        for thread in self._threads:
            # A parser in the middle of a page is not waited for: its thread ends with it.
            thread.join(max(0.0, deadline - time.monotonic()))

    def _result(self, started: float) -> RunResult:
        files, reasons = file_counts(self._store.conn)
        done, unsupported = self._done, reasons.get(Reason.UNSUPPORTED, 0)
        return RunResult(
            status="cancelled" if self._order.cancel.is_set() else "done",
            indexed=done.indexed,
            skipped=self._counts.unchanged + done.same,
            removed=done.removed,
            chunks=done.chunks,
            elapsed_ms=int((time.monotonic() - started) * 1000),
            failed=files[FileState.FAILED] - unsupported,
            degraded=files[FileState.DEGRADED],
            deferred=files[FileState.PARTIALLY_DEFERRED],
            needs_action=files[FileState.NEEDS_ACTION],
            unsupported=unsupported,
            tried=done.tried,
            tried_failed=done.tried_failed,
            warnings=tuple(self._warnings),
            troubles=tuple(done.troubles),
            unread=self._unread,
            calibration=self._calibration,
        )
