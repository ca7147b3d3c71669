"""The embedding engine: documents in child processes or through a provider, queries at once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

from seoga.contracts.embedding import (
    Context,
    Excerpt,
    Passage,
    PassageVectors,
    Vector,
)
from seoga.contracts.forecast import BatchReport, Forecast
from seoga.errors import EmbeddingFailed, ProviderFault, SeogaError
from seoga.models import ContextSpec, EmbeddingSpec, ModelCard, RerankSpec
from seoga.storage.embedding import EmbeddingStore
from seoga_embedding.memory import affordable
from seoga_embedding.passages import checked, embed_all, embed_with
from seoga_embedding.pool import Pool
from seoga_embedding.provider import ModelRow, Provider, RemoteInfo
from seoga_embedding.registry import find_model, find_provider, open_provider
from seoga_embedding.split import SPLIT_VERSION, clean

if TYPE_CHECKING:
    from seoga.settings import Settings
    from seoga_embedding.contextualize import Contextualizer
    from seoga_embedding.remote.remotes import Remotes
    from seoga_embedding.remote.sender import Sender

_CACHED_QUERIES: Final = 2048


class EmbeddingEngine:
    """Implements the port `Embedding`. Thread-safe; nothing loads before its first use."""

    def __init__(self, config: Settings) -> None:
        self._config = config
        self._opened: dict[tuple[str, ModelRow], tuple[Provider, ModelRow]] = {}
        self._queries: OrderedDict[tuple[str, str], Vector] = OrderedDict()
        self._pool: Pool | None = None
        self._remotes: Remotes | None = None
        self._contexts: Contextualizer | None = None
        self._lock = threading.Lock()
        # A model works on one text at a time; queries wait for one another, never for documents.
        self._model_lock = threading.Lock()

    def card(self, spec: EmbeddingSpec) -> ModelCard:
        """The identity of the model; asks its provider for what only that one knows.

        Raises ConfigError, MissingDependency (no such model), EmbeddingFailed.
        """
        return self._card(spec, self._sender(spec))

    def _card(self, spec: EmbeddingSpec, sender: Sender | None) -> ModelCard:
        if sender is not None:
            row, (digest, dimension) = sender.row, sender.identity()
        else:
            provider, row = self._open(spec)
            digest, dimension = provider.digest(), row.dimension
        prefixes = row.query_prefix + row.document_prefix
        return ModelCard(
            provider=find_provider(spec).name,
            model=row.model,
            digest=digest,
            dimension=dimension,
            prefix=f"{row.query_prefix}/{row.document_prefix}" if prefixes else "",
            pooling=_pooling(row),
            threshold=row.threshold,
            verified=row.verified,
            price=row.price,
            lanes=self._lanes(spec, sender is not None),
            batch=spec.batch_size or sender.batch if sender is not None else 0,
        )

    def embed_passages(
        self, passages: Sequence[Passage], spec: EmbeddingSpec
    ) -> list[PassageVectors | EmbeddingFailed]:
        """One result a passage, in order. Raises EmbeddingFailed when the whole provider fails.

        All children work when a call brings several batches of 16,000 characters; 256 passages
        are a good size.
        """
        sender = self._sender(spec)
        if not passages:
            return []
        if sender:
            return embed_with(sender.documents, sender.row, sender.dimension, passages)
        provider, row = self._open(spec)
        if _in_children(spec):
            return self._children().embed(spec, passages)
        return embed_all(provider, row, passages)

    def embed_query(self, text: str, spec: EmbeddingSpec) -> Vector:
        """(d,) float32 of unit length, read-only; cached. Raises EmbeddingFailed."""
        sender = self._sender(spec)
        row = sender.row if sender else self._open(spec)[1]
        words = " ".join(clean(text).split())[: row.max_chars]
        key = (self._card(spec, sender).key, words)
        with self._lock:
            if (known := self._queries.get(key)) is not None:
                self._queries.move_to_end(key)
                return known
        asked = row.query_prefix + (words or " ")
        if sender:
            raw = sender.query(asked)
        else:
            with self._model_lock:
                raw = self._open(spec)[0].embed([row.query_prefix + words], "query")
        vectors, good = checked(raw, 1, raw.shape[1] if sender else row.dimension)
        if not good[0]:
            raise EmbeddingFailed(
                "The model gave no usable vector for the query.", fault=ProviderFault.BAD_OUTPUT
            )
        vector: Vector = vectors[0]
        vector.flags.writeable = False
        with self._lock:
            self._queries[key] = vector
            if len(self._queries) > _CACHED_QUERIES:
                self._queries.popitem(last=False)
        return vector

    def embed_queries(self, texts: Sequence[str], spec: EmbeddingSpec) -> list[Vector]:
        """See `Embedding`; not cached. Raises EmbeddingFailed."""
        if self._sender(spec) is not None or not texts:
            return [self.embed_query(text, spec) for text in texts]
        row = self._open(spec)[1]
        words = [" ".join(clean(text).split())[: row.max_chars] for text in texts]
        with self._model_lock:
            raw = self._open(spec)[0].embed([row.query_prefix + one for one in words], "query")
        vectors, good = checked(raw, len(texts), row.dimension)
        if not good.all():
            raise EmbeddingFailed(
                "The model gave no usable vector for a query.", fault=ProviderFault.BAD_OUTPUT
            )
        return list(vectors)

    def contextualize(
        self, excerpts: Sequence[Excerpt], spec: ContextSpec
    ) -> list[Context | EmbeddingFailed]:
        """See `Embedding`. Raises ConfigError, MissingDependency, EmbeddingFailed."""
        return self._contextualizer().run(excerpts, spec)

    def rerank(self, query: str, texts: Sequence[str], spec: RerankSpec) -> list[float]:
        """See `Embedding`. Raises ConfigError, EmbeddingFailed."""
        from seoga_embedding.reranking import Reranker

        return Reranker(self._far()).run(query, texts, spec)

    def batch_contexts(self, spec: ContextSpec, *, send: bool) -> BatchReport:
        """See `Embedding`. Raises ConfigError, MissingDependency, EmbeddingFailed."""
        return self._contextualizer().batch(spec, send=send)

    def _contextualizer(self) -> Contextualizer:
        from seoga_embedding.contextualize import Contextualizer

        remotes = self._far()
        with self._lock:
            if self._contexts is None:
                self._contexts = Contextualizer(remotes)
            return self._contexts

    def prompt_id(self, spec: ContextSpec) -> str:
        """See `Embedding`."""
        from seoga_embedding.prompts import prompt_id

        return prompt_id(spec.prompt)

    def version(self, spec: EmbeddingSpec) -> str:
        """See `Embedding`. Raises ConfigError, MissingDependency, EmbeddingFailed."""
        sender = self._sender(spec)
        return sender.version() if sender else ""

    def forecast_passages(self, passages: Sequence[Passage], spec: EmbeddingSpec) -> Forecast:
        """See `Embedding`. Raises ConfigError."""
        from seoga_embedding.forecast import of_passages

        with closing(EmbeddingStore(self._config.base_path, read_only=True)) as store:
            return of_passages(passages, spec, store)

    def forecast_contexts(self, excerpts: Sequence[Excerpt], spec: ContextSpec) -> Forecast:
        """See `Embedding`. Raises ConfigError."""
        from seoga_embedding.forecast import of_contexts

        with closing(EmbeddingStore(self._config.base_path, read_only=True)) as store:
            return of_contexts(excerpts, spec, store, self._config.provider_calls)

    def warm(self, spec: EmbeddingSpec | None = None) -> threading.Thread:
        """Loads the model for queries in the background; an error shows at the first query."""

        def load() -> None:
            try:
                self.embed_query("warm", spec or EmbeddingSpec())
            except SeogaError:
                return

        thread = threading.Thread(target=load, name="embed-warm", daemon=True)
        thread.start()
        return thread

    def ready(self) -> dict[str, Any]:
        """Details for /ready: the children and their peak memory in MiB.

        Raises MissingDependency when the builtin model is not installed.
        """
        card = self.card(EmbeddingSpec())
        pool = self._pool
        return {"model": card.model, "children_mb": pool.memory_mb() if pool else {}}

    def close(self) -> None:
        """Ends the children and frees the models."""
        with self._lock:
            pool, self._pool = self._pool, None
            remotes, self._remotes = self._remotes, None
            self._contexts = None
            opened = list(self._opened.values())
            self._opened.clear()
        if pool is not None:
            pool.close()
        for provider, _ in opened:
            provider.close()
        if remotes is not None:
            remotes.close()

    def _lanes(self, spec: EmbeddingSpec, remote: bool) -> int:
        """A second request keeps the children busy while the first is stored."""
        if remote:
            return self._config.provider_calls
        return 2 if _in_children(spec) else 1

    def _sender(self, spec: EmbeddingSpec) -> Sender | None:
        """What sends to the provider of `spec`; None where it computes here."""
        info = find_provider(spec)
        if not isinstance(info, RemoteInfo):
            return None
        return self._far().open(info, spec, find_model(spec))

    def _far(self) -> Remotes:
        # Connections are for those who need them: most processes do not.
        from seoga_embedding.remote.remotes import Remotes

        with self._lock:
            if self._remotes is None:
                self._remotes = Remotes(self._config)
            return self._remotes

    def _open(self, spec: EmbeddingSpec) -> tuple[Provider, ModelRow]:
        # A model that is named and the same one by default are loaded once: it is 120 MiB.
        key = (find_provider(spec).name, find_model(spec))
        with self._lock:
            if key not in self._opened:
                self._opened[key] = open_provider(spec)
            return self._opened[key]

    def _children(self) -> Pool:
        with self._lock:
            if self._pool is None:
                self._pool = Pool(affordable(self._config.embed_processes))
            return self._pool


def _in_children(spec: EmbeddingSpec) -> bool:
    info = find_provider(spec)
    return not isinstance(info, RemoteInfo) and info.local


def _pooling(row: ModelRow) -> str:
    heading = "" if row.heading_penalty is None else f"+heading-{row.heading_penalty:g}"
    return f"windows-{row.window}-{row.heading_chars}.{SPLIT_VERSION}{heading}"
