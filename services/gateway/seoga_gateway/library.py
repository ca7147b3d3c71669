"""What the tools may read and ask for: the knowledge bases of one base path, and the indexing
port."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from seoga.contracts.embedding import Embedding
from seoga.contracts.indexing import ChangeReport, EnqueueResult
from seoga.contracts.lent import lending
from seoga.errors import (
    EmbeddingFailed,
    MissingDependency,
    NotFound,
    SeogaError,
    ServiceUnavailable,
)
from seoga.instances import open_instance
from seoga.kb import Kb, find_kb, list_kbs
from seoga.models import EmbeddingSpec
from seoga.search import calibrate, readers
from seoga.search.engine import SearchAnswer, SearchRequest, query_vector, search
from seoga.search.lifecycle import LIFECYCLES
from seoga.storage import reading
from seoga.storage.database import reader_if_any
from seoga.storage.jobs import Queue, QueueState
from seoga.storage.leases import WRITER, holder
from seoga.storage.migrate import schema_version
from seoga.wiring import Stack
from seoga_gateway.excerpt import Excerpt, Unit, excerpt
from seoga_gateway.keyring import Keyring

QUEUE = "queue.db"
BUILTIN = "builtin"


@dataclass(frozen=True, slots=True)
class Overview:
    """A knowledge base in one line. `status`: ready, empty, indexing or error (then `problem`)."""

    kb: Kb
    status: str = "empty"
    files: int = 0
    chunks: int = 0
    pending: int = 0
    schema: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """What of a document to read: from page or line `start` on, `limit` of them (None: a default),
    by `unit` (None: by page where there are pages)."""

    start: int = 1
    limit: int | None = None
    unit: Unit | None = None


@dataclass(frozen=True, slots=True)
class Info:
    """What is known of an index. `index` is `reading.index_info`, None while nothing is indexed;
    `writer` names who is indexing now; `queue` is None where queue.db cannot be used; `stale`: see
    Indexing."""

    kb: Kb
    index: dict[str, Any] | None
    writer: str
    queue: QueueState | None
    warnings: tuple[str, ...]
    stale: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class KeyNeed:
    """The key that a search by meaning lacks: the variable that would hold it, for which knowledge
    base, and whether one is there and was refused."""

    variable: str
    kb_name: str
    refused: bool


class Library:
    """Reads each knowledge base itself; whatever writes goes through the indexing port. Methods
    may be called by several threads and raise InvalidArgument or NotFound for a `kb_id`."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.base = stack.settings.base_path
        self.keyring = Keyring()

    def kb(self, kb_id: str) -> Kb:
        """One knowledge base."""
        return find_kb(self.base, kb_id)

    def overview(self) -> tuple[list[Overview], list[str]]:
        """Every knowledge base with its counts, and what is wrong with the others."""
        listing = list_kbs(self.base)
        return [_overview(kb) for kb in listing.kbs], [one.message for one in listing.problems]

    def search(
        self, kb_id: str | None, request: SearchRequest, keys: Mapping[str, str] | None = None
    ) -> SearchAnswer:
        """The passages of one knowledge base, or of all that are indexed, with the keys that the
        caller lends. Raises what `seoga.search.engine.search` raises."""
        with lending(keys or {}):
            return self._search(kb_id, request)

    def key_need(self, kb_id: str | None, query: str, keys: Mapping[str, str]) -> KeyNeed | None:
        """The first key that a search by meaning lacks when the caller lends these; None when it
        lacks none, or fails for another reason."""
        try:
            kbs = [self._indexed(kb_id)] if kb_id else list(list_kbs(self.base).kbs)
            keyed = [kb for kb in kbs if kb.embedding_spec().provider not in ("", BUILTIN)]
            with lending(keys):
                return next(filter(None, (self._need(kb, query) for kb in keyed)), None)
        except (SeogaError, ImportError):
            return None

    def _need(self, kb: Kb, query: str) -> KeyNeed | None:
        try:
            query_vector(kb, query, self.stack.embedding)
        except EmbeddingFailed as error:
            return KeyNeed(error.key, kb.name, error.refused) if error.key else None
        except SeogaError:
            return None
        return None

    def _search(self, kb_id: str | None, request: SearchRequest) -> SearchAnswer:
        kbs = [self._indexed(kb_id)] if kb_id else list(list_kbs(self.base).kbs)
        return self.search_in(kbs, request)

    def notes(self) -> Kb:
        """The project instance that this server was started for; else the only knowledge base.
        Raises NotFound."""
        if self.stack.instance is not None:
            return open_instance(self.stack.instance)
        kbs = list_kbs(self.base).kbs
        if len(kbs) != 1:
            raise NotFound(
                "search_notes speaks of one project, and this server was started without one.",
                "Start it with `seoga serve --tools notes --config .rag/config.json`.",
            )
        return kbs[0]

    def about_notes(self) -> str:
        """`toolDescription` of the project instance; "" where there is none."""
        with suppress(SeogaError):
            if self.stack.instance is not None:
                return open_instance(self.stack.instance).config.tool_description
        return ""

    def search_in(self, kbs: Sequence[Kb], request: SearchRequest) -> SearchAnswer:
        """The passages of these knowledge bases, as far as they are indexed. Raises what
        `seoga.search.engine.search` raises."""
        indexed = [kb for kb in kbs if kb.db_path.exists()]
        if not indexed:
            raise NotFound("Nothing is indexed yet.", "list_knowledge_bases shows what there is.")
        embedding, trouble = self._embedding(indexed, request.mode)
        answer = search(indexed, request, embedding)
        waiting = [f"{kb.name} is not indexed yet." for kb in kbs if kb not in indexed]
        return replace(answer, warnings=(*answer.warnings, *trouble, *waiting))

    def chunk(
        self, kb_id: str, chunk_id: int
    ) -> tuple[Kb, reading.StoredChunk, Sequence[reading.StoredChunk]]:
        """A chunk and its neighbours. Raises NotFound for an id that names nothing (any more)."""
        kb = self._indexed(kb_id)
        with readers.reading(kb.db_path) as conn:
            found = reading.chunk(conn, chunk_id)
            return kb, found, reading.neighbours(conn, chunk_id)

    def read(
        self, kb_id: str, document: str, part: Part
    ) -> tuple[Kb, reading.StoredDocument, Excerpt]:
        """Part of an indexed document's text; nothing else of the disk is ever read. Raises
        NotFound for a name that is not in the index."""
        kb = self._indexed(kb_id)
        with readers.reading(kb.db_path) as conn:
            found = reading.find_document(conn, document)
            if not found.text_chars:
                why = found.detail or found.reason or "it is empty"
                raise NotFound(f"{found.name} has no text: {why}.", f"Its state is {found.state}.")
            text, marks = reading.document_text(conn, found.label, found.path)
        return kb, found, excerpt(text, marks, part.start, part.limit, part.unit)

    def standing(self, kb: Kb, document_id: int) -> tuple[str, tuple[str, ...]]:
        """The lifecycle status of a document and what lives in its place."""
        with readers.reading(kb.db_path) as conn:
            return LIFECYCLES.get(conn, kb).told(document_id)

    def info(self, kb_id: str) -> Info:
        """Everything the index and the queue know of a knowledge base."""
        kb = self.kb(kb_id)
        index, writer, warnings = None, "", list(kb.warnings)
        with reader_if_any(kb.db_path) as conn:
            if conn is not None:
                index = reading.index_info(conn)
                index["calibration"] = calibrate.report(conn, kb.config.search.min_score)
                lease = holder(conn, WRITER)
                writer = lease.owner if lease else ""
        queue: QueueState | None = None
        try:
            queue = self._queue.state(kb.id)
        except SeogaError as error:
            warnings.append(f"The queue cannot be read: {error.message}")
        stale: Mapping[str, int] = {}
        try:
            stale = self.stack.indexing.stale(kb.id) if index else {}
        except SeogaError as error:
            warnings.append(f"Whether versions are old is not known: {error.message}")
        return Info(kb, index, writer, queue, tuple(warnings), stale)

    def enqueue(self, kb_id: str, scope: str, *, force: bool, deferred: bool) -> EnqueueResult:
        """Queues a run and returns at once."""
        kb = self.kb(kb_id)
        return self.stack.indexing.enqueue(kb.id, scope=scope, force=force, deferred=deferred)

    def create_kb(self, path: str, name: str) -> dict[str, Any]:
        """A knowledge base for a folder of the indexer's machine, and its first run queued."""
        return self.stack.indexing.create_kb(path, name)

    def delete_kb(self, kb_id: str) -> dict[str, Any]:
        """Removes a knowledge base; its index is removed by `prune-orphans`."""
        kb = self.kb(kb_id)
        return self.stack.indexing.delete_kb(kb.id)

    def cancel(self, kb_id: str) -> dict[str, Any]:
        """Takes waiting requests back and asks a running one to stop."""
        kb = self.kb(kb_id)
        return self.stack.indexing.cancel(kb.id)

    def changes(self, kb_id: str) -> ChangeReport:
        """A dry run of scan and diff; may take long."""
        kb = self.kb(kb_id)
        return self.stack.indexing.check_changes(kb.id)

    def ready(self) -> dict[str, Any]:
        """How many knowledge bases answer queries. Raises ServiceUnavailable when there are some
        and none does."""
        listing = list_kbs(self.base)
        problems = [one.message for one in listing.problems]
        usable = 0
        for kb in listing.kbs:
            try:
                usable += _answers(kb)
            except SeogaError as error:
                problems.append(error.message)
        if not usable and (listing.kbs or problems):
            why = problems[0] if problems else "nothing is indexed yet"
            raise ServiceUnavailable(f"No knowledge base can be searched: {why}")
        if not usable:
            return {"knowledge_bases": 0, "note": "There is no knowledge base yet."}
        return {"knowledge_bases": usable}

    def warm(self) -> None:
        """Loads the builtin embedder, here or in its service, when a knowledge base uses it: a
        search waits for it a few seconds only. Raises SeogaError, or ImportError where it is not
        installed."""
        asked = {kb.embedding_spec().provider for kb in list_kbs(self.base).kbs}
        if BUILTIN in asked:
            self.stack.embedding.embed_query("warm", EmbeddingSpec(provider=BUILTIN))

    def close(self) -> None:
        """Closes the queue, where it was opened."""
        if "_queue" in self.__dict__:
            self.__dict__.pop("_queue").close()

    def _embedding(self, kbs: Sequence[Kb], mode: str) -> tuple[Embedding | None, tuple[str, ...]]:
        """What makes query vectors and reranks, where any can be used; else None, and why it is
        missing."""
        embeds = mode != "bm25" and any(kb.embedding_spec().provider for kb in kbs)
        if not embeds and not any(kb.rerank_spec().provider for kb in kbs):
            return None, ()
        try:
            return self.stack.embedding, ()
        except (ImportError, MissingDependency) as error:
            return None, (f"Keyword search only: the embedding engine is not here ({error}).",)

    def _indexed(self, kb_id: str) -> Kb:
        kb = self.kb(kb_id)
        if not kb.db_path.exists():
            raise NotFound(f"Nothing is indexed in {kb.id} yet.", "Call start_reindex.")
        return kb

    @cached_property
    def _queue(self) -> Queue:
        return Queue(self.base / QUEUE)


def _answers(kb: Kb) -> bool:
    """True from the first commit of its first run on; an index without documents answers too."""
    with reader_if_any(kb.db_path) as conn:
        if conn is None:
            return False
        return reading.commit_number(conn) > 0 or holder(conn, WRITER) is None


def _overview(kb: Kb) -> Overview:
    if not kb.db_path.exists():
        return Overview(kb)
    try:
        with readers.reading(kb.db_path) as conn:
            counts, bare = reading.kb_counts(conn), reading.unserved_count(conn)
            schema = schema_version(conn)
            running = holder(conn, WRITER) is not None
    except NotFound:
        return Overview(kb)
    except SeogaError as error:
        return Overview(kb, "error", problem=error.message)
    status = "indexing" if running else "ready" if counts.chunks else "empty"
    return Overview(kb, status, counts.total_files, counts.chunks, bare, schema)
