"""What the tools may read and ask for: the knowledge bases of one base path, and the indexing
port."""

from __future__ import annotations

from typing import Any

from seoga.contracts.indexing import ChangeReport, EnqueueResult
from seoga.wiring import Stack


class Library:
    """Reads each knowledge base itself; whatever writes goes through the indexing port."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack

    def enqueue(self, kb_id: str, scope: str, *, force: bool, deferred: bool) -> EnqueueResult:
        """Queues a run. Raises InvalidArgument or NotFound for the id."""
        return self.stack.indexing.enqueue(kb_id, scope=scope, force=force, deferred=deferred)

    def cancel(self, kb_id: str) -> dict[str, Any]:
        """Takes waiting requests back and asks a running one to stop."""
        return self.stack.indexing.cancel(kb_id)

    def changes(self, kb_id: str) -> ChangeReport:
        """A dry run of scan and diff; may take long."""
        return self.stack.indexing.check_changes(kb_id)

    def ready(self) -> dict[str, Any]:
        return {}

    def warm(self) -> None:
        pass
