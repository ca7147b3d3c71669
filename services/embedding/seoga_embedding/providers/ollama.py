"""Ollama's own protocol: `/api/embed` (0.4.0 and newer), digests from `/api/tags`.

Protocol: Ollama's API documentation, "Generate Embeddings" and "List Local Models". `truncate` is
off: a text that is too long must be refused, not cut in silence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
from seoga_embedding.providers._protocol import Plain, bearer, count_in, in_order


class Ollama(Plain):
    """Speaks to one server."""

    def __init__(self, endpoint: Endpoint, row: ModelRow) -> None:
        self._endpoint = endpoint
        # More than the model reads would only take memory; the configured size is a ceiling.
        self._num_ctx = min(endpoint.num_ctx, row.max_tokens) if row.verified else endpoint.num_ctx

    def embed_call(self, texts: Sequence[str], role: Role) -> Call:
        """POST /api/embed; the prefix of a role is part of the texts already."""
        del role
        asked: dict[str, Any] = {
            "model": self._endpoint.model,
            "input": list(texts),
            "truncate": False,
            "keep_alive": kept(self._endpoint.keep_alive),
            "options": {"num_ctx": self._num_ctx},
        }
        if self._endpoint.dimension:
            asked["dimensions"] = self._endpoint.dimension
        return Call("/api/embed", asked, bearer(self._endpoint))

    def read_vectors(self, body: Any, count: int) -> Answer:
        """In the order of the texts; they carry no index, so a wrong number places nothing."""
        found = body.get("embeddings") if isinstance(body, dict) else None
        return in_order(found, count, "embeddings", count_in(body, "prompt_eval_count"))

    def digest_call(self) -> Call | None:
        """GET /api/tags."""
        return Call("/api/tags", headers=bearer(self._endpoint))

    def read_digest(self, body: Any) -> str | None:
        """The digest of the model's manifest; a name without a tag means `latest`."""
        name = self._endpoint.model
        names = {name, name if ":" in name.rsplit("/", 1)[-1] else f"{name}:latest"}
        models = body.get("models") if isinstance(body, dict) else None
        for model in models if isinstance(models, list) else ():
            if isinstance(model, dict) and names & {model.get("name"), model.get("model")}:
                return str(model.get("digest", ""))[:12]
        return None

    def version_call(self) -> Call | None:
        """GET /api/version."""
        return Call("/api/version", headers=bearer(self._endpoint))

    def read_version(self, body: Any) -> str:
        """The server's own."""
        return str(body.get("version", "")) if isinstance(body, dict) else ""


class OllamaChat:
    """`/api/chat`, in one piece."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    def chat_call(self, prompt: Prompt) -> Call:
        """POST /api/chat."""
        asked = {
            "model": self._endpoint.model,
            "messages": [
                {"role": "system", "content": prompt.system},
                {"role": "user", "content": f"{prompt.document}\n\n{prompt.passage}"},
            ],
            "stream": False,
            "keep_alive": kept(self._endpoint.keep_alive),
            "options": {
                "num_ctx": self._endpoint.num_ctx,
                "num_predict": ANSWER_TOKENS,
                "temperature": 0,
            },
        }
        return Call("/api/chat", asked, bearer(self._endpoint))

    def read_reply(self, body: Any) -> Reply:
        """The message; what a model thought stands apart and is left out."""
        try:
            text = str(body["message"]["content"])
        except (KeyError, TypeError) as error:
            raise UnusableAnswer("it holds no message") from error
        return Reply(text, count_in(body, "prompt_eval_count"), count_in(body, "eval_count"))


def kept(keep_alive: str) -> str | int:
    """Ollama reads "5m" as a duration and wants a bare number (-1: for ever) as a number."""
    text = keep_alive.strip()
    return int(text) if text.lstrip("-").isdigit() else text


PROVIDER = RemoteInfo(
    name="ollama",
    default_model="bge-m3",
    default_url="http://localhost:11434",
    preset="",
    strip=("/v1", "/api"),
    dialect=Ollama,
    chat=OllamaChat,
    limits=Limits(texts=512, tokens=60_000),
    key_optional=True,
    missing_model="ollama pull {model}",
    least_version="0.4.0",
)
