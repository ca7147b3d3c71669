"""The protocols that the fake speaks, side by side: what is asked, how vectors and errors look."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from seoga_embedding.fake.rules import Rules
from seoga_embedding.provider import Vector

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """A request for vectors, whatever the protocol. `dimension` is 0 where none was asked for."""

    model: str
    texts: Sequence[str]
    dimension: int = 0
    encoding: str = "float"


@dataclass(frozen=True, slots=True)
class Protocol:
    """One provider's way to ask, to answer and to fail; `key` reads the key from the headers,
    `not_json` is what it says of a body that it cannot read, `bad_request` its code for that."""

    name: str
    key: Callable[[dict[str, str]], str]
    error: Callable[[int, str, str], Body]
    asked: Callable[[str, Body], Asked]
    vectors: Callable[[Asked, Vector, int], Body]
    prompt: Callable[[Body], str]
    reply: Callable[[str, int, int], Body]
    not_json: str
    bad_request: str = ""


def _bearer(headers: dict[str, str]) -> str:
    return headers.get("authorization", "").removeprefix("Bearer ")


def _openai_error(status: int, message: str, code: str) -> Body:
    kind = "invalid_request_error" if status < 500 else "server_error"
    return {"error": {"message": message, "type": kind, "param": None, "code": code or None}}


def _openai_asked(model: str, body: Body) -> Asked:
    given = body["input"]
    texts = [given] if isinstance(given, str) else given
    encoding = str(body.get("encoding_format", "float"))
    return Asked(model or str(body["model"]), texts, int(body.get("dimensions", 0)), encoding)


# What a vector is packed as, by what was asked for.
_WIDTHS: Final = {"base64": "<f4", "wide": "<f8"}


def _openai_vectors(asked: Asked, vectors: Vector, tokens: int) -> Body:
    def one(vector: Vector) -> Any:
        if (width := _WIDTHS.get(asked.encoding)) is not None:
            return base64.b64encode(vector.astype(width).tobytes()).decode("ascii")
        return numbers(vector)

    return {
        "object": "list",
        "model": asked.model,
        "data": [
            {"object": "embedding", "index": at, "embedding": one(vector)}
            for at, vector in enumerate(vectors)
        ],
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


def _ollama_error(_: int, message: str, __: str) -> Body:
    return {"error": message}


def _ollama_asked(_: str, body: Body) -> Asked:
    given = body["input"]
    texts = [given] if isinstance(given, str) else given
    return Asked(str(body["model"]), texts, int(body.get("dimensions", 0)))


def _ollama_vectors(asked: Asked, vectors: Vector, tokens: int) -> Body:
    return {
        "model": asked.model,
        "embeddings": [numbers(vector) for vector in vectors],
        "total_duration": 14143917,
        "load_duration": 1019500,
        "prompt_eval_count": tokens,
    }


_GOOGLE: Final = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}


def _gemini_error(status: int, message: str, code: str) -> Body:
    said = code or _GOOGLE.get(status, "INTERNAL")
    return {"error": {"code": status, "message": message, "status": said}}


def _gemini_asked(model: str, body: Body) -> Asked:
    requests = body.get("requests", [body])
    texts = ["".join(part["text"] for part in one["content"]["parts"]) for one in requests]
    return Asked(model, texts, int(requests[0].get("outputDimensionality", 0)), str(len(body)))


def _gemini_vectors(asked: Asked, vectors: Vector, _: int) -> Body:
    if asked.model.endswith("001") and asked.dimension not in (0, 3072):
        vectors = vectors * np.float32(0.7)
    found = [{"values": numbers(vector)} for vector in vectors]
    return {"embedding": found[0]} if len(found) == 1 else {"embeddings": found}


def _anthropic_error(_: int, message: str, code: str) -> Body:
    return {"type": "error", "error": {"type": code or "api_error", "message": message}}


def _none_asked(model: str, body: Body) -> Asked:
    raise KeyError(f"{model} {sorted(body)[:0]}")


def _messages(body: Body) -> str:
    return "\n".join(str(message["content"]) for message in body["messages"])


def _completion(text: str, read: int, written: int) -> Body:
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"object": "chat.completion", "choices": [choice], "usage": usage}


def _ollama_reply(text: str, read: int, written: int) -> Body:
    message = {"role": "assistant", "content": text}
    return {"message": message, "done": True, "prompt_eval_count": read, "eval_count": written}


def _gemini_prompt(body: Body) -> str:
    parts = [part["text"] for content in body["contents"] for part in content["parts"]]
    return "\n".join([body["systemInstruction"]["parts"][0]["text"], *parts])


def _gemini_reply(text: str, read: int, written: int) -> Body:
    content = {"role": "model", "parts": [{"text": text}]}
    usage = {"promptTokenCount": read, "candidatesTokenCount": written}
    candidate = {"content": content, "finishReason": "STOP"}
    return {"candidates": [candidate], "usageMetadata": usage}


def _anthropic_prompt(body: Body) -> str:
    blocks = [block["text"] for message in body["messages"] for block in message["content"]]
    return "\n".join([block["text"] for block in body["system"]] + blocks)


def _anthropic_reply(text: str, read: int, written: int) -> Body:
    usage = {
        "input_tokens": read // 2,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": read - read // 2,
        "output_tokens": written,
    }
    content = [{"type": "text", "text": text}]
    return {"type": "message", "role": "assistant", "content": content, "usage": usage}


def numbers(vector: Vector) -> list[float | None]:
    """JSON has no NaN; servers that compute one send null."""
    holes = np.isnan(vector)
    if not holes.any():
        whole: list[float | None] = vector.tolist()
        return whole
    return [
        None if hole else number
        for number, hole in zip(vector.tolist(), holes.tolist(), strict=True)
    ]


OPENAI: Final = Protocol(
    "openai",
    _bearer,
    _openai_error,
    _openai_asked,
    _openai_vectors,
    _messages,
    _completion,
    "We could not parse the JSON body of your request.",
)
CROSS_ENCODER: Final = replace(OPENAI, name="cross-encoder")
TEI: Final = replace(
    OPENAI,
    name="tei",
    error=lambda _, message, code: {"error": message, "error_type": code or "Validation"},
)
AZURE: Final = replace(OPENAI, name="azure", key=lambda headers: headers.get("api-key", ""))
OLLAMA: Final = Protocol(
    "ollama",
    _bearer,
    _ollama_error,
    _ollama_asked,
    _ollama_vectors,
    _messages,
    _ollama_reply,
    "invalid character in the body: it is not JSON",
)
GEMINI: Final = Protocol(
    "gemini",
    lambda headers: headers.get("x-goog-api-key", ""),
    _gemini_error,
    _gemini_asked,
    _gemini_vectors,
    _gemini_prompt,
    _gemini_reply,
    "Invalid JSON payload received.",
)
ANTHROPIC: Final = Protocol(
    "anthropic",
    lambda headers: headers.get("x-api-key", ""),
    _anthropic_error,
    _none_asked,
    _openai_vectors,
    _anthropic_prompt,
    _anthropic_reply,
    "The request body is not valid JSON.",
    "invalid_request_error",
)

# Path → protocol, action; a group holds the model where the path names it.
PATHS: Final[tuple[tuple[re.Pattern[str], Protocol, str], ...]] = (
    (re.compile(r"/openai/deployments/([^/]+)/embeddings"), AZURE, "embed"),
    (re.compile(r"/openai/deployments/([^/]+)/chat/completions"), AZURE, "chat"),
    (re.compile(r"(?:/.+)?/v1/embeddings()"), OPENAI, "embed"),
    (re.compile(r"(?:/.+)?/v1/chat/completions()"), OPENAI, "chat"),
    (re.compile(r"(?:/.+)?/v[12]/rerank()"), CROSS_ENCODER, "rerank"),
    (re.compile(r"/rerank()"), TEI, "rerank"),
    (re.compile(r"/api/embed()"), OLLAMA, "embed"),
    (re.compile(r"/api/chat()"), OLLAMA, "chat"),
    (re.compile(r"/api/tags()"), OLLAMA, "tags"),
    (re.compile(r"/api/version()"), OLLAMA, "version"),
    (re.compile(r"/v1beta/models/([^/]+):(?:batchEmbedContents|embedContent)"), GEMINI, "embed"),
    (re.compile(r"/v1beta/models/([^/]+):generateContent"), GEMINI, "chat"),
    (re.compile(r"/v1/messages()"), ANTHROPIC, "chat"),
)


def match(path: str) -> tuple[Protocol, str, str] | None:
    """Protocol, action and the model in the path; None for a path of nobody."""
    for pattern, protocol, action in PATHS:
        if found := pattern.fullmatch(path):
            return protocol, action, found.group(1)
    return None


def refusal(asked: Asked, tokens: Sequence[int], rules: Rules) -> tuple[int, str, str] | None:
    """Status, message and code of what breaks a limit; None when all is well."""
    if asked.encoding == "refuses":
        return 422, "encoding_format: Input should be 'float'", ""
    if len(asked.texts) > rules.max_texts:
        count = len(asked.texts)
        return 413, f"batch size {count} > maximum allowed batch size {rules.max_texts}", ""
    if sum(tokens) > rules.max_request_tokens:
        message = (
            f"Requested {sum(tokens)} tokens, max {rules.max_request_tokens} tokens per request"
        )
        return 400, message, "max_tokens_per_request"
    for at, (text, count) in enumerate(zip(asked.texts, tokens, strict=True)):
        where = f" ('input[{at}]')" if rules.names_text else ""
        if count > rules.max_tokens:
            message = (
                f"This model's maximum context length is {rules.max_tokens} tokens,"
                f" however you requested {count} tokens{where}."
            )
            return 400, message, "context_length_exceeded"
        if any(word in text for word in rules.refuse):
            return 400, f"Invalid input: this text cannot be embedded{where}.", "invalid_input"
    return None
