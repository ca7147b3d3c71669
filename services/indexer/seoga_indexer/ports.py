"""What a run asks of the other services."""

from __future__ import annotations

from typing import Protocol

from seoga.contracts.embedding import Embedding
from seoga.contracts.extraction import Extraction
from seoga.settings import Settings


class Ports(Protocol):
    """A stack, which makes each port when it is first used: a run that has nothing to embed loads
    no embedder."""

    @property
    def settings(self) -> Settings:
        """Of this process."""

    @property
    def extraction(self) -> Extraction:
        """Reads files."""

    @property
    def embedding(self) -> Embedding:
        """Makes vectors, and contexts."""
