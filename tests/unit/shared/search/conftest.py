"""A knowledge base filled through the real store, without extraction: one chunk a paragraph."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from seoga.contracts.embedding import Passage, PassageVectors, Vector
from seoga.errors import EmbeddingFailed, ServiceUnavailable
from seoga.kb import Kb, load_kb
from seoga.models import Chunk, EmbeddingSpec, ModelCard, Place, RerankSpec
from seoga.search.engine import SearchAnswer, SearchRequest, search
from seoga.search.readers import close_readers
from seoga.search.semantic import MATRICES
from seoga.storage.database import open_writer
from seoga.storage.documents import DocumentStore
from seoga.storage.records import STATED, ChunkVectors, FileRow, PreparedChunk, PreparedFile, Tokens
from seoga.text.language import language_of
from seoga.text.tokens import index_text
from seoga_embedding.passages import embed_all
from seoga_embedding.registry import find_model, open_provider

SPEC = EmbeddingSpec("hashing")


class Embedder:
    """The hashing model in this process, with a switch: `down` makes it fail like an outage. As a
    reranker it puts long passages first."""

    def __init__(self) -> None:
        self.down = False
        self.digest = "1"
        self.queries: list[str] = []
        self.reranked: list[list[str]] = []
        self.provider, self.row = open_provider(SPEC)

    def card(self, spec: EmbeddingSpec) -> ModelCard:
        row = find_model(spec)
        return ModelCard(
            "hashing", row.model, self.digest, row.dimension, "", "windows", row.threshold
        )

    def embed_passages(
        self, passages: Sequence[Passage], spec: EmbeddingSpec
    ) -> list[PassageVectors | EmbeddingFailed]:
        return embed_all(self.provider, self.row, passages)

    def embed_query(self, text: str, spec: EmbeddingSpec) -> Vector:
        if self.down:
            raise ServiceUnavailable("The embedding service does not answer.")
        self.queries.append(text)
        vector: Vector = self.provider.embed([text], "query")[0]
        return vector

    def embed_queries(self, texts: Sequence[str], spec: EmbeddingSpec) -> list[Vector]:
        return [self.embed_query(text, spec) for text in texts]

    def rerank(self, query: str, texts: Sequence[str], spec: RerankSpec) -> list[float]:
        if self.down:
            raise ServiceUnavailable("The embedding service does not answer.")
        self.reranked.append(list(texts))
        return [float(len(text)) for text in texts]

    def close(self) -> None:
        return None


class Shelf:
    """A KB that tests write into and search."""

    def __init__(self, folder: Path, **config: Any) -> None:
        folder.mkdir(parents=True)
        settings = {"id": folder.name, "sourcePaths": [], "embedding": {"provider": "hashing"}}
        (folder / "config.json").write_text(json.dumps(settings | config), encoding="utf-8")
        self.kb: Kb = load_kb(folder)
        self.store = DocumentStore(open_writer(self.kb.db_path))
        self.embedder = Embedder()
        self.generation = self.store.ensure_generation(self.embedder.card(SPEC))

    def put(self, path: str, text: str, **more: Any) -> int:
        """Stores a document (commit 1 only); a line `# x` is the heading of what follows."""
        heading: tuple[str, ...] = ()
        chunks: list[PreparedChunk] = []
        at = 0
        for part in text.split("\n\n"):
            if part.startswith("# "):
                heading = (part[2:],)
            else:
                chunk = Chunk(len(chunks), part, at, at + len(part), heading, place=Place(page=1))
                title = index_text(more.get("title", ""))
                tokens = Tokens(title, index_text(" ".join(heading)), index_text(part))
                chunks.append(PreparedChunk(chunk, tokens, language_of(part)))
            at += len(part) + 2
        row = FileRow(
            label=more.get("label", "docs"),
            path=path,
            size=len(text),
            mtime_ns=more.get("mtime_ns", 1_750_000_000 * 10**9),
            scanned_ns=0,
            hash=path,
            format=more.get("format", "markdown"),
            title=more.get("title", ""),
            lang=language_of(text),
            meta={STATED: more["states"]} if "states" in more else {},
        )
        return self.store.commit_text([PreparedFile(row, text, chunks)])[0]

    def embed(self) -> None:
        """Commit 2 of all that waits."""
        waiting = self.store.pending(10_000)
        passages = [Passage(each.text, " > ".join(each.heading_path)) for each in waiting]
        made = self.embedder.embed_passages(passages, SPEC) if passages else []
        rows = [
            ChunkVectors(chunk.id, vectors.vectors, vectors.penalties)
            for chunk, vectors in zip(waiting, made, strict=True)
            if isinstance(vectors, PassageVectors)
        ]
        self.store.commit_vectors(self.generation, rows)

    def search(self, query: str, **options: Any) -> SearchAnswer:
        """A search of this KB alone."""
        return search([self.kb], SearchRequest(query, **options), self.embedder)

    def paths(self, query: str, **options: Any) -> list[str]:
        """The documents that a search finds, best first."""
        return [hit.path for hit in self.search(query, **options).hits]

    def close(self) -> None:
        """Closes the writer."""
        self.store.close()


@pytest.fixture
def make_shelf(tmp_path: Path) -> Iterator[Callable[..., Shelf]]:
    """Makes shelves: `make_shelf("name", **config)`."""
    made: list[Shelf] = []

    def make(name: str = "kb", **config: Any) -> Shelf:
        made.append(Shelf(tmp_path / "kbs" / name, **config))
        return made[-1]

    yield make
    for shelf in made:
        shelf.close()
    close_readers()
    MATRICES.clear()


@pytest.fixture
def shelf(make_shelf: Callable[..., Shelf]) -> Shelf:
    """An empty one."""
    return make_shelf()
