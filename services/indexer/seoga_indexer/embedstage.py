"""The second half of a run: waiting chunks get their vectors, while text still comes."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, field

from seoga.contracts.embedding import Passage, PassageVectors, of_provider
from seoga.errors import (
    Cancelled,
    ConfigError,
    EmbeddingFailed,
    MissingDependency,
    ProviderFault,
    SeogaError,
    ServiceUnavailable,
)
from seoga.models import EmbeddingSpec
from seoga.storage.documents import DocumentStore
from seoga.storage.records import ChunkVectors, PendingChunk
from seoga_indexer.budget import Budget
from seoga_indexer.channel import Channel
from seoga_indexer.outcome import Barrier, EmbedDone, Message, Vectors
from seoga_indexer.ports import Ports

BATCH = 128
# A kill loses what is under way: where a request takes longer, the next asks for less.
_REQUEST_S = 1.0
# A provider that is down costs this many calls a run, the retry pass included.
MAX_FAILED_CALLS = 5
PAUSES_S = (0.2, 0.4, 0.8, 1.6)
# Embedding takes every core; text found first makes the index usable sooner for the same work.
HEAD_START_S = 20.0
# So long text that came is waited for until it fills a request.
FILL_S = 2.0
_IDLE_S = 0.2
# The same request would get the same answer, and the service has asked more than once.
_FINAL = (ProviderFault.AUTH, ProviderFault.REJECTED, ProviderFault.BAD_OUTPUT)


class _GivenUp(Exception):
    """No more calls in this run; says why."""


@dataclass(frozen=True, slots=True)
class EmbedPlan:
    """Which model, for which generation of vectors (0: the KB wants none), with how many requests
    under way at once, and how many texts go in a call of its provider (0: none is made)."""

    ports: Ports
    spec: EmbeddingSpec
    generation: int
    budget: Budget
    lanes: int = 1
    call: int = 0

    def ask(self, passages: list[Passage]) -> list[PassageVectors | EmbeddingFailed]:
        """One request of the port."""
        return self.ports.embedding.embed_passages(passages, self.spec)


class _Request:
    """A batch on its way, in a thread of its own: one that hangs holds up no end of a process."""

    def __init__(self, plan: EmbedPlan, batch: Sequence[PendingChunk]) -> None:
        self.batch = batch
        self.seconds = 0.0
        self._passages = [passage_of(chunk) for chunk in batch]
        self._plan = plan
        self._answers: list[PassageVectors | EmbeddingFailed] = []
        self._error: BaseException | None = None
        self._thread: threading.Thread | None = None
        if plan.lanes > 1:
            self._thread = threading.Thread(
                target=copy_context().run, args=(self._run,), name="embed-request", daemon=True
            )
            self._thread.start()

    def _run(self) -> None:
        try:
            self._answers = self._ask()
        except BaseException as error:  # whoever waits for the answers raises it
            self._error = error

    def _ask(self) -> list[PassageVectors | EmbeddingFailed]:
        started = time.monotonic()
        try:
            return self._plan.ask(self._passages)
        finally:
            self.seconds = time.monotonic() - started

    def answers(self) -> list[PassageVectors | EmbeddingFailed]:
        """Waits for them; raises what the port raised. Asked again, it makes the request again."""
        thread, self._thread = self._thread, None
        if thread is None:
            return self._ask()
        thread.join()
        if self._error is not None:
            raise self._error
        return self._answers


@dataclass(slots=True)
class EmbedStage:
    """One thread runs `run`: batches of vectors go to `inbox`, EmbedDone last."""

    plan: EmbedPlan
    reader: DocumentStore
    inbox: Channel[Message]
    text_done: threading.Event
    cancelled: Callable[[], bool]
    pause: Callable[[float], object]
    _failed_calls: int = field(init=False, default=0)
    _answered: bool = field(init=False, default=False)
    # Passages a second of one lane in the last request; 0 before there is any.
    _pace: float = field(init=False, default=0.0)
    _under_way: deque[_Request] = field(init=False, default_factory=deque)

    def run(self) -> None:
        """Embeds as text is committed, then takes once more what was refused (the retry pass).
        Raises Stopped when the run ends early."""
        trouble = ""
        if self.plan.generation:
            try:
                self._head_start()
                self._follow()
                self._retry()
            except _GivenUp as reason:
                trouble = str(reason)
                self._keep_what_came()
        self._wait_for_text()
        self.inbox.put(EmbedDone(trouble))

    def _head_start(self) -> None:
        waited = 0.0
        while not (self.text_done.wait(_IDLE_S) or self.cancelled() or waited > HEAD_START_S):
            waited += _IDLE_S

    def _wait_for_text(self) -> None:
        self.text_done.wait()

    def _follow(self) -> None:
        """Chunk ids only grow, so one cursor meets every chunk that is committed during the run."""
        after, waited = 0, 0.0
        while not self.cancelled():
            complete = self.text_done.is_set()
            size = self._size()
            batch = self.reader.pending(size, after)
            if batch and (complete or len(batch) == size or waited >= FILL_S):
                waited, after = 0.0, batch[-1].id
                self._send(batch)
            elif complete:
                break
            else:
                self._settle(0)
                self.text_done.wait(_IDLE_S)
                waited += _IDLE_S
        self._settle(0)

    def _retry(self) -> None:
        """What is pending after everything was stored has failed in this run or an earlier one."""
        barrier = Barrier(threading.Event())
        self.inbox.put(barrier)
        while not (barrier.stored.wait(_IDLE_S) or self.cancelled()):
            pass
        after = 0
        while not self.cancelled() and (batch := self.reader.pending(self._size(), after)):
            after = batch[-1].id
            self._send(batch)
        self._settle(0)

    def _alone(self) -> bool:
        """What spends a budget, and what was never answered or not the last time, goes alone."""
        return self.plan.budget.limited or not self._answered or bool(self._failed_calls)

    def _size(self) -> int:
        """Passages of the next request: whole calls of the provider, one at least for each that it
        works on, and no more than are soon answered."""
        call = self.plan.call
        if not call:
            return BATCH
        # One that goes alone has the calls of all lanes.
        lanes = self.plan.lanes if self._alone() else 1
        soon = int(self._pace * lanes * _REQUEST_S) // call * call
        return min(BATCH, max(call * lanes, soon))

    def _send(self, batch: Sequence[PendingChunk]) -> None:
        lanes = 1 if self._alone() else self.plan.lanes
        self._settle(lanes - 1)
        # It may have been stopped while answers were waited for.
        if not self.cancelled():
            self._under_way.append(_Request(self.plan, batch))
            self._settle(lanes - 1)

    def _settle(self, most: int) -> None:
        """Waits until at most so many requests are under way."""
        while len(self._under_way) > most:
            request = self._under_way.popleft()
            self._take(request.batch, self._answers_of(request))

    def _keep_what_came(self) -> None:
        """The answers to what was sent before the end."""
        while self._under_way:
            request = self._under_way.popleft()
            with suppress(SeogaError, _GivenUp):
                self._take(request.batch, request.answers())

    def _take(
        self, batch: Sequence[PendingChunk], answers: list[PassageVectors | EmbeddingFailed]
    ) -> None:
        rows, refused = [], []
        ended: EmbeddingFailed | None = None
        for chunk, answer in zip(batch, answers, strict=True):
            if not isinstance(answer, EmbeddingFailed):
                rows.append(ChunkVectors(chunk.id, answer.vectors, answer.penalties))
            elif of_provider(answer):
                # It was not reached: that is no try of this chunk.
                ended = answer
            else:
                refused.append((chunk.id, answer.message))
        if rows or refused:
            self.inbox.put(Vectors(self.plan.generation, rows, refused))
        spent = self.plan.budget.spend(
            sum(answer.tokens for answer in answers if isinstance(answer, PassageVectors))
        )
        if spent:
            raise _GivenUp(spent)
        if ended is not None:
            # The provider was tried as often as makes sense before it was given up.
            raise _GivenUp(ended.message)

    def _answers_of(self, request: _Request) -> list[PassageVectors | EmbeddingFailed]:
        """Asks until it succeeds; a provider's error is of one of two kinds: it will be the same
        in a second (stop at once), or it may pass (try a few times)."""
        while True:
            try:
                answers = request.answers()
            except Cancelled as stopped:
                raise _GivenUp("stopped") from stopped
            except (ConfigError, MissingDependency) as error:
                raise _GivenUp(error.message) from error
            except (EmbeddingFailed, ServiceUnavailable) as error:
                self._after(error)
            else:
                lanes = self.plan.lanes if self._alone() else 1
                self._pace = len(request.batch) / max(request.seconds, 1e-3) / lanes
                self._failed_calls, self._answered = 0, True
                return answers
            if self.cancelled():
                raise _GivenUp("stopped")

    def _after(self, error: SeogaError) -> None:
        self._failed_calls += 1
        final = isinstance(error, EmbeddingFailed) and error.fault in _FINAL
        if final or self._failed_calls >= MAX_FAILED_CALLS:
            raise _GivenUp(error.message) from error
        self.pause(PAUSES_S[min(self._failed_calls, len(PAUSES_S)) - 1])


def passage_of(chunk: PendingChunk) -> Passage:
    """What is embedded of a chunk."""
    # The header row of a table part stands outside the slice, but belongs to what it says.
    text = f"{chunk.header_row}\n{chunk.text}" if chunk.header_row else chunk.text
    context = "\n".join(filter(None, (chunk.context, chunk.keywords)))
    return Passage(text, " > ".join(chunk.heading_path), context)
