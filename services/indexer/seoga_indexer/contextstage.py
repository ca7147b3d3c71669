"""Between chunking and commit 1: an LLM sets each chunk in its document. A chunk that gets no
context stays as it is, and a later run asks again unless it was given up."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from xxhash import xxh3_64_hexdigest

from seoga.contracts.embedding import Context, Excerpt, of_provider
from seoga.errors import (
    Cancelled,
    ConfigError,
    EmbeddingFailed,
    MissingDependency,
    ProviderFault,
    Reason,
    SeogaError,
    ServiceUnavailable,
)
from seoga.models import ContextSpec, FileState, Stage
from seoga.storage.documents import DocumentStore
from seoga.storage.packing import PackedChunk, PackedFile, with_context
from seoga.storage.records import FileRow
from seoga.text.tokens import index_text
from seoga_indexer.budget import Budget
from seoga_indexer.outcome import Text
from seoga_indexer.ports import Ports
from seoga_indexer.versions import RAW, with_contexts

Seen = TypeVar("Seen")

# The meta key of the prompt that contexts of an index were asked with.
PROMPT = "prompt"
STOPPED = "the run was stopped"
# A stop waits for so many answers at most.
_PART = 16
# The service tries each call a few times before it says that the provider is down.
_MAX_FAILED = 2
_AROUND = 1200
_OUTLINE = 3000
_FINAL = (ProviderFault.AUTH, ProviderFault.RATE)


def identity_of(spec: ContextSpec, ports: Ports, store: DocumentStore | None) -> str:
    """What makes contexts comparable: provider, model, and all words of the prompt; "" where there
    are none. While the service does not answer, the prompt is the one it had before."""
    if not spec.provider:
        return ""
    try:
        prompt = ports.embedding.prompt_id(spec)
    except SeogaError:
        prompt = store.meta(PROMPT) if store else ""
    return f"{_hash(spec.provider, spec.model, spec.prompt)}-{prompt}"


def _hash(*words: str) -> str:
    return xxh3_64_hexdigest("\0".join(words).encode())[:8]


@dataclass(slots=True)
class _Lack:
    """How many chunks of a file got no context: they are asked for `later`, or given up (`final`),
    with one reason; `bare` of its `chunks` have none at all."""

    later: int
    final: int = 0
    why: str = ""
    bare: int = 0
    chunks: int = 0


@dataclass(slots=True)
class ContextStage:
    """Thread-safe. `trouble` says why no further call is made in this run."""

    ports: Ports
    spec: ContextSpec
    budget: Budget
    cancelled: Callable[[], bool]
    trouble: str = ""
    _failed: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def apply(self, outcome: Seen) -> Seen | Text:
        """The same with contexts, where it is a text and the KB wants them."""
        if not self.spec.provider or not isinstance(outcome, Text):
            return outcome
        return self._seen(outcome.packed)[0]

    def anew(self, stored: PackedFile, identity: str) -> Text | None:
        """A stored file with new contexts from `identity`; a chunk that gets none keeps the one it
        has. None where nothing came at all: the file stays as it is."""
        row = replace(stored.row, made=with_contexts(stored.row.made, identity))
        text, lack = self._seen(stored._replace(row=row))
        return text if lack.later < len(stored.chunks) else None

    def _seen(self, packed: PackedFile) -> tuple[Text, _Lack]:
        """The file with what came, and what did not."""
        chunks, lack = self._contextualized(packed)
        lack.chunks, lack.bare = len(chunks), sum(1 for chunk in chunks if not chunk.key[3])
        return Text(packed._replace(chunks=chunks, row=_row(packed.row, lack))), lack

    def _contextualized(self, packed: PackedFile) -> tuple[list[PackedChunk], _Lack]:
        chunks, lack = list(packed.chunks), _Lack(len(packed.chunks))
        excerpts, why = list(excerpts_of(packed)), ""
        for first in range(0, len(chunks), _PART):
            answers = self._ask(excerpts[first : first + _PART])
            for at, answer in enumerate(answers, start=first):
                if isinstance(answer, Context):
                    chunks[at] = _with(chunks[at], answer)
                elif answer.final:
                    lack.final += 1
                    lack.why = answer.message
                else:
                    why = answer.message
                    continue
                lack.later -= 1
        if lack.later:
            lack.why = STOPPED if self.cancelled() else why or self.trouble or STOPPED
        return chunks, lack

    def _ask(self, excerpts: Sequence[Excerpt]) -> Sequence[Context | EmbeddingFailed]:
        if self.trouble or self.cancelled():
            return ()
        try:
            answers = self.ports.embedding.contextualize(excerpts, self.spec)
        except Cancelled:
            return ()
        except (ConfigError, MissingDependency) as error:
            self._give_up(error.message)
            return ()
        except (EmbeddingFailed, ServiceUnavailable) as error:
            self._after(error)
            return ()
        self._count(answers)
        return answers

    def _count(self, answers: Sequence[Context | EmbeddingFailed]) -> None:
        found = [answer for answer in answers if isinstance(answer, Context)]
        tokens = sum(answer.tokens_in + answer.tokens_out for answer in found)
        with self._lock:
            spent = self.budget.spend(tokens, sum(answer.cost for answer in found))
        if spent:
            self._give_up(spent)
        for answer in answers:
            if isinstance(answer, EmbeddingFailed) and of_provider(answer):
                self._after(answer)
                return
        self._failed = 0

    def _after(self, error: SeogaError) -> None:
        if self.cancelled():
            return
        self._failed += 1
        final = isinstance(error, EmbeddingFailed) and error.fault in _FINAL
        if final or self._failed >= _MAX_FAILED:
            self._give_up(error.message)

    def _give_up(self, why: str) -> None:
        self.trouble = self.trouble or why


def excerpts_of(packed: PackedFile) -> Iterator[Excerpt]:
    """What an LLM is shown of each chunk of a file."""
    texts = [chunk.key[0] for chunk in packed.chunks]
    paths = [" > ".join(json.loads(chunk.key[1])) for chunk in packed.chunks]
    outline = "\n".join(dict.fromkeys(path for path in paths if path))[:_OUTLINE]
    for at, chunk in enumerate(packed.chunks):
        header = f"{chunk.key[2]}\n" if chunk.key[2] else ""
        yield Excerpt(
            header + texts[at],
            title=packed.row.title,
            heading=paths[at],
            outline=outline,
            before=texts[at - 1][-_AROUND:] if at else "",
            after=texts[at + 1][:_AROUND] if at + 1 < len(texts) else "",
        )


def _with(chunk: PackedChunk, context: Context) -> PackedChunk:
    keywords = " ".join(filter(None, (_own_keywords(chunk), index_text(context.keywords))))
    tokens = chunk.tokens._replace(context=index_text(context.text), keywords=keywords)
    return with_context(chunk, context.text, context.keywords, tokens)


def _own_keywords(chunk: PackedChunk) -> str:
    """The tokens of a chunk's keywords without those that an LLM gave it before."""
    given = index_text(chunk.key[4]) if chunk.key[4] else ""
    return chunk.tokens.keywords.removesuffix(given).rstrip()


def _row(row: FileRow, lack: _Lack) -> FileRow:
    """A row that says when chunks got no context, so that a later run takes the file again where
    that may help."""
    marked = replace(row, made=row.made + RAW) if lack.later else row
    if not (lack.bare and (lack.later or lack.final)) or row.state is not FileState.READY:
        return marked
    return replace(
        marked,
        state=FileState.DEGRADED,
        stage=Stage.CONTEXT,
        reason=Reason.CONTEXT if lack.later else Reason.NO_CONTEXT,
        detail=_told(lack)[:500],
    )


def _told(lack: _Lack) -> str:
    of = f"{lack.bare} of {lack.chunks} passages have no context"
    if not lack.later:
        return f"{of} for good: {lack.why}"
    return f"{of}{f', {lack.final} of them for good' if lack.final else ''}: {lack.why}"
