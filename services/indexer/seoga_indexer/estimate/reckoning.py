"""From chunks to calls, tokens and money: what each provider would be asked, summed."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle, islice
from typing import Final, TypeVar

from seoga.contracts.embedding import MOST_EXCERPTS, Embedding, Excerpt, Passage
from seoga.contracts.forecast import Forecast
from seoga.contracts.indexing import StageEstimate
from seoga.models import ContextSpec, EmbeddingSpec
from seoga.storage.packing import Key, PackedChunk, PackedFile
from seoga_indexer.contextstage import excerpts_of
from seoga_indexer.embedstage import BATCH

# Where no context is known yet: about as long as two sentences and a dozen keywords are.
CONTEXT_CHARS: Final = 260
_WORDS: Final = "맥락 of the passage and its document "
_One = TypeVar("_One")

# What an LLM says of a chunk: context and keywords.
Said = tuple[str, str]
NOTHING: Final[Said] = ("", "")
# The words of the chunks of a file as the index has them, and whether these have their vectors.
Before = Mapping[Key, bool]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a run would ask for. `every`: all chunks get new vectors, whatever they have."""

    embedding: EmbeddingSpec
    contexts: ContextSpec
    every: bool


@dataclass(slots=True)
class Sum:
    """Forecasts, each so many times."""

    asked: float = 0.0
    tokens: float = 0.0
    tokens_out: float = 0.0
    calls: float = 0.0
    seconds: float = 0.0
    price: float | None = 0.0
    measured: bool = True

    def add(self, one: Forecast, times: float = 1.0) -> None:
        """Counts one; a price that nobody knows makes the sum unknown."""
        self.asked += len(one.asked) * times
        self.tokens += one.tokens * times
        self.tokens_out += one.tokens_out * times
        self.calls += one.calls * times
        self.seconds += one.seconds * times
        self.measured = self.measured and one.measured
        if one.asked and self.price is not None:
            self.price = None if one.price is None else self.price + one.price * times

    def estimate(self, provider: str, model: str, per_million: float) -> StageEstimate:
        """Rounded up; `per_million` is the price that the config gives (0: none)."""
        tokens = math.ceil(self.tokens + self.tokens_out)
        price = tokens * per_million / 1_000_000 if per_million else self.price
        return StageEstimate(
            provider,
            model,
            round(self.asked),
            tokens,
            math.ceil(self.calls),
            round(self.seconds / 60, 2),
            None if price is None else round(price, 6),
        )


@dataclass(slots=True)
class Reckoning:
    """Gathers documents and single chunks, then says what they take."""

    embedding: Embedding
    wanted: Wanted
    context_chars: int = CONTEXT_CHARS
    chunks: float = 0.0
    contexts: Sum = field(default_factory=Sum)
    _passages: list[tuple[Passage, float]] = field(default_factory=list)

    def document(
        self, packed: PackedFile, before: Before, times: float = 1.0, *, alike: bool = False
    ) -> None:
        """A file whose text is cut (again): its contexts, and the vectors that it has not. `alike`:
        it stands for one that nobody has seen, so that nothing is known of it."""
        spec = replace(self.wanted.contexts, fresh=True) if alike else self.wanted.contexts
        said = self._contexts(list(excerpts_of(packed)), spec, times)
        self.chunks += len(packed.chunks) * times
        for at, chunk in enumerate(packed.chunks):
            # Asked for all anew, a chunk that gets none keeps what it has.
            own = chunk.key[3:] if spec.fresh and not alike else NOTHING
            told = said.get(at, own)
            if self._needs(chunk, told, before):
                self._passages.append((self._passage(chunk, told), times))

    def passage(self, passage: Passage, times: float = 1.0) -> None:
        """A chunk that only waits for its vectors."""
        self._passages.append((passage, times))

    def _needs(self, chunk: PackedChunk, said: Said | None, before: Before) -> bool:
        if not self.wanted.embedding.provider:
            return False
        if self.wanted.every or said is None:
            return True
        return not before.get((*chunk.key[:3], *said), False)

    def _contexts(
        self, excerpts: Sequence[Excerpt], spec: ContextSpec, times: float
    ) -> dict[int, Said | None]:
        """What an LLM said before by number; None where it is asked. What was given up is not
        there."""
        said: dict[int, Said | None] = {}
        for first in range(0, len(excerpts) if spec.provider else 0, MOST_EXCERPTS):
            part = excerpts[first : first + MOST_EXCERPTS]
            one = self.embedding.forecast_contexts(part, spec)
            self.contexts.add(one, times)
            said |= {first + at: None for at in one.asked}
            said |= {first + at: (context, keywords) for at, context, keywords in one.kept}
        return said

    def _passage(self, chunk: PackedChunk, said: Said | None) -> Passage:
        text, heading, header, *own = chunk.key
        known = own if said is None else said
        told = "\n".join(filter(None, known))
        if said is None and not told:
            told = _filler(self.context_chars)
        path = " > ".join(json.loads(heading))
        return Passage(f"{header}\n{text}" if header else text, path, told)

    def vectors(self) -> Sum:
        """What the vectors of everything gathered take, in calls as a run makes them."""
        found = Sum()
        if not self._passages:
            return found
        spec, total = self.wanted.embedding, sum(times for _, times in self._passages)
        for part in _parts(self._passages, BATCH):
            for times in {times for _, times in part}:
                some = [passage for passage, one in part if one == times]
                found.add(self.embedding.forecast_passages(some, spec), times)
        if any(times != 1.0 for _, times in self._passages):
            # Calls are shared by files of all kinds: as many as full batches of the same mix take.
            mixed = _mixed(self._passages)
            one = self.embedding.forecast_passages(mixed, spec)
            found.calls = max(1, math.ceil(one.calls * total / len(mixed)))
        else:
            whole = (
                self.embedding.forecast_passages([passage for passage, _ in part], spec).calls
                for part in _parts(self._passages, BATCH)
            )
            found.calls = sum(whole)
        return found


def _mixed(passages: Sequence[tuple[Passage, float]]) -> list[Passage]:
    """A full batch of what there is, in its proportions; equal texts would go as one."""
    total = sum(times for _, times in passages)
    size = min(BATCH, max(1, math.ceil(total)))
    # Each as often as its share of the batch says, the commonest first.
    shares = sorted(passages, key=lambda one: -one[1])
    copies = [passage for passage, times in shares for _ in range(math.ceil(times * size / total))]
    step = max(1, len(copies) // size)
    chosen = list(islice(cycle(copies[::step]), size))
    return [replace(one, text=f"{one.text} {number}") for number, one in enumerate(chosen)]


def _parts(items: Sequence[_One], size: int) -> Iterable[Sequence[_One]]:
    for first in range(0, len(items), size):
        yield items[first : first + size]


def _filler(chars: int) -> str:
    return (_WORDS * (chars // len(_WORDS) + 1))[:chars]
