"""Texts in, vectors out through one provider: batches, tries, narrowing, checks at the door."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import stamina

from seoga import logs, metrics
from seoga.errors import EmbeddingFailed, ProviderFault
from seoga_embedding.packing import pack, tokens_of
from seoga_embedding.passages import Embedded
from seoga_embedding.provider import (
    Answer,
    Call,
    Endpoint,
    Limits,
    ModelRow,
    RemoteInfo,
    Role,
    UnusableAnswer,
    Vector,
)
from seoga_embedding.remote.faults import CallFailed, Trouble
from seoga_embedding.remote.gate import FAILURES, MOST_WAIT_S, Gate
from seoga_embedding.remote.narrow import Narrowing
from seoga_embedding.remote.sizes import Sizes
from seoga_embedding.remote.wire import DOCUMENT_READ_S, QUERY_READ_S, Wire

# All tries of one call; a provider that is down costs as many in a whole run (see Gate).
TRIES: Final = FAILURES
FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S: Final = 8.0
# What a caller may have to wait altogether: less than the read time-out of the service's client.
_PATIENCE_S: Final = 300.0
# A model that was pulled anew is noticed at the next run; queries do not ask each time.
_DIGEST_S: Final = 30.0
_PROBE: Final = "Seoga"

log = logs.get("embedding")


@dataclass(frozen=True, slots=True)
class Route:
    """What a sender works with."""

    info: RemoteInfo
    endpoint: Endpoint
    row: ModelRow
    wire: Wire
    gate: Gate
    sizes: Sizes


class Sender:
    """One model at one endpoint. Thread-safe."""

    def __init__(self, route: Route) -> None:
        self._route = route
        self._digest: tuple[float, str] = (0.0, "")
        row, asked = route.row, route.endpoint.dimension
        self._dimension = 0 if not row.verified else asked or row.dimension
        # Servers refuse `dimensions` where the model has one size: it is sent only where it must.
        sent = replace(route.endpoint, dimension=asked if row.sizes else 0)
        self._dialect = route.info.dialect(sent, row)

    @property
    def row(self) -> ModelRow:
        """What is known of the model."""
        return self._route.row

    @property
    def dimension(self) -> int:
        """The size of its vectors; asked once where nobody knows it. Raises SeogaError."""
        if not self._dimension:
            asked, own = self._route.endpoint.dimension, self._probe()
            if asked not in (0, own):
                self._dialect = self._route.info.dialect(self._route.endpoint, self._route.row)
            self._dimension = asked or own
        return self._dimension

    def _probe(self) -> int:
        try:
            (vector,) = self._ask([_PROBE], "document").vectors
        except CallFailed as error:
            raise self._named(error).error() from error
        if not vector:
            raise EmbeddingFailed(
                f"{self._route.info.name} gave an empty vector.", fault=ProviderFault.BAD_OUTPUT
            )
        return len(vector)

    def digest(self) -> str:
        """What tells this build of the model apart; "" where the protocol has none.

        Raises MissingDependency when the model is not there, EmbeddingFailed.
        """
        call = self._dialect.digest_call()
        until, known = self._digest
        if call is None or time.monotonic() < until:
            return known
        try:
            body = self._tried(call, QUERY_READ_S, tries=2, urgent=True)
            digest = self._dialect.read_digest(body)
            if digest is None:
                raise CallFailed(Trouble.MODEL, "does not have it")
        except CallFailed as error:
            raise self._named(error).error() from error
        self._digest = (time.monotonic() + _DIGEST_S, digest)
        return digest

    def query(self, text: str) -> Vector:
        """(1, d) float32. One more try at most, and past the line of documents."""
        try:
            answer = self._ask([text], "query", tries=2)
        except CallFailed as error:
            raise self._named(error).error() from error
        return self._rows(answer, 1)

    def documents(self, texts: Sequence[str]) -> Embedded:
        """The vectors of all texts that the provider takes.

        Where it fails as a whole after some batches, the texts that were not reached carry its
        error; raises it when nothing came back at all.
        """
        done = Embedded(np.zeros((len(texts), self.dimension), np.float32), [0] * len(texts))
        batches = pack(texts, self._limits(), self._route.sizes.size)
        for number, batch in enumerate(batches):
            try:
                self._batch(texts, batch, done)
            except CallFailed as failed:
                error = self._named(failed).error()
                if not isinstance(error, EmbeddingFailed) or not self._anything(done):
                    raise error from failed
                self._leave(done, [at for rest in batches[number:] for at in rest], error)
                break
        return done

    def _anything(self, done: Embedded) -> bool:
        return bool(done.errors) or bool(done.vectors.any())

    def _leave(self, done: Embedded, rest: Sequence[int], error: EmbeddingFailed) -> None:
        for at in rest:
            if not done.vectors[at].any() and at not in done.errors:
                done.errors[at] = error

    def _limits(self) -> Limits:
        limits, row = self._route.info.limits, self._route.row
        most = min(limits.texts, row.batch or limits.texts)
        return Limits(most, limits.tokens, limits.bytes, limits.learns)

    def _batch(self, texts: Sequence[str], batch: Sequence[int], done: Embedded) -> None:
        """Fills in the vectors of a batch, narrowing where a text is refused."""

        def send(part: Sequence[int]) -> None:
            started = time.monotonic()
            sent = [texts[at] for at in part]
            try:
                answer = self._ask(sent, "document")
            except CallFailed as error:
                if error.trouble is Trouble.SIZE:
                    self._route.sizes.too_large(sent)
                raise
            self._place(answer, part, sent, done)
            self._route.sizes.took(sent, time.monotonic() - started)

        def probe() -> None:
            self._ask([_PROBE], "document")

        narrowing = Narrowing(send, probe)
        try:
            narrowing.run(batch)
        finally:
            for at, error in narrowing.refused.items():
                done.errors[at] = self._named(error).refused()

    def _place(
        self, answer: Answer, part: Sequence[int], sent: Sequence[str], done: Embedded
    ) -> None:
        done.vectors[list(part)] = self._rows(answer, len(part))
        estimates = [tokens_of(text) for text in sent]
        # Gemini does not say what it counted; then the estimate is what a budget goes by.
        share = (answer.tokens or sum(estimates)) / sum(estimates)
        metrics.PROVIDER_TOKENS.labels(self._route.info.name, "embed").inc(
            answer.tokens or sum(estimates)
        )
        for at, estimate, vector in zip(part, estimates, answer.vectors, strict=True):
            done.tokens[at] = round(estimate * share)
            if vector is None:
                done.errors[at] = EmbeddingFailed(
                    f"{self._route.info.name} gave no vector for this text.",
                    fault=ProviderFault.BAD_OUTPUT,
                )

    def _rows(self, answer: Answer, count: int) -> Vector:
        """(count, d) float32, zero where no vector came. Raises CallFailed for a wrong size."""
        rows = np.zeros((count, self.dimension), np.float32)
        for at, vector in enumerate(answer.vectors):
            if vector is None:
                continue
            if len(vector) != self.dimension:
                raise self._named(
                    CallFailed(
                        Trouble.OUTPUT,
                        f"gave {len(vector)} numbers where {self.dimension} were asked for",
                        "Set embedding.dimension to what the model gives, or to 0.",
                    )
                )
            rows[at] = [np.nan if number is None else number for number in vector]
        return rows

    def _ask(self, texts: Sequence[str], role: Role, tries: int = TRIES) -> Answer:
        """One request, tried again where that may help. Raises CallFailed."""
        dialect = self._dialect
        read_s = QUERY_READ_S if role == "query" else DOCUMENT_READ_S
        body = self._tried(
            dialect.embed_call(texts, role), read_s, tries=tries, urgent=role == "query"
        )
        try:
            return dialect.read_vectors(body, len(texts))
        except (UnusableAnswer, TypeError, AttributeError) as error:
            raise CallFailed(Trouble.OUTPUT, f"sent an answer that is odd: {error}") from error

    def _tried(self, call: Call, read_s: float, *, tries: int, urgent: bool = False) -> Any:
        route = self._route
        for attempt in stamina.retry_context(
            on=_again,
            attempts=tries,
            timeout=_PATIENCE_S,
            wait_initial=FIRST_PAUSE_S,
            wait_max=_LONGEST_PAUSE_S,
            wait_jitter=FIRST_PAUSE_S,
        ):
            with attempt, route.gate.turn(_mark(route.endpoint.key), urgent=urgent):
                return self._counted(call, read_s)
        raise AssertionError("the last try raises")

    def _counted(self, call: Call, read_s: float) -> Any:
        name, started = self._route.info.name, time.monotonic()
        outcome = "ok"
        try:
            return self._route.wire.send(call, read_s)
        except CallFailed as error:
            outcome = error.trouble.value
            raise
        finally:
            metrics.PROVIDER_CALLS.labels(name, outcome).inc()
            metrics.PROVIDER_SECONDS.labels(name).observe(time.monotonic() - started)

    def _named(self, error: CallFailed) -> CallFailed:
        """The same error, naming provider, address and model."""
        info, endpoint = self._route.info, self._route.endpoint
        hint = error.hint
        if error.trouble is Trouble.MODEL:
            hint = info.missing_model.format(model=endpoint.model)
        return CallFailed(
            error.trouble,
            f"{info.name} at {endpoint.url} (model {endpoint.model}) {error.message}",
            hint,
            wait_s=error.wait_s,
        )


def _again(error: Exception) -> bool | float:
    """Whether another try may help, and after how many seconds (True: growing pauses)."""
    if not isinstance(error, CallFailed) or error.trouble not in (Trouble.RATE, Trouble.OUTAGE):
        return False
    if error.wait_s is None:
        return True
    if error.wait_s > MOST_WAIT_S:
        return False
    return error.wait_s + secrets.SystemRandom().uniform(0, FIRST_PAUSE_S)


def _mark(key: str) -> str:
    """What stands for a key in memory that outlives it."""
    from hashlib import blake2b

    return blake2b(key.encode(), digest_size=8).hexdigest()
