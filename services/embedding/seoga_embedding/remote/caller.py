"""One call to a provider: its turn at the gate, tries where they may help, and what it cost."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

import stamina
from stamina.instrumentation import RetryDetails, set_on_retry_hooks

from seoga import logs, metrics
from seoga_embedding.provider import Call, Endpoint, RemoteInfo
from seoga_embedding.remote import gate as gates
from seoga_embedding.remote.faults import CallFailed, NotMade, Trouble
from seoga_embedding.remote.gate import FAILURES, MOST_WAIT_S, Gate
from seoga_embedding.remote.wire import Came, Ready, Wire

# All tries of one call; a provider that is down costs as many in a whole run (see Gate).
TRIES: Final = FAILURES
_LONGEST_PAUSE_S: Final = 8.0
# What a caller may have to wait altogether: less than the read time-out of the service's client.
_PATIENCE_S: Final = 300.0

# What of an error's message is ours: up to the status, or to what was said.
_OWN_WORDS: Final = re.compile(r"answered HTTP \d+|[^:]*")

log = logs.get("embedding")


@dataclass(frozen=True, slots=True)
class Effort:
    """How often a call is tried, whether it passes the line of documents, and whether it goes once
    though the circuit is open."""

    tries: int = TRIES
    urgent: bool = False
    doubting: bool = False


DOCUMENT: Final = Effort()
QUERY: Final = Effort(tries=2, urgent=True)
# A part of what failed as a whole; a call that shows whether anything passes.
PART: Final = Effort(tries=1)
DOUBT: Final = Effort(tries=1, urgent=True, doubting=True)
# The same where it was told to slow down: it waits in the line, as documents do.
_DOUBT_AGAIN: Final = Effort(tries=1, doubting=True)


@dataclass(frozen=True, slots=True)
class Caller:
    """One endpoint. Thread-safe."""

    info: RemoteInfo
    endpoint: Endpoint
    wire: Wire
    gate: Gate

    def tried(self, call: Call, read_s: float, *, tries: int = TRIES, urgent: bool = False) -> Any:
        """The JSON of the answer. Raises CallFailed."""
        return self.timed(call, read_s, Effort(tries, urgent))[0]

    def lives(self, ask: Callable[[Effort], object]) -> bool:
        """Whether the provider answers something else than what it just failed at. `ask` makes
        that one call; several who wonder at once share it. Raises CallFailed for what is neither.
        """
        wondered = time.monotonic()
        with self.gate.doubts:
            if self.gate.passed_since(wondered):
                return True
            try:
                _doubted(ask)
            except CallFailed as error:
                if error.trouble not in (Trouble.OUTAGE, Trouble.OUTPUT):
                    raise
                return False
            return True

    def timed(self, call: Call, read_s: float, effort: Effort = DOCUMENT) -> tuple[Any, float]:
        """The JSON of the answer, and the seconds that the provider took for it. Raises CallFailed.

        A document that is told to slow down goes on as long as others pass: the gate says when
        there is no point.
        """
        patience = _Patience(effort.tries, effort.urgent)
        # Whatever takes no turn of the provider is done outside of it.
        ready = self.wire.ready(call, read_s)
        for attempt in stamina.retry_context(
            on=patience.again,
            attempts=None,
            timeout=_PATIENCE_S,
            wait_initial=gates.FIRST_PAUSE_S,
            wait_max=_LONGEST_PAUSE_S,
            wait_jitter=gates.FIRST_PAUSE_S,
        ):
            with attempt:
                mark = _mark(self.endpoint.key)
                with self.gate.turn(mark, urgent=effort.urgent, doubting=effort.doubting):
                    came, seconds = self._counted(ready)
                return self.wire.read(came), seconds
        raise AssertionError("the last try raises")

    def _counted(self, ready: Ready) -> tuple[Came, float]:
        name, started = self.info.name, time.monotonic()
        outcome = "ok"
        try:
            return self.wire.fetch(ready), time.monotonic() - started
        except CallFailed as error:
            outcome, error.provider = error.trouble.value, name
            raise
        finally:
            metrics.PROVIDER_CALLS.labels(name, outcome).inc()
            metrics.PROVIDER_SECONDS.labels(name).observe(time.monotonic() - started)

    def named(self, error: CallFailed) -> CallFailed:
        """The same error, naming provider, address and model."""
        hint = error.hint
        if error.trouble is Trouble.MODEL:
            hint = self.info.missing_model.format(
                model=self.endpoint.model, group=self.endpoint.group
            )
        named = CallFailed(
            error.trouble,
            f"{self.info.name} at {self.endpoint.url} (model {self.endpoint.model})"
            f" {error.message}",
            hint,
            wait_s=error.wait_s,
        )
        named.key_name = self.endpoint.key_name
        return named


def _tell(details: RetryDetails) -> None:
    """One line a try that follows. What a provider says is left out: it may repeat what it was
    sent."""
    error = details.caused_by
    if isinstance(error, CallFailed):
        log.warning(
            "a call to a provider is tried again",
            provider=error.provider,
            reason="".join(_OWN_WORDS.findall(error.message)[:1]),
            wait_s=round(details.wait_for, 1),
        )


# The library has lines of its own, with what it was called with.
set_on_retry_hooks([_tell])


def _doubted(ask: Callable[[Effort], object]) -> None:
    try:
        ask(DOUBT)
    except CallFailed as error:
        if error.trouble is not Trouble.RATE or isinstance(error, NotMade):
            raise
        ask(_DOUBT_AGAIN)


@dataclass(slots=True)
class _Patience:
    """The tries of one call that are left."""

    tries: int
    urgent: bool

    def again(self, error: Exception) -> bool | float:
        """Whether another try may help, and after how many seconds (True: growing pauses)."""
        if not isinstance(error, CallFailed) or isinstance(error, NotMade):
            return False
        if error.trouble not in (Trouble.RATE, Trouble.OUTAGE):
            return False
        if self.urgent or error.trouble is Trouble.OUTAGE:
            self.tries -= 1
        if not self.tries:
            return False
        if error.wait_s is None:
            return True
        if error.wait_s > MOST_WAIT_S:
            return False
        # What documents are told to wait they wait at the gate, where a stop ends it.
        told = error.wait_s if self.urgent or error.trouble is Trouble.OUTAGE else 0.0
        return told + secrets.SystemRandom().uniform(0, gates.FIRST_PAUSE_S)


def _mark(key: str) -> str:
    """What stands for a key in memory that outlives it."""
    return blake2b(key.encode(), digest_size=8).hexdigest()
