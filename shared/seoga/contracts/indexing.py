"""Indexing: ask for work on a knowledge base, stop it, or ask what a run would do."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class EnqueueResult:
    """`status`: queued, already_queued, upgraded, already_running or queued_after_current.
    Position counts from 1; 0 = running."""

    status: str
    kb_id: str
    queue_position: int

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class ChangeReport:
    """A dry run of scan and diff: paths as `label/path`, at most 1,000 named a list, counted in
    full."""

    kb_id: str
    added: tuple[str, ...]
    modified: tuple[str, ...]
    deleted: tuple[str, ...]
    failed: tuple[str, ...]
    counts: dict[str, int]
    stale: tuple[str, ...]
    needs_action: tuple[str, ...]
    is_clean: bool

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return asdict(self)


class Indexing(Protocol):
    """The port of the indexer service."""

    def enqueue(
        self, kb_id: str, *, scope: str = "full", force: bool = False, deferred: bool = False
    ) -> EnqueueResult:
        """Adds or merges a request (scope full ⊃ contextualization ⊃ embedding) and makes sure
        that a worker runs."""
        ...

    def cancel(self, kb_id: str) -> dict[str, Any]:
        """Pending entries are removed, a running one is asked to stop: `{kb_id, removed,
        stopping}`."""
        ...

    def check_changes(self, kb_id: str) -> ChangeReport:
        """Scan and diff without writing and without any provider call."""
        ...

    def close(self) -> None:
        """Stops the worker that this object started, if any."""
        ...
