"""The JSON queue of the reference product (`.deferred-queue.json`), read into the durable queue."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from seoga import logs
from seoga.errors import InvalidArgument, NotFound, SeogaError
from seoga.storage.jobs import Queue

_IDS = ("kbId", "kb_id", "id")
_LISTS = ("entries", "queue", "jobs", "items")

log = logs.get("orchestrator")


def import_queue_file(file: Path, queue: Queue) -> int:
    """Queues the entries of a file and empties it; returns how many.

    A file that is no such queue is renamed `.bad` and InvalidArgument raised: it is neither lost
    nor taken for an empty queue. Raises NotFound without a file.
    """
    try:
        entries = _entries(json.loads(file.read_text(encoding="utf-8-sig")))
    except FileNotFoundError as error:
        raise NotFound(f"there is no queue file {file}") from error
    except ValueError as error:
        aside = file.with_name(file.name + ".bad")
        file.replace(aside)
        raise InvalidArgument(f"{file} is no queue: {error}", f"It was kept as {aside}.") from error
    for entry in entries:
        try:
            scope = str(entry.get("scope") or entry.get("partial") or "full")
            queue.enqueue(_id(entry), scope, force=bool(entry.get("force")))
        except SeogaError as error:
            log.warning("an entry of the queue file is left out", error=error.message)
    file.write_text("[]\n", encoding="utf-8")
    return len(entries)


def _entries(data: Any) -> list[dict[str, Any]]:
    if isinstance(data, dict):
        data = next((data[name] for name in _LISTS if name in data), None)
    if not isinstance(data, list):
        raise ValueError("no list of entries")
    entries = [{"id": entry} if isinstance(entry, str) else entry for entry in data]
    if not all(
        isinstance(entry, dict) and any(name in entry for name in _IDS) for entry in entries
    ):
        raise ValueError("an entry without a knowledge base id")
    return entries


def _id(entry: dict[str, Any]) -> str:
    return str(next(entry[name] for name in _IDS if name in entry))
