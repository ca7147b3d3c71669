"""Batch APIs: answers within a day at half the price.

Protocols: OpenAI API reference, "Files" and "Batch"; Anthropic API reference, "Message Batches".
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from seoga_embedding.provider import (
    BatchResult,
    BatchState,
    Call,
    Chat,
    Endpoint,
    Prompt,
    Reply,
    UnusableAnswer,
)
from seoga_embedding.providers._protocol import bearer

Asked = Sequence[tuple[str, Prompt]]
_MARK: Final = "seoga"
# 20,000 answers of a model that thinks.
_RESULT_BYTES: Final = 512 << 20
# Anthropic API reference, "Errors".
_STATUSES: Final = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "overloaded_error": 529,
}
_OPENAI_ENDED: Final = ("completed", "failed", "expired", "cancelled")


class OpenAIBatches:
    """`/v1/files` and `/v1/batches` over the chat of the same endpoint; `root` is the path of the
    version behind the base address."""

    # The API takes 50,000 and 200 MB; prompts of a few KB keep half of that below both.
    most = 20_000

    def __init__(self, endpoint: Endpoint, chat: Chat, root: str) -> None:
        self._endpoint, self._chat, self._root = endpoint, chat, root

    def upload_call(self, asked: Asked) -> Call | None:
        """POST /v1/files, a form with `purpose` and `file`."""
        lines = [
            json.dumps(
                {
                    "custom_id": key,
                    "method": "POST",
                    "url": "/v1/chat/completions",
                    "body": self._chat.chat_call(prompt).body,
                },
                ensure_ascii=False,
            )
            for key, prompt in asked
        ]
        edge = secrets.token_hex(16)
        head = f'--{edge}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
        file = 'name="file"; filename="seoga.jsonl"\r\nContent-Type: application/jsonl'
        form = f"{head}--{edge}\r\nContent-Disposition: form-data; {file}\r\n\r\n"
        content = form + "\n".join(lines) + f"\n\r\n--{edge}--\r\n"
        headers = {**self._headers(), "content-type": f"multipart/form-data; boundary={edge}"}
        path = f"{self._root}/files"
        return Call(path, content=content.encode("utf-8", "replace"), headers=headers)

    def create_call(self, asked: Asked, mark: str, uploaded: Any) -> Call:
        """POST /v1/batches."""
        del asked
        if not isinstance(uploaded, dict) or not uploaded.get("id"):
            raise UnusableAnswer("it names no file")
        body = {
            "input_file_id": uploaded["id"],
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "metadata": {_MARK: mark},
        }
        return Call(f"{self._root}/batches", body, headers=self._headers())

    def status_call(self, batch_id: str) -> Call:
        """GET /v1/batches/{id}."""
        return Call(f"{self._root}/batches/{batch_id}", headers=self._headers())

    def list_call(self) -> Call:
        """GET /v1/batches."""
        return Call(f"{self._root}/batches", headers=self._headers(), query={"limit": "100"})

    def read_state(self, body: Any) -> BatchState:
        """A batch object."""
        if not isinstance(body, dict) or not body.get("id"):
            raise UnusableAnswer("it is no batch")
        counts, marks = body.get("request_counts") or {}, body.get("metadata") or {}
        files = (body.get("output_file_id"), body.get("error_file_id"))
        return BatchState(
            str(body["id"]),
            body.get("status") in _OPENAI_ENDED,
            int(counts.get("total") or 0),
            float(body.get("created_at") or 0),
            str(marks.get(_MARK, "")),
            tuple(str(file) for file in files if file),
        )

    def result_calls(self, state: BatchState) -> Sequence[Call]:
        """GET /v1/files/{id}/content of both files."""
        return [
            Call(
                f"{self._root}/files/{file}/content",
                headers=self._headers(),
                lines=True,
                most_bytes=_RESULT_BYTES,
            )
            for file in state.files
        ]

    def read_result(self, line: Any) -> BatchResult:
        """`{custom_id, response: {status_code, body}, error}`."""
        try:
            key, response, error = line["custom_id"], line.get("response"), line.get("error") or {}
        except (KeyError, TypeError, AttributeError) as failed:
            raise UnusableAnswer("a line of results has no custom_id") from failed
        if not response:
            return BatchResult(str(key), again=error.get("code") == "batch_expired", status=500)
        status, body = response.get("status_code"), response.get("body")
        if status == 200:
            return BatchResult(str(key), _read(self._chat, body))
        return BatchResult(str(key), status=status if isinstance(status, int) else 500, said=body)

    def _headers(self) -> dict[str, str]:
        return bearer(self._endpoint)


class AnthropicBatches:
    """`/v1/messages/batches`."""

    # The API takes 100,000 and 256 MB.
    most = 20_000

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        call = chat.chat_call(Prompt("", "", ""))
        self._path, self._headers = f"{call.path}/batches", dict(call.headers)

    def upload_call(self, asked: Asked) -> Call | None:
        """The questions come with the batch."""
        del asked
        return None

    def create_call(self, asked: Asked, mark: str, uploaded: Any) -> Call:
        """POST /v1/messages/batches."""
        del mark, uploaded
        requests = [
            {"custom_id": key, "params": self._chat.chat_call(prompt).body} for key, prompt in asked
        ]
        return Call(self._path, {"requests": requests}, headers=self._headers)

    def status_call(self, batch_id: str) -> Call:
        """GET /v1/messages/batches/{id}."""
        return Call(f"{self._path}/{batch_id}", headers=self._headers)

    def list_call(self) -> Call:
        """GET /v1/messages/batches."""
        return Call(self._path, headers=self._headers, query={"limit": "100"})

    def read_state(self, body: Any) -> BatchState:
        """A batch object."""
        if not isinstance(body, dict) or not body.get("id"):
            raise UnusableAnswer("it is no batch")
        counts = body.get("request_counts") or {}
        try:
            created = datetime.fromisoformat(str(body.get("created_at"))).timestamp()
        except ValueError:
            created = 0.0
        return BatchState(
            str(body["id"]),
            body.get("processing_status") == "ended",
            sum(value for value in counts.values() if isinstance(value, int)),
            created,
        )

    def result_calls(self, state: BatchState) -> Sequence[Call]:
        """GET /v1/messages/batches/{id}/results; never an address that an answer names."""
        path = f"{self._path}/{state.id}/results"
        return [Call(path, headers=self._headers, lines=True, most_bytes=_RESULT_BYTES)]

    def read_result(self, line: Any) -> BatchResult:
        """`{custom_id, result: {type, message or error}}`."""
        try:
            key, result = str(line["custom_id"]), line["result"]
            kind = result["type"]
        except (KeyError, TypeError) as failed:
            raise UnusableAnswer("a line of results has no custom_id or result") from failed
        if kind == "succeeded":
            return BatchResult(key, _read(self._chat, result.get("message")))
        if kind in ("expired", "canceled"):
            return BatchResult(key, again=True)
        said = result.get("error")
        inside = said.get("error", said) if isinstance(said, dict) else {}
        name = str(inside.get("type", "")) if isinstance(inside, dict) else ""
        return BatchResult(key, status=_STATUSES.get(name, 500), said=said)


def _read(chat: Chat, body: Any) -> Reply | None:
    """The answer in a body; None for one that is odd, which spoils no other line."""
    try:
        return chat.read_reply(body)
    except (UnusableAnswer, TypeError, AttributeError):
        return None
