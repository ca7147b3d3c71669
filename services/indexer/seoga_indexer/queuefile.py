"""The JSON queue of the reference product (`.deferred-queue.json`): its entries are worked through
the durable queue and leave the file one by one, as they are done."""

from __future__ import annotations

import json
import os
import threading
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from seoga import logs
from seoga.errors import InvalidArgument, NotFound, SeogaError
from seoga.kb import find_kb
from seoga.storage.jobs import Queue

VERSION = 1
_IDS = ("kb_id", "kbId", "id")
_SCOPES = ("partial_mode", "partialMode", "partial", "scope")
_LISTS = ("entries", "queue", "jobs", "items")
# What changes in an entry while it is worked on; the rest tells one request from another.
_NOTES = ("started_at", "last_error")

Entry = dict[str, Any]

log = logs.get("orchestrator")


@dataclass(slots=True)
class QueueFile:
    """One drainer's view of the file: which entries it has queued, and as which job."""

    file: Path
    queue: Queue
    _asked: list[tuple[Entry, str, int]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def enqueue(self, *, deferred_too: bool) -> int:
        """Queues the entries that are due (all with `deferred_too`), and returns how many.

        Each stays in the file until `settle` finds it done, so a crash loses none. An entry that
        cannot be queued gets a `last_error`. Raises NotFound without a file, InvalidArgument for
        one that is no such queue: that is kept aside under another name.
        """
        document = _read(self.file)
        for entry in document.entries:
            if entry.get("deferred") and not deferred_too:
                continue
            try:
                kb_id = self._known_id(_text(entry, _IDS))
                asked = self.queue.enqueue(
                    kb_id, _text(entry, _SCOPES) or "full", force=bool(entry.get("force"))
                )
            except SeogaError as error:
                log.warning("an entry of the queue file cannot be queued", error=error.message)
                self._note(entry, error.message)
            else:
                self._asked.append((entry, kb_id, asked.job_id))
        return len(self._asked)

    def settle(self) -> None:
        """Writes down what has come of the entries: done ones go, others keep their error."""
        with self._lock:
            waiting = []
            for entry, kb_id, job_id in self._asked:
                job = self.queue.outcome(kb_id, job_id)
                if job is None:
                    waiting.append((entry, kb_id, job_id))
                    continue
                error = None if job.status == "done" else job.last_error or job.status
                try:
                    self._note(entry, error)
                except (SeogaError, OSError) as trouble:
                    # The work itself is done or recorded; the others must get their turn.
                    log.error("the queue file cannot be updated", error=str(trouble))
            self._asked = waiting

    def _known_id(self, kb_id: str) -> str:
        """The id as its folder has it, so that one knowledge base has one place in the queue."""
        try:
            return find_kb(self.queue.path.parent, kb_id).id
        except SeogaError:
            # The worker finds the same error again, and it is kept with the entry.
            return kb_id

    def _note(self, entry: Entry, error: str | None) -> None:
        """Removes an entry, or sets its error, in the file as it is now."""
        # Two drainers rewrite the file one after the other; the queue's own lock is at hand.
        with self.queue.alone():
            document = _read(self.file)
            for found in document.entries:
                if _request(found) == _request(entry):
                    if error is None:
                        document.entries.remove(found)
                    else:
                        found.pop("started_at", None)
                        found["last_error"] = error
                    _write(self.file, document)
                    return


@dataclass(slots=True)
class _Document:
    whole: Any
    entries: list[Entry]


def _read(file: Path) -> _Document:
    try:
        whole = json.loads(file.read_text(encoding="utf-8-sig"))
        return _document(whole)
    except FileNotFoundError as error:
        raise NotFound(f"there is no queue file {file}", "Check --queue-file.") from error
    except OSError as error:
        raise NotFound(f"{file} cannot be read: {error.strerror}", "Check --queue-file.") from error
    except (ValueError, RecursionError) as error:
        aside = _aside(file)
        file.replace(aside)
        raise InvalidArgument(f"{file} is no queue: {error}", f"It was kept as {aside}.") from error


def _document(whole: Any) -> _Document:
    entries = whole
    if isinstance(whole, dict):
        if (version := whole.get("version", VERSION)) != VERSION:
            raise InvalidArgument(
                f"the queue file has version {version!r}; version {VERSION} is known",
                "It was not touched.",
            )
        entries = next((whole[name] for name in _LISTS if name in whole), None)
    if not isinstance(entries, list):
        raise ValueError("it holds no list of entries")
    for entry in entries:
        if not isinstance(entry, dict) or not _text(entry, _IDS):
            raise ValueError("an entry names no knowledge base")
    return _Document(whole, entries)


def _write(file: Path, document: _Document) -> None:
    draft = file.with_name(f".{file.name}.{uuid.uuid4().hex}.tmp")
    text = json.dumps(document.whole, ensure_ascii=False, indent=2) + "\n"
    with draft.open("w", encoding="utf-8") as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())
    draft.replace(file)


def _aside(file: Path) -> Path:
    """A free name: what was kept aside before stays."""
    aside, number = file.with_name(file.name + ".bad"), 2
    while aside.exists():
        aside, number = file.with_name(f"{file.name}.bad-{number}"), number + 1
    return aside


def _request(entry: Entry) -> Entry:
    return {name: value for name, value in entry.items() if name not in _NOTES}


def _text(entry: Entry, names: tuple[str, ...]) -> str:
    found = next((entry[name] for name in names if entry.get(name)), "")
    return found if isinstance(found, str) else ""
