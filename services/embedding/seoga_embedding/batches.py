"""Contexts through a provider's batch API: sent once, whatever happens, and collected when ready.

A batch is written down before it is sent. Where a crash or a cut connection leaves open whether the
provider took it, its list of batches is asked before anything is sent again.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from seoga import logs, metrics
from seoga.contracts.forecast import BatchReport
from seoga.errors import ConfigError
from seoga.storage.batches import BatchStore, Question, Sent
from seoga_embedding.answers import parse
from seoga_embedding.asking import no_context
from seoga_embedding.models import llm_price
from seoga_embedding.provider import Batches, BatchResult, BatchState, Prompt, Reply, UnusableAnswer
from seoga_embedding.remote.caller import Caller
from seoga_embedding.remote.faults import CallFailed, Trouble, failure, reply_of
from seoga_embedding.remote.wire import DOCUMENT_READ_S

# Why a chunk has no context yet.
WAITS: Final = "it waits for its batch"
# What the batch APIs take of the price of single calls.
_SHARE: Final = 0.5
# What is wrong with one question of many.
_OWN: Final = (Trouble.INPUT, Trouble.SIZE, Trouble.OUTPUT)
# Clocks of two machines.
_CLOCKS_S: Final = 300.0

log = logs.get("embedding")


def endpoint_id(caller: Caller) -> str:
    """What batches belong to: provider, address and model."""
    return f"{caller.info.name} {caller.endpoint.url} {caller.endpoint.model}"


def batches_of(caller: Caller) -> Batches:
    """How this provider's batches are spoken to. Raises ConfigError where it has none."""
    if caller.info.batches is None:
        raise ConfigError(
            f"contextualizer.batch: {caller.info.name} has no batch API.",
            "Set it to false, or take openai or anthropic.",
        )
    return caller.info.batches(caller.endpoint)


@dataclass(frozen=True, slots=True)
class Desk:
    """The batches of one LLM. One caller at a time."""

    caller: Caller
    store: BatchStore

    def work(self, *, send: bool) -> BatchReport:
        """Collects what is ready and, with `send`, sends what waits. Raises SeogaError; what was
        collected before stays."""
        try:
            collected = sum(self._look(one) for one in self.store.open(self._name))
            while send and self._send():
                pass
        except CallFailed as error:
            raise self.caller.named(error).error() from error
        except UnusableAnswer as error:
            odd = CallFailed(Trouble.OUTPUT, f"sent an answer that is odd: {error}")
            raise self.caller.named(odd).error() from error
        open_now = self.store.open(self._name)
        return BatchReport(len(open_now), self.store.waiting(self._name), collected)

    @property
    def _name(self) -> str:
        return endpoint_id(self.caller)

    @property
    def _api(self) -> Batches:
        return batches_of(self.caller)

    def _look(self, sent: Sent) -> int:
        state = self._state(sent)
        if state is None:
            self.store.end(sent.mark)
            return 0
        return self._collect(sent, state) if state.ended else 0

    def _state(self, sent: Sent) -> BatchState | None:
        """The batch at the provider; None where it never came there."""
        api = self._api
        if sent.id:
            return api.read_state(self.caller.tried(api.status_call(sent.id), DOCUMENT_READ_S))
        body = self.caller.tried(api.list_call(), DOCUMENT_READ_S)
        known = {one.id for one in self.store.open(self._name)}
        for state in map(api.read_state, body.get("data") or ()):
            if state.id not in known and _is_ours(state, sent):
                self.store.sent(sent.mark, state.id)
                return state
        return None

    def _collect(self, sent: Sent, state: BatchState) -> int:
        open_keys, failed, count = self.store.keys(sent.mark), list[BatchResult](), 0
        for call in self._api.result_calls(state):
            for line in self.caller.tried(call, DOCUMENT_READ_S):
                result = self._api.read_result(line)
                if result.key not in open_keys or result.again:
                    continue
                if result.reply is None:
                    failed.append(result)
                else:
                    self._keep(result.key, result.reply)
                    count += 1
        for result in failed:
            own = self._own(result, others=count > 0)
            self.store.answered(result.key, None, (0, 0, 0.0), own)
        self.store.end(sent.mark)
        return count

    def _keep(self, key: str, reply: Reply) -> None:
        name, model = self.caller.info.name, self.caller.endpoint.model
        metrics.PROVIDER_TOKENS.labels(name, "context_in").inc(reply.tokens_in)
        metrics.PROVIDER_TOKENS.labels(name, "context_out").inc(reply.tokens_out)
        cost = _SHARE * llm_price(model, reply.tokens_in, reply.tokens_out)
        parsed, odd = parse(reply.text), no_context(self.caller)
        own = (odd.fault.value, odd.message) if parsed is None else None
        self.store.answered(key, parsed, (reply.tokens_in, reply.tokens_out, cost), own)

    def _own(self, result: BatchResult, *, others: bool) -> tuple[str, str] | None:
        """Fault and reason, where a question failed for its own sake; the provider's fault is one
        of these where `others` of its batch were answered."""
        if result.status == 200:
            error = CallFailed(Trouble.OUTPUT, "sent an answer that is odd")
        else:
            text = json.dumps(result.said, ensure_ascii=False)
            error = failure(reply_of(result.status, {}, text), self.caller.endpoint.key)
        if error.trouble not in _OWN and not (others and error.trouble is Trouble.OUTAGE):
            return None
        named = self.caller.named(error).refused()
        return named.fault.value, named.message

    def _send(self) -> bool:
        """One batch of what waits; False when nothing did."""
        mark = uuid.uuid4().hex
        questions = self.store.begin(self._name, mark, self._api.most)
        if not questions:
            return False
        try:
            body = self._created(questions, mark)
        except CallFailed as error:
            if error.trouble is not Trouble.OUTAGE:
                # It said no: nothing was taken.
                self.store.end(mark)
            raise
        self.store.sent(mark, self._api.read_state(body).id)
        log.info("a batch of contexts was sent", provider=self.caller.info.name, of=len(questions))
        return True

    def _created(self, questions: Sequence[Question], mark: str) -> object:
        asked = [(one.key, Prompt(*one.prompt)) for one in questions]
        uploaded = None
        if (upload := self._api.upload_call(asked)) is not None:
            uploaded = self.caller.tried(upload, DOCUMENT_READ_S)
        create = self._api.create_call(asked, mark, uploaded)
        # A second try could be a second batch: whether the first came through is asked first.
        return self.caller.tried(create, DOCUMENT_READ_S, tries=1)


def _is_ours(state: BatchState, sent: Sent) -> bool:
    if state.mark:
        return state.mark == sent.mark
    return state.total == sent.total and state.created >= sent.sent_at - _CLOCKS_S
