"""The estimate of a run: what the survey found, sampled and reckoned."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Final, TypeVar

from seoga.contracts.indexing import RunEstimate, StageEstimate
from seoga.errors import NotFound
from seoga.kb import Kb
from seoga.models import EmbeddingSpec, Item, ModelCard
from seoga.storage import generations
from seoga.storage.database import reader
from seoga.storage.documents import REDO, DocumentStore
from seoga.storage.packing import PackedChunk, PackedFile
from seoga.storage.reading import document
from seoga.storage.records import FileRow, KnownFile, PendingChunk, Tokens
from seoga.wiring import Stack
from seoga_indexer import versions
from seoga_indexer.contextstage import identity_of
from seoga_indexer.embedstage import passage_of
from seoga_indexer.estimate.reckoning import CONTEXT_CHARS, Before, Reckoning, Wanted
from seoga_indexer.estimate.sampling import Found, Kind, Sampler, kinds_of
from seoga_indexer.estimate.survey import Survey, look, recontexted, redo_of
from seoga_indexer.pipeline import sizes_of
from seoga_indexer.run import Order

# More known files, or waiting chunks, are taken to be like so many of them.
_MOST_FILES: Final = 400
_MOST_CHUNKS: Final = 4096
_PAGE: Final = 1000
_ALIKE: Final = 3
_One = TypeVar("_One")


def estimate(kb: Kb, stack: Stack, order: Order) -> RunEstimate:
    """What a run with these options would do and cost now. Calls no provider, writes nothing.

    Raises ConfigError for providers that there are not.
    """
    with ExitStack() as opened:
        try:
            conn = opened.enter_context(reader(kb.db_path))
            store = DocumentStore(conn)
        except NotFound:
            store = None
        return _Work(kb, stack, order, store).run(opened)


@dataclass(slots=True)
class _Work:
    kb: Kb
    stack: Stack
    order: Order
    store: DocumentStore | None

    def run(self, opened: ExitStack) -> RunEstimate:
        kb, contexts = self.kb, self.kb.context_spec()
        partial = self.order.partial
        again = replace(contexts, fresh=partial == "contextualization", forced=self.order.force)
        wanted = Wanted(kb.embedding_spec(), again, self._every())
        reckoning = Reckoning(self.stack.embedding, wanted, self._context_chars())
        survey, kinds = Survey(), list[Kind]()
        if partial is None:
            now = versions.current(
                self.stack.extraction.describe(),
                sizes_of(kb),
                identity_of(contexts, self.stack, self.store),
            )
            redo = redo_of(self.store, now, self.order)
            survey = look(kb, self.store, redo, opened)
            kinds = self._sampled(survey)
            self._new(kinds, survey, reckoning)
            self._known(survey, reckoning)
        elif again.fresh and again.provider and self.store is not None:
            survey.again = recontexted(self.store)
            self._known(survey, reckoning)
        self._waiting(survey, reckoning)
        return self._report(survey, kinds, reckoning)

    def _every(self) -> bool:
        """Whether all chunks get new vectors: `--force`, a redo that begins, another model."""
        order, store = self.order, self.store
        if store is None or order.force:
            return order.force
        if order.partial is not None:
            return bool(json.loads(store.meta(REDO, "{}")).get("what") != order.partial)
        spec, made = self.kb.embedding_spec(), generations.wanted(store.conn)
        return bool(spec.provider) and (made is None or not _same_model(spec, made))

    def _context_chars(self) -> int:
        """How long contexts are in this index, keywords included."""
        if self.store is None:
            return CONTEXT_CHARS
        row = self.store.conn.execute(
            "SELECT avg(length(context) + length(keywords)) FROM chunks WHERE context != ''"
        ).fetchone()
        return int(row[0]) if row[0] else CONTEXT_CHARS

    def _sampled(self, survey: Survey) -> list[Kind]:
        kinds = kinds_of(survey.new)
        sampler = Sampler(self.stack.extraction, sizes_of(self.kb))
        for kind in kinds:
            sampler.read(kind, survey.connectors)
            if not kind.read:
                self._from_index(kind)
            if not kind.read:
                sampler.assume(kind)
            elif not kind.basis:
                kind.basis = _read_of(kind)
        return kinds

    def _from_index(self, kind: Kind) -> None:
        """Files of the same extension that are in the index stand for new ones."""
        store = self.store
        if store is None:
            return
        alike = [
            known
            for label in store.labels()
            for known in store.known(label)
            if known.chunk_count and PurePosixPath(known.path.lower()).suffix == kind.hint
        ]
        if len(alike) < _ALIKE:
            return
        kind.basis, kind.alike = f"{len(alike)} such files in the index", True
        kind.read = [
            Found(_item(known), stored_file(store, known), _pages(store, known))
            for known in _spread(alike, _MOST_FILES)
        ]

    def _new(self, kinds: Sequence[Kind], survey: Survey, reckoning: Reckoning) -> None:
        for kind in kinds:
            for found in kind.read:
                if found.packed is not None:
                    old = survey.changed.get((found.item.label, found.item.path))
                    times, before = kind.scale * found.times, self._before(old)
                    reckoning.document(found.packed, before, times, alike=kind.alike)

    def _known(self, survey: Survey, reckoning: Reckoning) -> None:
        store = self.store
        if store is None:
            return
        chosen = _spread(survey.again, _MOST_FILES)
        times = _chunks(survey.again) / (_chunks(chosen) or 1)
        for known in chosen:
            before = {} if self.order.force else self._before(known)
            reckoning.document(stored_file(store, known), before, times)
        for known in survey.copies:
            # Their words have their vectors; an LLM may see another title.
            reckoning.document(stored_file(store, known), self._before(known))

    def _waiting(self, survey: Survey, reckoning: Reckoning) -> None:
        if self.store is None or not self.kb.embedding_spec().provider:
            return
        apart, every = survey.file_ids(), reckoning.wanted.every
        if self.order.force:
            every = False  # Files that are there are all counted by file.
        chunks, after = list[PendingChunk](), 0
        while part := self.store.pending(_PAGE, after, every=every):
            after = part[-1].id
            chunks += [chunk for chunk in part if chunk.file_id not in apart]
        chosen = _spread(chunks, _MOST_CHUNKS)
        for chunk in chosen:
            reckoning.passage(passage_of(chunk), len(chunks) / len(chosen))

    def _before(self, known: KnownFile | None) -> Before:
        if known is None or self.store is None:
            return {}
        return {words.key: words.indexed for words in self.store.words(known.id)}

    def _report(self, survey: Survey, kinds: Sequence[Kind], reckoning: Reckoning) -> RunEstimate:
        keys, spec = self.kb.config, self.kb.embedding_spec()
        vectors = reckoning.vectors()
        embedding = contexts = None
        if spec.provider:
            price = keys.embedding.price_per_million
            embedding = vectors.estimate(spec.provider, spec.model, price)
        if reckoning.wanted.contexts.provider:
            llm = reckoning.wanted.contexts
            price = keys.contextualizer.price_per_million
            contexts = reckoning.contexts.estimate(llm.provider, llm.model, price)
        stages = [stage for stage in (embedding, contexts) if stage is not None]
        workers = self.stack.settings.extract_workers
        reading = sum(kind.seconds * kind.scale for kind in kinds) / workers / 60
        return RunEstimate(
            kb_id=self.kb.id,
            files=len(survey.new) + len(survey.again) + len(survey.copies),
            unchanged=survey.unchanged,
            pages=math.ceil(sum(one.pages * kind.scale for kind in kinds for one in kind.read)),
            chunks=math.ceil(reckoning.chunks),
            embedding=embedding,
            contexts=contexts,
            tokens=sum(stage.tokens for stage in stages),
            calls=sum(stage.calls for stage in stages),
            minutes=round(reading + sum(stage.minutes for stage in stages), 2),
            cost=_total(stages),
            exact=all(kind.exact for kind in kinds) and contexts is None,
            basis=tuple(_basis(survey, kinds, reckoning)),
        )


def _read_of(kind: Kind) -> str:
    """How much of a kind was read; "" for all of it."""
    parts = sum(not found.whole for found in kind.read)
    if len(kind.read) == len(kind.items) and not parts:
        return ""
    some = f"{len(kind.read)} of {len(kind.items)} files read"
    return f"{some}, {parts} of them in part" if parts else some


def stored_file(store: DocumentStore, known: KnownFile) -> PackedFile:
    """A file of the index, as commit 1 stored it."""
    found = document(store.conn, known.label, known.path)
    title = found.title if found else ""
    row = FileRow(known.label, known.path, known.size, known.mtime_ns, 0, title=title)
    chunks = [
        PackedChunk(at, 0, 0, words.key, ("{}", "", "", "{}"), Tokens(), 0, "")
        for at, words in enumerate(store.words(known.id))
    ]
    return PackedFile(row, b"", b"", 0, chunks)


def _total(stages: Sequence[StageEstimate]) -> float | None:
    known = [stage.cost for stage in stages if stage.cost is not None]
    return round(sum(known), 6) if len(known) == len(stages) else None


def _basis(survey: Survey, kinds: Sequence[Kind], reckoning: Reckoning) -> list[str]:
    """What each guess stands on."""
    said = [f"{kind.hint or 'files'}: {kind.basis}" for kind in kinds if kind.basis]
    if reckoning.wanted.contexts.provider:
        said.append(f"contexts: {reckoning.context_chars} characters each")
    said.append("tokens: counted from characters, rather too many")
    return [*said, *survey.troubles]


def _same_model(spec: EmbeddingSpec, made: ModelCard) -> bool:
    """By the names that config and index have: asking a provider is not for an estimate."""
    if spec.provider != made.provider or (spec.model and spec.model != made.model):
        return False
    return spec.dimension in (0, made.dimension)


def _item(known: KnownFile) -> Item:
    return Item(known.label, known.path, known.size, known.mtime_ns)


def _pages(store: DocumentStore, known: KnownFile) -> int:
    found = document(store.conn, known.label, known.path)
    return int(found.meta.get("pages", 0) or 0) if found else 0


def _chunks(files: Sequence[KnownFile]) -> int:
    return sum(known.chunk_count for known in files)


def _spread(items: Sequence[_One], most: int) -> Sequence[_One]:
    """Some of them, from all parts of the list."""
    if len(items) <= most:
        return items
    return [items[number * len(items) // most] for number in range(most)]
