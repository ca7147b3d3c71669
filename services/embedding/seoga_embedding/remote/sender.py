"""Texts in, vectors out through one provider: batches, tries, narrowing, checks at the door."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from seoga import metrics
from seoga.errors import EmbeddingFailed, MissingDependency, ProviderFault
from seoga_embedding.packing import bucket_of, pack, tokens_of
from seoga_embedding.passages import Embedded
from seoga_embedding.provider import Answer, Dialect, Limits, ModelRow, Role, UnusableAnswer, Vector
from seoga_embedding.registry import dialect_of
from seoga_embedding.remote.caller import DOCUMENT, PART, QUERY, Caller, Effort
from seoga_embedding.remote.faults import CallFailed, Trouble
from seoga_embedding.remote.narrow import Narrowing
from seoga_embedding.remote.sift import MOST_GUILTY, Sifting, doubtful
from seoga_embedding.remote.sizes import Sizes
from seoga_embedding.remote.spread import spread
from seoga_embedding.remote.wire import DOCUMENT_READ_S, QUERY_READ_S

# A model that was pulled anew is noticed at the next run; queries do not ask each time.
_DIGEST_S: Final = 30.0
_PROBE: Final = "Seoga"
# 8,192 numbers of 32 characters, and what stands around them.
_VECTOR_BYTES: Final = 256 << 10
_ANSWER_BYTES: Final = 1 << 20
# How servers say that they do not know what is asked of them, where they say more than a status.
_UNKNOWN: Final = re.compile(
    r"(?i)encod|base64|unrecogni[sz]ed|unknown (?:name|field|parameter)|extra (?:field|input)|"
    r"unprocessable|bad request|HTTP \d+( \w+)?$"
)
# What a call holds at least where its size is learned.
_LEARNS_FROM: Final = 32
# No number of a vector is as large.
_MOST: Final = 1e6


class Sender:
    """One model at one endpoint. Thread-safe."""

    def __init__(self, caller: Caller, row: ModelRow, sizes: Sizes) -> None:
        self.row = row
        self._caller, self._sizes = caller, sizes
        self._digest: tuple[float, str] = (0.0, "")
        asked = caller.endpoint.dimension
        self._dimension = 0 if not row.verified else asked or row.dimension
        # Servers refuse `dimensions` where the model has one size: it is sent only where it must.
        sent = replace(caller.endpoint, dimension=asked if row.sizes else 0)
        self._dialect = dialect_of(caller.info)(sent, row)
        # Under which name its size is kept, and whether another came since: then it is asked for
        # when the model is identified again.
        self._kept_as, self._outgrown = "", False
        # Whether the server is known to understand all that is asked of it.
        self._settled = False
        # Texts set aside since the last that had a vector.
        self._guilty = 0

    def identity(self) -> tuple[str, int]:
        """Digest and dimension, as `digest` and `dimension` say; a size that has shown to be
        another is asked for again. Raises SeogaError."""
        digest = self.digest()
        if self._outgrown:
            self._dimension, self._outgrown = 0, False
        return digest, self.dimension

    @property
    def dimension(self) -> int:
        """The size of its vectors; asked once where nobody knows it. Raises SeogaError."""
        if not self._dimension:
            asked, own = self._caller.endpoint.dimension, self._own_dimension()
            if asked not in (0, own):
                plain = self._dialect.plainer() is None
                full = dialect_of(self._caller.info)(self._caller.endpoint, self.row)
                self._dialect = (full.plainer() if plain else None) or full
            self._dimension = asked or own
        return self._dimension

    def _own_dimension(self) -> int:
        """From an earlier process where one asked: a text costs, however short it is."""
        memory = self._sizes.memory
        self._kept_as = f"{self._sizes.model} {self.digest()}".rstrip()
        if not (own := memory.dimension(self._kept_as)):
            own = self._probe()
            memory.save_dimension(self._kept_as, own)
        return own

    @property
    def batch(self) -> int:
        """The texts of a call, before anything is learned."""
        limits = self._limits()
        return min(limits.texts, _LEARNS_FROM) if limits.learns else limits.texts

    def _probe(self) -> int:
        try:
            (vector,) = self._ask([_PROBE], "document")[0].vectors
        except CallFailed as error:
            raise self._caller.named(error).error() from error
        if vector is None or not len(vector):
            raise EmbeddingFailed(
                f"{self._caller.info.name} gave an empty vector.", fault=ProviderFault.BAD_OUTPUT
            )
        return len(vector)

    def digest(self) -> str:
        """What tells this build of the model apart; "" where the protocol has none.

        Raises MissingDependency when the model is not there, EmbeddingFailed.
        """
        call = self._dialect.digest_call()
        until, known = self._digest
        if call is None or time.monotonic() < until:
            return known
        try:
            body = self._caller.tried(call, QUERY_READ_S, tries=2, urgent=True)
            digest = self._dialect.read_digest(body)
            if digest is None:
                raise CallFailed(Trouble.MODEL, "does not have it")
        except CallFailed as error:
            raise self._caller.named(error).error() from error
        self._digest = (time.monotonic() + _DIGEST_S, digest)
        return digest

    def version(self) -> str:
        """The version of its server; "" where the protocol tells none.

        Raises MissingDependency when it is too old, EmbeddingFailed.
        """
        call = self._dialect.version_call()
        if call is None:
            return ""
        least, info = self._caller.info.least_version, self._caller.info
        try:
            body = self._caller.tried(call, QUERY_READ_S, tries=2, urgent=True)
        except CallFailed as error:
            raise self._caller.named(error).error() from error
        version = self._dialect.read_version(body)
        if _parts(version) < _parts(least):
            raise MissingDependency(
                f"{info.name} at {self._caller.endpoint.url} has version {version or 'unknown'}.",
                f"{least} or newer is needed: update it.",
            )
        return version

    def query(self, text: str) -> Vector:
        """(1, d) float32. One more try at most, and past the line of documents."""
        try:
            answer, _ = self._ask([text], "query", QUERY)
            return self._rows(answer, 1)
        except CallFailed as error:
            raise self._caller.named(error).error() from error

    def documents(self, texts: Sequence[str]) -> Embedded:
        """The vectors of all texts that the provider takes.

        Where it fails as a whole after some batches, the texts that were not reached carry its
        error; raises it when nothing came back at all.
        """
        done = Embedded(np.zeros((len(texts), self.dimension), np.float32), [0] * len(texts))
        batches = pack(texts, self._limits(), self._sizes.size)

        def work(batch: Sequence[int]) -> None:
            for part in self._fitting(texts, batch):
                self._part(texts, part, done)

        gate = self._caller.gate
        # What is wrong with all of them (no such model) is seen with the first.
        first = 0 if gate.known else 1
        failed = spread(work, batches[:first], 1)[1]
        failed = failed or spread(work, batches[first:], gate.in_flight)[1]
        if failed:
            self._ended(failed, done)
        return done

    def _ended(self, failed: BaseException, done: Embedded) -> None:
        """Says why of each text that was not reached; raises it where nothing came back."""
        if not isinstance(failed, CallFailed):
            raise failed
        error = self._caller.named(failed).error()
        if not isinstance(error, EmbeddingFailed) or not self._anything(done):
            raise error from failed
        if error.fault is ProviderFault.BAD_OUTPUT:
            # Even to a harmless text it says nothing that can be read: that is no text's fault.
            error.fault = ProviderFault.OUTAGE
        self._leave(done, range(len(done.tokens)), error)

    def _fitting(self, texts: Sequence[str], batch: Sequence[int]) -> Iterator[Sequence[int]]:
        """A batch in parts of the size that is known by now: another may have found it too large
        since it was packed."""
        size = self._sizes.size(bucket_of(max(tokens_of(texts[at]) for at in batch)))
        for first in range(0, len(batch), size):
            yield batch[first : first + size]

    def _anything(self, done: Embedded) -> bool:
        return bool(done.errors) or bool(done.vectors.any())

    def _leave(self, done: Embedded, rest: Sequence[int], error: EmbeddingFailed) -> None:
        for at in rest:
            if not done.vectors[at].any() and at not in done.errors:
                done.errors[at] = error

    def _limits(self) -> Limits:
        limits, row = self._caller.info.limits, self.row
        most = min(limits.texts, row.batch or limits.texts)
        return Limits(most, limits.tokens, limits.bytes, limits.learns)

    def _part(self, texts: Sequence[str], part: Sequence[int], done: Embedded) -> None:
        """A batch; where it breaks the provider down that answers else, what does it is set
        aside."""
        try:
            self._batch(texts, part, done)
        except CallFailed as failed:
            if not (doubtful(failed) and self._lives()):
                raise
            rest = [at for at in part if at not in done.errors and not done.vectors[at].any()]
            self._sifted(texts, rest, done, failed)

    def _lives(self) -> bool:
        """Whether the provider answers a harmless text."""

        def ask(effort: Effort) -> None:
            self._rows(self._ask([_PROBE], "document", effort)[0], 1)

        return self._caller.lives(ask)

    def _sifted(
        self, texts: Sequence[str], rest: Sequence[int], done: Embedded, failed: CallFailed
    ) -> None:
        sifting = Sifting(lambda part: self._batch(texts, part, done, PART), self._lives)
        try:
            sifting.run(rest, failed)
        finally:
            for part in sifting.too_much:
                self._sizes.too_large([texts[at] for at in part])
            for at, error in sifting.guilty.items():
                named = self._caller.named(error)
                named.message += ", for this text alone"
                done.errors[at] = named.refused()
        self._guilty = len(sifting.guilty) + (0 if sifting.passed else self._guilty)
        if self._guilty >= MOST_GUILTY:
            raise failed

    def _batch(
        self, texts: Sequence[str], batch: Sequence[int], done: Embedded, effort: Effort = DOCUMENT
    ) -> None:
        """Fills in the vectors of a batch, narrowing where a text is refused."""

        def send(part: Sequence[int]) -> None:
            sent = [texts[at] for at in part]
            try:
                self._once(sent, part, done, effort)
            except CallFailed as error:
                if error.trouble is Trouble.SIZE:
                    self._sizes.too_large(sent)
                if error.trouble is not Trouble.OUTPUT:
                    raise
                # A page of a proxy between two answers: the next may be one again.
                self._once(sent, part, done, effort)

        def probe() -> None:
            self._ask([_PROBE], "document")

        narrowing = Narrowing(send, probe)
        try:
            narrowing.run(batch)
        finally:
            for at, error in narrowing.refused.items():
                done.errors[at] = self._caller.named(error).refused()

    def _once(
        self, sent: Sequence[str], part: Sequence[int], done: Embedded, effort: Effort
    ) -> None:
        answer, seconds = self._ask(sent, "document", effort)
        self._place(answer, part, sent, done)
        self._sizes.took(sent, seconds)

    def _place(
        self, answer: Answer, part: Sequence[int], sent: Sequence[str], done: Embedded
    ) -> None:
        done.vectors[list(part)] = self._rows(answer, len(part))
        self._guilty = 0
        estimates = [tokens_of(text) for text in sent]
        # Gemini does not say what it counted; then the estimate is what a budget goes by.
        share = (answer.tokens or sum(estimates)) / sum(estimates)
        metrics.PROVIDER_TOKENS.labels(self._caller.info.name, "embed").inc(
            answer.tokens or sum(estimates)
        )
        for at, estimate, vector in zip(part, estimates, answer.vectors, strict=True):
            done.tokens[at] = round(estimate * share)
            if vector is None:
                done.errors[at] = EmbeddingFailed(
                    f"{self._caller.info.name} gave no vector for this text.",
                    fault=ProviderFault.BAD_OUTPUT,
                )

    def _rows(self, answer: Answer, count: int) -> Vector:
        """(count, d) float32, zero where no vector came. Raises CallFailed for a wrong size."""
        rows = np.zeros((count, self.dimension), np.float32)
        for at, vector in enumerate(answer.vectors):
            if vector is None:
                continue
            if len(vector) != self.dimension:
                raise self._another_size(len(vector))
            try:
                # A null, for what JSON cannot say, becomes NaN, and 1e300 no finite number.
                with np.errstate(over="ignore"):
                    rows[at] = np.array(vector, np.float32)
            except (TypeError, ValueError, OverflowError) as error:
                raise CallFailed(
                    Trouble.OUTPUT, "gave a vector that does not consist of numbers"
                ) from error
        return rows

    def _another_size(self, found: int) -> CallFailed:
        hint = "Set embedding.dimension to what the model gives, or to 0."
        if self._kept_as:
            self._outgrown = True
            self._sizes.memory.save_dimension(self._kept_as, 0)
            if not self._caller.endpoint.dimension:
                hint = "The model is another than it was: the next run makes all vectors anew."
        message = f"gave {found} numbers where {self.dimension} were asked for"
        return CallFailed(Trouble.OUTPUT, message, hint)

    def _ask(
        self, texts: Sequence[str], role: Role, effort: Effort = DOCUMENT
    ) -> tuple[Answer, float]:
        """One request, tried again where that may help, and its seconds. Raises CallFailed."""
        plainer = None if self._settled else self._dialect.plainer()
        if plainer is None:
            return self._asked(self._dialect, texts, role, effort)
        try:
            answer, seconds = self._asked(self._dialect, texts, role, effort)
        except CallFailed as error:
            refused = error.trouble in (Trouble.REQUEST, Trouble.INPUT)
            if not (refused and _UNKNOWN.search(error.message)):
                raise
        else:
            if _plausible(answer, self._dimension):
                given = any(isinstance(one, np.ndarray) for one in answer.vectors)
                self._settle(self._dialect if given else plainer)
                return answer, seconds
        # Where the plain form fails too, that is the answer.
        asked = self._asked(plainer, texts, role, effort)
        self._settle(plainer)
        return asked

    def _settle(self, dialect: Dialect) -> None:
        self._dialect, self._settled = dialect, True

    def _asked(
        self, dialect: Dialect, texts: Sequence[str], role: Role, effort: Effort
    ) -> tuple[Answer, float]:
        read_s = QUERY_READ_S if effort.urgent else DOCUMENT_READ_S
        most = _ANSWER_BYTES + len(texts) * _VECTOR_BYTES
        call = replace(dialect.embed_call(texts, role), most_bytes=most)
        body, seconds = self._caller.timed(call, read_s, effort)
        try:
            return dialect.read_vectors(body, len(texts)), seconds
        except (UnusableAnswer, TypeError, AttributeError) as error:
            raise CallFailed(Trouble.OUTPUT, f"sent an answer that is odd: {error}") from error


def _plausible(answer: Answer, dimension: int) -> bool:
    """False for numbers that no model gives: those of double width, read as float32."""
    packed = [one for one in answer.vectors if isinstance(one, np.ndarray)]
    with np.errstate(over="ignore", invalid="ignore"):
        return not any(
            (np.abs(one) > _MOST).any() or len(one) == 2 * dimension > 0 for one in packed
        )


def _parts(version: str) -> tuple[int, ...]:
    """The numbers of a version ("0.5.0-rc1" is 0.5.0), for comparing."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])
