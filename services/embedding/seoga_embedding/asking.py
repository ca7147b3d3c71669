"""One question to an LLM: its answer, or whether it fails at that passage alone."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import Final

from seoga import metrics
from seoga.errors import EmbeddingFailed, ProviderFault
from seoga_embedding.provider import Chat, Prompt, Reply, UnusableAnswer
from seoga_embedding.remote.caller import DOCUMENT, PART, Caller, Effort
from seoga_embedding.remote.faults import CallFailed, LeftAlone, NotMade, Trouble
from seoga_embedding.remote.sift import MOST_GUILTY, doubtful
from seoga_embedding.remote.wire import DOCUMENT_READ_S

# What any LLM answers, and how long that may take one that has to be loaded.
_HARMLESS: Final = Prompt("Answer with one word.", "A request follows.", "Say yes.")
_HARMLESS_S: Final = 60.0
# A model that answered so lately answers others; one that broke down at many is asked afresh then.
_LATELY_S: Final = 60.0
_ABOUT_PASSAGE: Final = (Trouble.INPUT, Trouble.SIZE, Trouble.OUTPUT)


class Alone(CallFailed):
    """The model answers others: what is wrong is this passage."""


@dataclass(slots=True)
class Standing:
    """How a model at an address stands: passages that it broke down at since the last that it
    answered, and what was last seen of whether it answers (of time.monotonic)."""

    guilty: int = 0
    guilty_at: float = 0.0
    answers: bool = False
    seen_at: float = -_LATELY_S
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answered(self) -> None:
        """It has just answered something."""
        self.guilty = 0
        self.saw(answers=True)

    def saw(self, *, answers: bool) -> None:
        """Whether it has just answered something that nobody can mind."""
        self.answers, self.seen_at = answers, time.monotonic()

    def blame(self) -> None:
        """It broke down at one more passage."""
        lately = time.monotonic() - self.guilty_at < _LATELY_S
        self.guilty, self.guilty_at = (self.guilty if lately else 0) + 1, time.monotonic()

    @property
    def hopeless(self) -> bool:
        """It breaks down at so many, one after the other, that these are not to blame."""
        return self.guilty >= MOST_GUILTY and time.monotonic() - self.guilty_at < _LATELY_S


@dataclass(frozen=True, slots=True)
class Asking:
    """The questions of one request. Thread-safe."""

    caller: Caller
    chat: Chat
    standing: Standing

    def ask(self, prompt: Prompt) -> Reply:
        """Raises CallFailed, and Alone where the model answers others."""
        try:
            reply = self._ask(prompt)
        except CallFailed as error:
            if _outage(error):
                reply = self._again(prompt, error)
            elif error.trouble in _ABOUT_PASSAGE and self._answers_others():
                raise Alone(error.trouble, error.message, error.hint) from error
            else:
                raise
        self.standing.answered()
        return reply

    def _again(self, prompt: Prompt, error: CallFailed) -> Reply:
        """Once more, now that something else has passed between."""
        if self.standing.hopeless or not self._lives():
            raise error
        try:
            return self._ask(prompt, PART)
        except CallFailed as again:
            if not _outage(again) or isinstance(again, LeftAlone):
                raise
            self.standing.blame()
            message = f"{again.message}, for this passage alone"
            raise Alone(Trouble.INPUT, message, again.hint) from again

    def _lives(self) -> bool:
        return self.caller.lives(self._ask_harmless)

    def _answers_others(self) -> bool:
        """Whether what it said is about the passage; several who wonder at once share a call."""
        with self.standing.lock:
            if time.monotonic() - self.standing.seen_at > _LATELY_S:
                try:
                    self._ask_harmless(PART)
                except NotMade:
                    return False
                except CallFailed:
                    self.standing.saw(answers=False)
                else:
                    self.standing.saw(answers=True)
            return self.standing.answers

    def _ask_harmless(self, effort: Effort) -> None:
        self.count(self._ask(_HARMLESS, effort, _HARMLESS_S))

    def _ask(
        self, prompt: Prompt, effort: Effort = DOCUMENT, read_s: float = DOCUMENT_READ_S
    ) -> Reply:
        body, _ = self.caller.timed(self.chat.chat_call(prompt), read_s, effort)
        try:
            return self.chat.read_reply(body)
        except (UnusableAnswer, TypeError, AttributeError) as error:
            raise CallFailed(Trouble.OUTPUT, f"sent an answer that is odd: {error}") from error

    def count(self, reply: Reply) -> None:
        """Tells what a reply took."""
        name = self.caller.info.name
        metrics.PROVIDER_TOKENS.labels(name, "context_in").inc(reply.tokens_in)
        metrics.PROVIDER_TOKENS.labels(name, "context_out").inc(reply.tokens_out)


def no_context(caller: Caller) -> EmbeddingFailed:
    """Of an answer in which no context can be found."""
    return EmbeddingFailed(
        f"{caller.info.name} (model {caller.endpoint.model}) gave an answer without a context.",
        "The passage stays as it is; another model or systemPrompt may do better.",
        fault=ProviderFault.BAD_OUTPUT,
    )


def _outage(error: CallFailed) -> bool:
    return doubtful(error) and error.trouble is not Trouble.OUTPUT
