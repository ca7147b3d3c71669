"""Context for chunks: what an LLM is asked, and answers kept.

The method is Anthropic's "Contextual Retrieval" (2024): a sentence or two that set a chunk in its
document, embedded and indexed with it. Here with bilingual keywords beside it.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace

from seoga.contracts.embedding import Context, Excerpt, of_provider
from seoga.contracts.forecast import BatchReport
from seoga.errors import EmbeddingFailed, ProviderFault, SeogaError
from seoga.models import ContextSpec
from seoga.storage.batches import BatchStore, Question
from seoga_embedding.answers import parse
from seoga_embedding.asking import Alone, Asking, Standing, no_context
from seoga_embedding.batches import WAITS, Desk, batches_of, endpoint_id
from seoga_embedding.kept import Kept
from seoga_embedding.models import llm_price
from seoga_embedding.prompts import key_of, prompt_of
from seoga_embedding.provider import Prompt
from seoga_embedding.registry import find_chat
from seoga_embedding.remote.caller import Caller
from seoga_embedding.remote.faults import CallFailed
from seoga_embedding.remote.remotes import Remotes
from seoga_embedding.remote.spread import spread


class Contextualizer:
    """Asks LLMs, each as many calls at once as its gate lets through. Thread-safe."""

    def __init__(self, remotes: Remotes) -> None:
        self._remotes = remotes
        # Two who look at one batch would count its answers twice.
        self._batching = threading.Lock()
        # By address and model.
        self._standings: dict[tuple[str, str], Standing] = {}

    def run(
        self, excerpts: Sequence[Excerpt], spec: ContextSpec
    ) -> list[Context | EmbeddingFailed]:
        """See `Embedding.contextualize`."""
        info, chat_of = find_chat(spec.provider)
        caller = self._remotes.caller(info, spec)
        which = caller.endpoint.url, caller.endpoint.model
        standing = self._standings.setdefault(which, Standing())
        asking = Asking(caller, chat_of(caller.endpoint), standing)
        work = _Work(caller, asking, Kept(self._remotes.store), spec)
        if spec.batch:
            return work.put_aside(excerpts)
        results = work.all(excerpts)
        errors = [result for result in results if isinstance(result, SeogaError)]
        if errors and len(errors) == len(results) and _of_all(errors[0]):
            raise errors[0]
        return [
            result
            if isinstance(result, (Context, EmbeddingFailed))
            else EmbeddingFailed(result.message, result.hint, fault=ProviderFault.OUTAGE)
            for result in results
        ]

    def batch(self, spec: ContextSpec, *, send: bool) -> BatchReport:
        """See `Embedding.batch_contexts`."""
        info, _ = find_chat(spec.provider)
        desk = Desk(self._remotes.caller(info, spec), BatchStore(self._remotes.store))
        with self._batching:
            return desk.work(send=send)


def _of_all(error: SeogaError) -> bool:
    """Whether the next excerpt would meet this error too."""
    return not isinstance(error, EmbeddingFailed) or of_provider(error)


@dataclass(frozen=True, slots=True)
class _Work:
    """The excerpts of one request."""

    caller: Caller
    asking: Asking
    kept: Kept
    spec: ContextSpec

    def all(self, excerpts: Sequence[Excerpt]) -> list[Context | SeogaError]:
        """One result an excerpt, in order."""
        gate = self.caller.gate
        alone = 0 if gate.known else 1
        first = [self.one(excerpt) for excerpt in excerpts[:alone]]
        if first and isinstance(first[0], SeogaError) and _of_all(first[0]):
            return [first[0] for _ in excerpts]
        found, error = spread(self.one, excerpts[alone:], gate.in_flight)
        if error is not None:
            raise error
        return first + [result for result in found if result is not None]

    def one(self, excerpt: Excerpt) -> Context | SeogaError:
        """The context of one chunk; from before where it is there, or was given up."""
        prompt, key = self._named(excerpt)
        if (known := self._known(key)) is not None:
            return known
        try:
            reply = self.asking.ask(prompt)
        except Alone as error:
            failed = self.caller.named(error).error()
            return self.kept.failed(key, failed) if isinstance(failed, EmbeddingFailed) else failed
        except CallFailed as error:
            return self.caller.named(error).error()
        self.asking.count(reply)
        parsed = parse(reply.text)
        if parsed is None:
            return self.kept.failed(key, no_context(self.caller))
        # Only what could be read is kept: an empty answer would stay for ever.
        self.kept.keep(key, *parsed)
        cost = llm_price(self.caller.endpoint.model, reply.tokens_in, reply.tokens_out)
        return Context(*parsed, reply.tokens_in, reply.tokens_out, cost)

    def put_aside(self, excerpts: Sequence[Excerpt]) -> list[Context | EmbeddingFailed]:
        """Contexts that were answered before; the others wait for the next batch."""
        batches_of(self.caller)
        store, aside = BatchStore(self.kept.store), list[Question]()
        results: list[Context | EmbeddingFailed] = []
        for excerpt in excerpts:
            prompt, key = self._named(excerpt)
            known = self._known(key)
            if isinstance(known, Context):
                read, written, cost = store.take_cost(key)
                known = replace(known, tokens_in=read, tokens_out=written, cost=cost)
            if known is None:
                aside.append(Question(key, (prompt.system, prompt.document, prompt.passage)))
                known = EmbeddingFailed(WAITS, fault=ProviderFault.BAD_OUTPUT)
            results.append(known)
        store.add(endpoint_id(self.caller), aside)
        return results

    def _named(self, excerpt: Excerpt) -> tuple[Prompt, str]:
        prompt = prompt_of(excerpt, self.spec.prompt)
        return prompt, key_of(self.caller.info.name, self.caller.endpoint, prompt)

    def _known(self, key: str) -> Context | EmbeddingFailed | None:
        """What needs no call."""
        if not self.spec.fresh and (kept := self.kept.answer(key)) is not None:
            return kept
        if self.spec.forced:
            self.kept.forgive(key)
            return None
        return self.kept.given_up(key)
