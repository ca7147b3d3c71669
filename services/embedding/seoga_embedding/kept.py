"""What is kept of the questions to an LLM: its answers, and how often a passage failed by itself.

A passage is given up after three failures of its own: it would be paid for in every run. Its key
holds model and prompt and words, so a change of any of these asks anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from seoga import logs
from seoga.contracts.embedding import Context
from seoga.errors import EmbeddingFailed, ProviderFault, StorageError
from seoga.storage.embedding import EmbeddingStore, Failure

# All tries of one passage over all runs, as of one that gets no vector.
TRIES: Final = 3
GIVEN_UP: Final = "Another model or systemPrompt asks anew, as does --force."

log = logs.get("embedding")


@dataclass(frozen=True, slots=True)
class Kept:
    """Thread-safe. Where the database cannot be used, nothing is known and nothing is kept."""

    store: EmbeddingStore

    def answer(self, key: str) -> Context | None:
        """What was answered before; it costs nothing."""
        try:
            found = self.store.context(key)
        except StorageError:
            return None
        return Context(*found) if found else None

    def keep(self, key: str, context: str, keywords: str) -> None:
        """Keeps an answer."""
        try:
            self.store.save_context(key, context, keywords)
        except StorageError as error:
            log.warning("an answer is not kept", reason=error.message)

    def given_up(self, key: str) -> EmbeddingFailed | None:
        """Why a passage is not asked about any more; None where it still is."""
        try:
            found = self.store.failure(key)
        except StorageError:
            return None
        return _final(found) if found is not None and found.tries >= TRIES else None

    def failed(self, key: str, error: EmbeddingFailed) -> EmbeddingFailed:
        """Counts a failure of the passage itself; what it is told of it."""
        try:
            tries = self.store.save_failure(key, error.fault.value, error.message)
        except StorageError as trouble:
            log.warning("a failure is not counted", reason=trouble.message)
            return error
        if tries < TRIES:
            return error
        return _final(Failure(tries, error.fault.value, error.message))

    def forgive(self, key: str) -> None:
        """The passage has all its tries again."""
        try:
            self.store.forgive(key)
        except StorageError as error:
            log.warning("failures are not forgotten", reason=error.message)


def _final(failure: Failure) -> EmbeddingFailed:
    known = {fault.value: fault for fault in ProviderFault}
    fault = known.get(failure.fault, ProviderFault.REJECTED)
    error = EmbeddingFailed(failure.reason, GIVEN_UP, fault=fault)
    error.final = True
    return error
