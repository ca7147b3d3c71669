"""Gemini: `embedContent` for one text, `batchEmbedContents` for more; the key in a header.

Protocol: Gemini API reference, "Embeddings". `gemini-embedding-001` is told the role by task type;
`gemini-embedding-2` reads it from the prefix in the registry and ignores the type (Gemini API
documentation, "Embeddings", task prefixes). Below 3072 numbers 001 gives vectors that are not of
unit length; everything that comes in is normalised at the door.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from seoga_embedding.provider import (
    ANSWER_TOKENS,
    Answer,
    Call,
    Endpoint,
    Limits,
    ModelRow,
    Prompt,
    RemoteInfo,
    Reply,
    Role,
    UnusableAnswer,
)
from seoga_embedding.providers._protocol import Nameless, count_in, in_order, key_in

TASKS: Final = {"query": "RETRIEVAL_QUERY", "document": "RETRIEVAL_DOCUMENT"}


class Gemini(Nameless):
    """Speaks to the API for one model."""

    def __init__(self, endpoint: Endpoint, row: ModelRow) -> None:
        self._endpoint = endpoint
        self._dimension = endpoint.dimension or row.dimension

    def embed_call(self, texts: Sequence[str], role: Role) -> Call:
        """POST models/{model}:embedContent, or :batchEmbedContents."""
        headers = key_in("x-goog-api-key", self._endpoint)
        asked = [self._one(text, role) for text in texts]
        if len(asked) == 1:
            return Call(model_path(self._endpoint, "embedContent"), asked[0], headers)
        path = model_path(self._endpoint, "batchEmbedContents")
        return Call(path, {"requests": asked}, headers)

    def _one(self, text: str, role: Role) -> dict[str, Any]:
        asked: dict[str, Any] = {
            "model": f"models/{bare(self._endpoint.model)}",
            "content": {"parts": [{"text": text}]},
            "taskType": TASKS[role],
        }
        if self._dimension:
            asked["outputDimensionality"] = self._dimension
        return asked

    def read_vectors(self, body: Any, count: int) -> Answer:
        """In the order of the texts, without an index."""
        if not isinstance(body, dict):
            raise UnusableAnswer("it is no object")
        found = [body["embedding"]] if "embedding" in body else body.get("embeddings")
        if isinstance(found, list):
            found = [one.get("values") if isinstance(one, dict) else None for one in found]
        tokens = count_in(body.get("usageMetadata"), "promptTokenCount")
        return in_order(found, count, "embeddings", tokens)


class GeminiChat:
    """`generateContent`; equal beginnings of prompts are kept by the API itself."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    def chat_call(self, prompt: Prompt) -> Call:
        """POST models/{model}:generateContent."""
        asked = {
            "systemInstruction": {"parts": [{"text": prompt.system}]},
            "contents": [
                {"role": "user", "parts": [{"text": prompt.document}, {"text": prompt.passage}]}
            ],
            "generationConfig": {"maxOutputTokens": ANSWER_TOKENS, "temperature": 0},
        }
        path = model_path(self._endpoint, "generateContent")
        return Call(path, asked, key_in("x-goog-api-key", self._endpoint))

    def read_reply(self, body: Any) -> Reply:
        """The first candidate; one that was blocked has no parts and says nothing."""
        try:
            candidates = body.get("candidates") or [{}]
            parts = candidates[0].get("content", {}).get("parts", [])
            text = "".join(part.get("text", "") for part in parts if not part.get("thought"))
            usage = body.get("usageMetadata")
        except (AttributeError, TypeError, IndexError) as error:
            raise UnusableAnswer("it holds no candidate") from error
        read, written = "promptTokenCount", "candidatesTokenCount"
        return Reply(text, count_in(usage, read), count_in(usage, written))


def bare(model: str) -> str:
    """The name without the `models/` that lists show before it."""
    return model.removeprefix("models/")


def model_path(endpoint: Endpoint, action: str) -> str:
    """The path behind a base address with or without the version."""
    version = "" if "/v1" in endpoint.url else "/v1beta"
    return f"{version}/models/{bare(endpoint.model)}:{action}"


PROVIDER = RemoteInfo(
    name="gemini",
    default_model="gemini-embedding-2",
    default_url="https://generativelanguage.googleapis.com/v1beta",
    preset="Gemini",
    dialect=Gemini,
    chat=GeminiChat,
    limits=Limits(texts=100, tokens=100_000),
)
