"""Settings in, Stack out: the only place that names engines (by dotted name, imported when first
used)."""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from seoga.contracts.embedding import Embedding
from seoga.contracts.extraction import Extraction
from seoga.contracts.indexing import Indexing
from seoga.settings import Settings, settings

ENGINES = {
    "extraction": "seoga_extraction.engine:ExtractionEngine",
    "embedding": "seoga_embedding.engine:EmbeddingEngine",
    "indexing": "seoga_indexer.engine:IndexingEngine",
}
CLIENTS = {
    "extraction": "seoga.contracts.extraction:ExtractionClient",
    "embedding": "seoga.contracts.embedding:EmbeddingClient",
    "indexing": "seoga.contracts.indexing:IndexingClient",
}


def load(dotted: str) -> Any:
    """The object that `package.module:name` names."""
    module, _, name = dotted.partition(":")
    return getattr(import_module(module), name)


class Stack:
    """The ports of this process. URL set: a client; no URL: the engine itself. Nothing starts
    before its first use."""

    def __init__(self, config: Settings) -> None:
        self.settings = config
        # True while serving stdio: queued work then runs in a process that outlives the client.
        self.detached_worker = False
        # The configuration of the project that search_notes speaks of.
        self.instance: Path | None = None

    @cached_property
    def extraction(self) -> Extraction:
        """The extraction port."""
        if url := self.settings.extraction_url:
            client: Extraction = load(CLIENTS["extraction"])(url)
            return client
        engine: Extraction = load(ENGINES["extraction"])(self.settings)
        return engine

    @cached_property
    def embedding(self) -> Embedding:
        """The embedding port."""
        if url := self.settings.embedding_url:
            client: Embedding = load(CLIENTS["embedding"])(url)
            return client
        engine: Embedding = load(ENGINES["embedding"])(self.settings)
        return engine

    @cached_property
    def indexing(self) -> Indexing:
        """The indexing port; its engine uses the other two."""
        if url := self.settings.indexer_url:
            client: Indexing = load(CLIENTS["indexing"])(url)
            return client
        engine: Indexing = load(ENGINES["indexing"])(self)
        return engine

    def close(self) -> None:
        """Closes what was used, the last used first."""
        for name in ("indexing", "embedding", "extraction"):
            if name in self.__dict__:
                self.__dict__.pop(name).close()


def build_stack(config: Settings | None = None) -> Stack:
    """The stack of these settings (default: of this process)."""
    return Stack(config or settings())
