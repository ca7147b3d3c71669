"""The fake's batch APIs: files and batches as OpenAI has them, message batches as Anthropic."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from seoga_embedding.fake.answering import said
from seoga_embedding.fake.protocols import ANTHROPIC, OPENAI, Body, Protocol
from seoga_embedding.fake.rules import Rules


@dataclass(slots=True)
class Batch:
    """One batch: (custom_id, body) of each request."""

    id: str
    asked: list[tuple[str, Body]]
    created: float = field(default_factory=time.time)
    metadata: Body = field(default_factory=dict)


@dataclass(slots=True)
class BatchDesk:
    """What was sent."""

    files: dict[str, str] = field(default_factory=dict)
    batches: dict[str, Batch] = field(default_factory=dict)

    def handle(self, action: str, name: str, body: Any, rules: Rules) -> Any:
        """A JSON value, or text for JSON Lines; None where there is no such thing."""
        if action == "file":
            return self._file(body)
        if action == "file_content":
            return self._content(name, rules)
        protocol = OPENAI if action.startswith("openai") else ANTHROPIC
        if action.endswith("create"):
            return self._shown(protocol, self._create(protocol, body), rules)
        if action.endswith("list"):
            found = [self._shown(protocol, one, rules) for one in self.batches.values()]
            return {"object": "list", "data": found[::-1], "has_more": False}
        batch = self.batches.get(name)
        if batch is None:
            return None
        if action.endswith("results"):
            return self._results(batch, rules)
        return self._shown(protocol, batch, rules)

    def _file(self, form: str) -> Body:
        purpose = re.search(r'name="purpose"\r\n\r\n(\w+)', form)
        found = re.search(r'name="file".*?\r\n\r\n(.*?)\r\n--', form, re.S)
        if found is None or purpose is None or purpose.group(1) != "batch":
            raise ValueError("no file for a batch")
        name = f"file-{len(self.files) + 1}"
        self.files[name] = found.group(1)
        return {"id": name, "object": "file", "purpose": "batch"}

    def _create(self, protocol: Protocol, body: Body) -> Batch:
        if protocol is OPENAI:
            lines = map(json.loads, self.files[body["input_file_id"]].splitlines())
            asked = [(one["custom_id"], one["body"]) for one in lines]
            if body["completion_window"] != "24h":
                raise ValueError("completion_window")
        else:
            asked = [(one["custom_id"], one["params"]) for one in body["requests"]]
        if any(not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", key) for key, _ in asked):
            raise ValueError("custom_id")
        batch = Batch(f"batch_{len(self.batches) + 1}", asked, metadata=body.get("metadata") or {})
        self.batches[batch.id] = batch
        return batch

    def _shown(self, protocol: Protocol, batch: Batch, rules: Rules) -> Body:
        held, total = rules.batches == "held", len(batch.asked)
        if protocol is OPENAI:
            files = {"output_file_id": f"out-{batch.id}", "error_file_id": f"err-{batch.id}"}
            return {
                "id": batch.id,
                "object": "batch",
                "status": "in_progress" if held else "completed",
                "created_at": int(batch.created),
                "metadata": batch.metadata,
                "request_counts": {"total": total, "completed": 0 if held else total, "failed": 0},
                **(dict.fromkeys(files) if held else files),
            }
        created = datetime.fromtimestamp(batch.created, UTC).isoformat().replace("+00:00", "Z")
        counts = {"processing": total if held else 0, "succeeded": 0 if held else total}
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "in_progress" if held else "ended",
            "created_at": created,
            "request_counts": {**counts, "errored": 0, "canceled": 0, "expired": 0},
        }

    def _outcome(self, body: Body, rules: Rules) -> str:
        if rules.batches == "expired":
            return "expired"
        text = json.dumps(body, ensure_ascii=False)
        return "errored" if any(word in text for word in rules.refuse) else "succeeded"

    def _results(self, batch: Batch, rules: Rules) -> str:
        lines = []
        for key, body in batch.asked[::-1]:
            kind = self._outcome(body, rules)
            result: Body = {"type": kind}
            if kind == "succeeded":
                result["message"] = said(ANTHROPIC, body, rules)
            elif kind == "errored":
                result["error"] = ANTHROPIC.error(400, "refused", "invalid_request_error")
            lines.append(json.dumps({"custom_id": key, "result": result}))
        return "\n".join(lines)

    def _content(self, name: str, rules: Rules) -> str | None:
        kind, _, batch_id = name.partition("-")
        batch = self.batches.get(batch_id)
        if batch is None:
            return None
        lines = []
        for key, body in batch.asked[::-1]:
            outcome = self._outcome(body, rules)
            if (outcome == "succeeded") is not (kind == "out"):
                continue
            response: Body | None = None
            error: Body | None = None
            if outcome == "succeeded":
                response = {"status_code": 200, "body": said(OPENAI, body, rules)}
            elif outcome == "errored":
                response = {"status_code": 400, "body": OPENAI.error(400, "refused", "")}
            else:
                error = {"code": "batch_expired", "message": "not done in time"}
            lines.append(json.dumps({"custom_id": key, "response": response, "error": error}))
        return "\n".join(lines)


# Path → action; a group holds a name.
PATHS: tuple[tuple[str, re.Pattern[str], str], ...] = (
    ("POST", re.compile(r"(?:/.+)?/v1/files()"), "file"),
    ("GET", re.compile(r"(?:/.+)?/v1/files/([^/]+)/content"), "file_content"),
    ("POST", re.compile(r"/v1/messages/batches()"), "anthropic_create"),
    ("GET", re.compile(r"/v1/messages/batches()"), "anthropic_list"),
    ("GET", re.compile(r"/v1/messages/batches/([^/]+)"), "anthropic_state"),
    ("GET", re.compile(r"/v1/messages/batches/([^/]+)/results"), "anthropic_results"),
    ("POST", re.compile(r"(?:/.+)?/v1/batches()"), "openai_create"),
    ("GET", re.compile(r"(?:/.+)?/v1/batches()"), "openai_list"),
    ("GET", re.compile(r"(?:/.+)?/v1/batches/([^/]+)"), "openai_state"),
)


def match(method: str, path: str) -> tuple[Protocol, str, str] | None:
    """Protocol, action and name; None for a path of no batch."""
    for verb, pattern, action in PATHS:
        if verb == method and (found := pattern.fullmatch(path)):
            protocol = ANTHROPIC if action.startswith("anthropic") else OPENAI
            return protocol, action, found.group(1)
    return None
