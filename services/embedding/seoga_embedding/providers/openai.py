"""OpenAI and whatever speaks its `/v1/embeddings`: Groq, Together, LM Studio, vLLM, TEI, LocalAI.

Protocol: OpenAI API reference, "Create embeddings". Vectors are asked for as base64 of little-
endian float32 (a quarter of the bytes): OpenAI, Azure, vLLM, TEI, llama.cpp and Together give them.
A server that refuses that, or sends lists all the same (LM Studio), is asked for numbers from then
on.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

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
    Vector,
)
from seoga_embedding.providers._batches import OpenAIBatches
from seoga_embedding.providers._protocol import Nameless, bearer, count_in

_VERSION = re.compile(r"/v\d+(?:(?:alpha|beta)\d*)?(?:/|$)")
_PUBLIC = "https://api.openai.com/v1"


class OpenAI(Nameless):
    """Speaks to one endpoint."""

    def __init__(self, endpoint: Endpoint, row: ModelRow, encoding: str = "base64") -> None:
        self._endpoint, self._row, self._encoding = endpoint, row, encoding
        self._dimension = endpoint.dimension or (row.dimension if row.sizes else 0)

    def embed_call(self, texts: Sequence[str], role: Role) -> Call:
        """POST …/embeddings; the prefix of a role is part of the texts already."""
        del role
        path = versioned(self._endpoint.url, "embeddings")
        return Call(path, self.body(texts), bearer(self._endpoint))

    def body(self, texts: Sequence[str]) -> dict[str, Any]:
        """What is asked, model included."""
        asked: dict[str, Any] = {"model": self._endpoint.model, "input": list(texts)}
        asked["encoding_format"] = self._encoding
        if self._dimension:
            asked["dimensions"] = self._dimension
        return asked

    def read_vectors(self, body: Any, count: int) -> Answer:
        """Placed by the index that each vector carries: no order is promised."""
        return read_openai(body, count)

    def plainer(self) -> OpenAI | None:
        """Vectors as numbers."""
        if self._encoding == "float":
            return None
        return type(self)(self._endpoint, self._row, "float")


class OpenAIChat:
    """`/v1/chat/completions`; OpenAI keeps equal beginnings of prompts by itself."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._public = urlsplit(endpoint.url).hostname == urlsplit(_PUBLIC).hostname

    def chat_call(self, prompt: Prompt) -> Call:
        """POST …/chat/completions."""
        # OpenAI's newer models refuse `max_tokens`, other servers do not know its successor.
        most = "max_completion_tokens" if self._public else "max_tokens"
        asked = {
            "model": self._endpoint.model,
            "messages": messages(prompt),
            most: ANSWER_TOKENS,
        }
        path = versioned(self._endpoint.url, "chat/completions")
        return Call(path, asked, bearer(self._endpoint))

    def read_reply(self, body: Any) -> Reply:
        """The first choice."""
        return read_completion(body)


def batches(endpoint: Endpoint) -> OpenAIBatches:
    """The batch API beside the chat."""
    root = versioned(endpoint.url, "batches").removesuffix("/batches")
    return OpenAIBatches(endpoint, OpenAIChat(endpoint), root)


def messages(prompt: Prompt) -> list[dict[str, str]]:
    """The stable part first."""
    return [
        {"role": "system", "content": prompt.system},
        {"role": "user", "content": f"{prompt.document}\n\n{prompt.passage}"},
    ]


def read_completion(body: Any) -> Reply:
    """The answer in a completion of OpenAI's form."""
    try:
        content = body["choices"][0]["message"].get("content") or ""
        if isinstance(content, list):
            content = "".join(part.get("text", "") for part in content)
        usage = body.get("usage")
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise UnusableAnswer("it holds no choice with a message") from error
    read, written = (count_in(usage, name) for name in ("prompt_tokens", "completion_tokens"))
    return Reply(str(content), read, written)


def versioned(url: str, path: str) -> str:
    """The path behind a base address that may or may not name the version itself."""
    if url.endswith(f"/{path}"):
        return ""
    return f"/{path}" if _VERSION.search(url.partition("://")[2]) else f"/v1/{path}"


def read_openai(body: Any, count: int) -> Answer:
    """The vectors of an answer of OpenAI's form."""
    if not isinstance(body, dict) or not isinstance(body.get("data"), list):
        raise UnusableAnswer("it holds no list `data`")
    vectors: list[Sequence[float] | Vector | None] = [None] * count
    placed: set[int] = set()
    for position, entry in enumerate(body["data"]):
        index = entry.get("index", position) if isinstance(entry, dict) else -1
        if type(index) is not int or not 0 <= index < count:
            raise UnusableAnswer(f"it holds a vector for text {index} of {count}")
        if index in placed:
            # Which of them is the text's own, nobody knows.
            raise UnusableAnswer(f"it holds two vectors for text {index}")
        placed.add(index)
        vectors[index] = _numbers(entry.get("embedding"))
    return Answer(vectors, count_in(body.get("usage"), "total_tokens"))


def _numbers(value: Any) -> Sequence[float] | Vector | None:
    if isinstance(value, str):
        import numpy as np

        try:
            return np.frombuffer(base64.b64decode(value, validate=True), "<f4").astype(np.float32)
        except (binascii.Error, ValueError) as error:
            raise UnusableAnswer("a vector is not base64 of float32") from error
    return value if isinstance(value, list) else None


PROVIDER = RemoteInfo(
    name="openai",
    default_model="text-embedding-3-small",
    default_url=_PUBLIC,
    preset="OpenAI",
    dialect=OpenAI,
    chat=OpenAIChat,
    batches=batches,
    limits=Limits(texts=2048, tokens=200_000),
    key_optional=True,
)
