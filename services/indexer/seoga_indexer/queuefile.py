"""The JSON queue of the reference product (`.deferred-queue.json`): its entries are worked through
the durable queue and leave the file one by one, as they are done. What can never be run goes to a
file beside it, so that it stops nothing else."""

from __future__ import annotations

import json
import os
import threading
import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from seoga import logs
from seoga.errors import ConfigError, InvalidArgument, NotFound, SeogaError, StorageError
from seoga.kb import find_kb, validate_kb_id
from seoga.regularfile import text_of
from seoga.storage.jobs import SCOPES, Queue

VERSION = 1
_IDS = ("kb_id", "kbId", "id")
_SCOPES = ("partial_mode", "partialMode", "partial", "scope")
_LISTS = ("entries", "queue", "jobs", "items")
_FLAGS = ("force", "deferred", "is_reindex")
# What changes in an entry while it is worked on; the rest tells one request from another.
_NOTES = ("started_at", "last_error")

Entry = dict[str, Any]

log = logs.get("orchestrator")


@dataclass(frozen=True, slots=True)
class Trouble:
    """What was asked for and could not be done: of which knowledge base, and why."""

    kb_id: str
    error: str


@dataclass(slots=True)
class QueueFile:
    """One drainer's view of the file: which entries it has queued, and as which job. `troubles` by
    job, or by the entry's position (negative) where there is no job."""

    file: Path
    queue: Queue
    troubles: dict[int, Trouble] = field(default_factory=dict)
    rejected: int = 0
    _asked: list[tuple[Entry, str, int]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def enqueue(self, *, deferred_too: bool) -> int:
        """Queues the entries that are due (all with `deferred_too`), and returns how many.

        Each stays in the file until `settle` finds it done, so a crash loses none. Raises NotFound
        without a file, ConfigError for one that is no such queue (kept aside under another name),
        StorageError for one that cannot be written.
        """
        for entry in self._sound():
            if entry.get("deferred") and not deferred_too:
                continue
            kb_id = self._known_id(_text(entry, _IDS))
            asked = self.queue.enqueue(kb_id, _scope(entry), force=bool(entry.get("force")))
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
                if job.status == "failed":
                    self.troubles[job.id] = Trouble(kb_id, job.last_error)
                try:
                    self._note(entry, error)
                except (SeogaError, OSError) as trouble:
                    # The work itself is done or recorded; the others must get their turn.
                    log.error("the queue file cannot be updated", error=str(trouble))
                    said = f"{trouble}: the entry would be done again"
                    self.troubles.setdefault(job.id, Trouble(kb_id, said))
            self._asked = waiting

    def _sound(self) -> list[Entry]:
        """The entries that can be run; the others go to a file beside this one."""
        with self.queue.alone():
            document = _read(self.file)
            faulty = [
                {"position": number, "reason": why, "entry": entry}
                for number, entry in enumerate(document.entries, 1)
                if (why := _fault(entry))
            ]
            if faulty:
                aside = _aside(self.file, ".rejected")
                _write(aside, {"version": VERSION, "entries": faulty})
                document.entries[:] = [one for one in document.entries if not _fault(one)]
                self.rejected += len(faulty)
            # Even if nothing has changed: better now than after hours of work that the file cannot
            # be written.
            _write(self.file, document.whole)
        for bad in faulty:
            why = f"entry {bad['position']} of the queue file: {bad['reason']}; kept in {aside}"
            log.warning("an entry of the queue file cannot be run", error=why)
            self.troubles[-int(bad["position"])] = Trouble(_named(bad["entry"]), why)
        return document.entries

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
                if isinstance(found, dict) and _request(found) == _request(entry):
                    if error is None:
                        document.entries.remove(found)
                    else:
                        found.pop("started_at", None)
                        found["last_error"] = error
                    _write(self.file, document.whole)
                    return


@dataclass(slots=True)
class _Document:
    whole: Any
    entries: list[Any]


def _read(file: Path) -> _Document:
    try:
        whole = json.loads(text_of(file, "utf-8-sig"))
        return _document(whole)
    except FileNotFoundError as error:
        raise NotFound(f"there is no queue file {file}", "Check --queue-file.") from error
    except OSError as error:
        raise NotFound(f"{file} cannot be read: {error.strerror}", "Check --queue-file.") from error
    except (ValueError, RecursionError) as error:
        aside = _aside(file, ".bad")
        file.replace(aside)
        raise ConfigError(
            f"{file} is no queue: {_why(error)}", f"It was kept as {aside}."
        ) from error


def _why(error: ValueError | RecursionError) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deep"
    of_digits = "integer string conversion" in str(error)
    return "it holds a number of thousands of digits" if of_digits else str(error)


def _document(whole: Any) -> _Document:
    entries = whole
    if isinstance(whole, dict):
        if (version := whole.get("version", VERSION)) != VERSION:
            raise ConfigError(
                f"the queue file has version {version!r}; version {VERSION} is known",
                "It was not touched.",
            )
        entries = next((whole[name] for name in _LISTS if name in whole), None)
    if not isinstance(entries, list):
        raise ValueError("it holds no list of entries")
    return _Document(whole, entries)


def _fault(entry: Any) -> str:
    """Why an entry can never be run, whatever becomes of the knowledge bases; "" when it can."""
    if not isinstance(entry, dict):
        return f"it is {_json(entry)[:80]}, not an object"
    try:
        validate_kb_id(_text(entry, _IDS))
    except InvalidArgument as error:
        return f"kb_id: {error.message}"
    if (scope := _scope(entry)) not in SCOPES:
        return f"partial_mode {scope!r} is unknown; allowed: {', '.join(SCOPES[:2])}"
    for flag in _FLAGS:
        if entry.get(flag) not in (None, True, False):
            return f"{flag} is {json.dumps(entry[flag])[:80]}; allowed: true or false"
    return ""


def _write(file: Path, whole: Any) -> None:
    draft = file.with_name(f".{file.name}.{uuid.uuid4().hex}.tmp")
    try:
        with draft.open("w", encoding="utf-8") as out:
            out.write(_json(whole, indent=2) + "\n")
            out.flush()
            os.fsync(out.fileno())
        draft.replace(file)
    except OSError as error:
        raise StorageError(
            f"{file} cannot be written: {error.strerror}",
            "Make its folder writable: entries leave the file as they are done.",
        ) from error
    finally:
        # Whatever has gone wrong; after a success it has another name.
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def _json(value: Any, indent: int | None = None) -> str:
    """As people read it; in escapes where it holds what no file of UTF-8 can (a lone surrogate)."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent)
    return text


def _aside(file: Path, ending: str) -> Path:
    """A free name: what was kept aside before stays."""
    aside, number = file.with_name(file.name + ending), 2
    while aside.exists():
        aside, number = file.with_name(f"{file.name}{ending}-{number}"), number + 1
    return aside


def _request(entry: Entry) -> Entry:
    return {name: value for name, value in entry.items() if name not in _NOTES}


def _text(entry: Entry, names: tuple[str, ...]) -> str:
    found = next((entry[name] for name in names if entry.get(name)), "")
    return found if isinstance(found, str) else ""


def _scope(entry: Entry) -> str:
    found = next((entry[name] for name in _SCOPES if entry.get(name)), "full")
    return found.strip().lower() if isinstance(found, str) else json.dumps(found)


def _named(entry: Any) -> str:
    return _text(entry, _IDS) if isinstance(entry, dict) else ""
