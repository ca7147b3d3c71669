"""Anthropic's `/v1/messages` for contexts; it gives no vectors.

Protocol: Anthropic API reference, "Messages" and "Prompt caching": the system prompt and the part
that a document's passages share are marked, so that the second passage pays for its own only.
"""

from __future__ import annotations

from typing import Any, Final

from seoga_embedding.provider import (
    ANSWER_TOKENS,
    Call,
    Endpoint,
    Prompt,
    RemoteInfo,
    Reply,
    UnusableAnswer,
)
from seoga_embedding.providers._batches import AnthropicBatches
from seoga_embedding.providers._protocol import count_in, key_in
from seoga_embedding.providers.openai import versioned

API_VERSION: Final = "2023-06-01"


class AnthropicChat:
    """Speaks to the API for one model."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    def chat_call(self, prompt: Prompt) -> Call:
        """POST /v1/messages."""
        document = _text(prompt.document, kept=True)
        asked = {
            "model": self._endpoint.model,
            "max_tokens": ANSWER_TOKENS,
            "system": [_text(prompt.system, kept=True)],
            "messages": [{"role": "user", "content": [document, _text(prompt.passage)]}],
        }
        headers = {"anthropic-version": API_VERSION, **key_in("x-api-key", self._endpoint)}
        return Call(versioned(self._endpoint.url, "messages"), asked, headers)

    def read_reply(self, body: Any) -> Reply:
        """The text blocks; tokens that were read from the cache count as read."""
        try:
            blocks = [block for block in body["content"] if block.get("type") == "text"]
            usage = body.get("usage")
        except (KeyError, TypeError, AttributeError) as error:
            raise UnusableAnswer("it holds no content") from error
        names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        text = "".join(block.get("text", "") for block in blocks)
        return Reply(text, count_in(usage, *names), count_in(usage, "output_tokens"))


def _text(text: str, *, kept: bool = False) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "text", "text": text}
    return block | ({"cache_control": {"type": "ephemeral"}} if kept else {})


PROVIDER = RemoteInfo(
    name="anthropic",
    default_model="claude-haiku-4-5",
    default_url="https://api.anthropic.com",
    preset="Anthropic",
    chat=AnthropicChat,
    batches=lambda endpoint: AnthropicBatches(AnthropicChat(endpoint)),
)
