"""Azure OpenAI: a deployment's `/embeddings` with `api-version` and the header `api-key`.

Protocol: Azure OpenAI REST reference, "Embeddings - Create". The base address is the resource
(`https://NAME.openai.azure.com`), the model is the name of the deployment. A base address that
ends in `/openai/v1` is spoken to in the newer form, with the deployment in the body.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import quote

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
)
from seoga_embedding.providers._protocol import Nameless, key_in
from seoga_embedding.providers.openai import messages, read_completion, read_openai

API_VERSION: Final = "2024-10-21"


class Azure(Nameless):
    """Speaks to one deployment."""

    def __init__(self, endpoint: Endpoint, row: ModelRow) -> None:
        self._endpoint = endpoint
        self._dimension = endpoint.dimension or (row.dimension if row.sizes else 0)

    def embed_call(self, texts: Sequence[str], role: Role) -> Call:
        """POST …/openai/deployments/{deployment}/embeddings?api-version=…"""
        del role
        asked: dict[str, Any] = {"input": list(texts), "encoding_format": "base64"}
        if self._dimension:
            asked["dimensions"] = self._dimension
        path, query = deployment_path(self._endpoint, "embeddings")
        if not query:
            asked["model"] = self._endpoint.model
        return Call(path, asked, key_in("api-key", self._endpoint), query)

    def read_vectors(self, body: Any, count: int) -> Answer:
        """The form is OpenAI's."""
        return read_openai(body, count)


class AzureChat:
    """A deployment's `/chat/completions`."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    def chat_call(self, prompt: Prompt) -> Call:
        """POST …/openai/deployments/{deployment}/chat/completions?api-version=…"""
        path, query = deployment_path(self._endpoint, "chat/completions")
        asked: dict[str, Any] = {"messages": messages(prompt)}
        asked["max_tokens" if query else "max_completion_tokens"] = ANSWER_TOKENS
        if not query:
            asked["model"] = self._endpoint.model
        return Call(path, asked, key_in("api-key", self._endpoint), query)

    def read_reply(self, body: Any) -> Reply:
        """The form is OpenAI's."""
        return read_completion(body)


def deployment_path(endpoint: Endpoint, action: str) -> tuple[str, dict[str, str]]:
    """The path behind the base address, and the query that goes with it."""
    if endpoint.url.endswith("/v1"):
        return f"/{action}", {}
    version = {"api-version": endpoint.query.get("api-version", API_VERSION)}
    if "/deployments/" in endpoint.url:
        return f"/{action}", version
    start = "" if endpoint.url.endswith("/openai") else "/openai"
    return f"{start}/deployments/{quote(endpoint.model, safe='')}/{action}", version


PROVIDER = RemoteInfo(
    name="azure",
    default_model="",
    default_url="",
    preset="Azure",
    dialect=Azure,
    chat=AzureChat,
    limits=Limits(texts=2048, tokens=200_000),
    missing_model="{group}.model is the name of a deployment of that resource.",
)
