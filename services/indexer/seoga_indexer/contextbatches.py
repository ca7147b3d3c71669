"""Contexts through a batch API, seen from a run: collect what is ready before it, send what waits
after it, and stay for the answers as long as the knowledge base says."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import Final

from seoga.contracts.forecast import BatchReport
from seoga.contracts.stop import unless_stopped
from seoga.errors import Cancelled, SeogaError
from seoga.kb import Kb
from seoga_indexer.ports import Ports

# A batch takes minutes to hours; nothing is gained by asking more often.
POLL_S: Final = 15.0
_FIRST_POLL_S: Final = 1.0


@dataclass(slots=True)
class ContextBatches:
    """Does nothing where the KB wants no batches. Errors of the provider become warnings: the
    chunks can be found all the same."""

    kb: Kb
    ports: Ports
    cancel: threading.Event
    warnings: list[str] = field(default_factory=list)

    def collect(self) -> None:
        """Brings in what is ready, so that this run finds it answered."""
        if self._wanted:
            self._ask(send=False)

    def send_and_wait(self) -> bool:
        """Sends what was put aside; True when answers came within the time that the KB gives."""
        if not self._wanted or self.cancel.is_set():
            return False
        report, came = self._ask(send=True), 0
        until = time.monotonic() + 60 * self.kb.config.contextualizer.batch_wait_minutes
        pause = _FIRST_POLL_S
        while report is not None and report.open and time.monotonic() < until:
            if self.cancel.wait(min(pause, max(0.0, until - time.monotonic()))):
                break
            report, pause = self._ask(send=False), min(2 * pause, POLL_S)
            came += report.collected if report else 0
        if report is not None and report.waiting:
            self.warnings.append(
                f"{report.waiting:,} passages wait for their context from a batch of"
                f" {self.kb.context_spec().provider}; a later run takes it."
            )
        return came > 0 and not self.cancel.is_set()

    @property
    def _wanted(self) -> bool:
        spec = self.kb.context_spec()
        return bool(spec.provider) and spec.batch

    def _ask(self, *, send: bool) -> BatchReport | None:
        spec = self.kb.context_spec()
        try:
            return unless_stopped(lambda: self.ports.embedding.batch_contexts(spec, send=send))
        except Cancelled:
            return None
        except SeogaError as error:
            message = f"Batches of contexts: {error.message}"
            if message not in self.warnings:
                self.warnings.append(message)
            return None
