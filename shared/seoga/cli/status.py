"""What `status` tells of a knowledge base: counts, names with reasons, and what to do next."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seoga.cli.calibrating import lines as calibration_lines
from seoga.errors import NotFound, Reason, SeogaError
from seoga.kb import Kb
from seoga.printable import sentences

if TYPE_CHECKING:
    import sqlite3

    from seoga.models import Source

_MOST_FILES = 20
_MOST_PROBLEMS = 5
_MOST_ENDED = 3
_TROUBLED = ("Failed", "NeedsAction", "Degraded")
# Counted in a state, and told beside it.
_APART = {"Ready": Reason.EMPTY, "Failed": Reason.UNSUPPORTED}


def describe(base: Path, kb: Kb, stale: Callable[[Kb], dict[str, int]]) -> dict[str, Any]:
    """A knowledge base, its index and its place in the queue, as JSON types; `stale` tells which
    versions of it are old (see Indexing)."""
    from seoga.search.calibrate import report as calibration
    from seoga.storage.database import reader

    out: dict[str, Any] = {
        "id": kb.id,
        "name": kb.name,
        "folder": str(kb.folder),
        "sources": [{"label": source.label, "path": _where(source)} for source in kb.sources()],
        "warnings": list(kb.warnings),
        "queue": _queue(base, kb.id),
        "index": None,
        "problem_files": [],
        "problem_files_more": 0,
        "stale": {},
        "error": "",
    }
    try:
        with reader(kb.db_path) as conn:
            out |= _indexed(conn, out["sources"])
            out["index"]["calibration"] = calibration(conn, kb.config.search.min_score)
        out["stale"] = stale(kb)
    except NotFound:
        out["error"] = "not indexed yet"
    except SeogaError as error:
        out["error"] = sentences(error.message, error.hint)
    out["hints"] = list(_hints(kb, out))
    return out


def _indexed(conn: sqlite3.Connection, sources: list[dict[str, Any]]) -> dict[str, Any]:
    from seoga.storage.reading import documents_in, empty_documents, failures, index_info

    info = index_info(conn)
    for source in sources:
        scan = info["sources"].get(source["label"], {})
        source |= {key: scan.get(key, "") for key in ("state", "reason", "hint")}
        source["problem_count"] = scan.get("problem_count", 0)
        source["problems"] = scan.get("problems", [])[:_MOST_PROBLEMS]
    troubled = documents_in(conn, _TROUBLED, _MOST_FILES)
    found = [*troubled, *empty_documents(conn, _MOST_FILES - len(troubled))]
    why = failures(conn, [file.id for file in found])
    count = sum(info["files"][state] for state in _TROUBLED) + info["reasons"].get(Reason.EMPTY, 0)
    return {
        "index": info,
        "problem_files": [
            {
                "document": file.name,
                "state": file.state,
                "reason": file.reason,
                "detail": file.detail or why.get(file.id, ""),
                "hint": _way_out(file.reason),
            }
            for file in found
        ],
        "problem_files_more": count - len(found),
    }


def _way_out(reason: str) -> str:
    return next((one.way_out for one in Reason if one == reason), "")


def _where(source: Source) -> str:
    """The folder of a source, or its address."""
    return source.path or str(source.options.get("url") or source.options.get("baseUrl") or "")


def _queue(base: Path, kb_id: str) -> dict[str, Any]:
    from seoga.storage.jobs import Queue

    if not (base / "queue.db").exists():
        return _no_queue("idle")
    try:
        with closing(Queue(base / "queue.db")) as queue:
            state = queue.state(kb_id)
    except SeogaError as error:
        # The index can be told of all the same.
        said = sentences(error.message, error.hint)
        return _no_queue("unknown", said)
    waiting = state.running or state.queued
    return {
        "status": state.status,
        "position": state.position,
        "last_error": (waiting.last_error if waiting else "")
        or (state.last.last_error if state.last else ""),
        "worker": state.worker,
        "recent": [
            {
                "status": job.status,
                "scope": job.scope,
                "created_at": job.created_at,
                "ended_at": job.ended_at,
                "last_error": job.last_error,
            }
            for job in state.recent
        ],
    }


def _no_queue(status: str, error: str = "") -> dict[str, Any]:
    return {"status": status, "position": None, "last_error": error, "worker": "", "recent": []}


def _hints(kb: Kb, told: dict[str, Any]) -> Iterator[str]:
    """What a person can do about what is told, each thing once."""
    info, queue, run = told["index"] or {}, told["queue"], f"`seoga exec --path {kb.folder}`"
    if queue["status"] in ("queued", "deferred") and not queue["worker"]:
        swept = " --sweep-all" if queue["status"] == "deferred" else ""
        yield f"No indexer works the queue: `seoga exec-queue{swept}` does it here."
    elif told["error"] == "not indexed yet" and queue["status"] == "idle":
        yield f"{run} indexes it."
    elif (info.get("last_run") or {}).get("status") == "interrupted":
        yield f"The last run was killed: {run} goes on where it was."
    elif (info.get("last_run") or {}).get("status") == "cancelled":
        yield f"The last run was stopped: {run} goes on where it was."
    elif told["stale"]:
        yield f"Versions are old: {run} makes anew what depends on them."
    elif info.get("chunks_pending") and (info["last_run"] or {}).get("status") != "running":
        yield f"Passages wait for vectors: {run} makes them."
    reasons = dict.fromkeys(one["reason"] for one in told["problem_files"])
    yield from (f"{reason}: {hint}" for reason in reasons if (hint := _way_out(reason)))


def lines(kb: dict[str, Any]) -> list[str]:
    """What `describe` has found, for people."""
    out = [f"{kb['name']} ({kb['id']}) · queue: {kb['queue']['status']}"]
    out += [f"  source {source['label']}: {source['path']}" for source in kb["sources"]]
    for source in kb["sources"]:
        out += _source_lines(source)
    out += [f"  warning: {warning}" for warning in kb["warnings"]]
    if info := kb["index"]:
        out.append(f"  files: {_file_counts(info) or 'none'}")
        out += [f"  {line}" for line in _chunk_lines(info)]
        if given_up := info["chunks_given_up"]:
            out.append(
                f"  passages without a context for good, found by their own words: {given_up}"
            )
        if noise := info["calibration"]:
            out += [f"  {line}" for line in calibration_lines(noise)]
        if last := info["last_run"]:
            why = f" ({last['error']})" if last["error"] else ""
            when = last["ended_at"] or last["started_at"]
            out.append(f"  last run: {last['status']}, {when}{why}")
    out += [f"  stale: {what}" for what in _old(kb["stale"])]
    out += _queue_lines(kb["queue"])
    for found in kb["problem_files"]:
        out.append(f"  {found['state']}: {found['document']} ({_why(found)})")
    if more := kb["problem_files_more"]:
        out.append(f"  … and {more} more files that gave no text, or a part of it")
    out += [f"  {kb['error']}"] if kb["error"] else []
    return out + [f"  hint: {hint}" for hint in kb["hints"]]


def _chunk_lines(info: dict[str, Any]) -> Iterator[str]:
    total, waiting, bare = info["chunks"], info["chunks_pending"], info["chunks_unserved"]
    if info["embedding_off"]:
        yield f"chunks: {total}, found by words only: this knowledge base makes no vectors"
        return
    yield f"chunks: {total}, {bare} without vectors"
    if failed := info["chunks_failed"]:
        yield f"{failed} of them can get none and are found by words only"
    if waiting > bare and info["embedding_building"]:
        made = f"{total - waiting} of {total} vectors of the new model are made"
        yield f"{made}; the previous model answers until then"
    elif waiting > bare:
        yield f"{waiting - bare} vectors are to be made anew; the present ones answer until then"


def _old(stale: dict[str, int]) -> Iterator[str]:
    from seoga.contracts.indexing import OLD_PARTS

    for what, files in stale.items():
        told = OLD_PARTS.get(what, "vectors are not of the model that is configured")
        yield f"{told} ({files:,} files)" if what in OLD_PARTS else told


def _source_lines(source: dict[str, Any]) -> Iterator[str]:
    label = source["label"]
    if source.get("reason"):
        yield f"  source {label} needs action: {sentences(source['reason'], source['hint'])}"
    problems = source.get("problems", ())
    for problem in problems:
        yield f"  not looked at: {label}/{problem['path']} ({problem['detail']})"
    if more := source.get("problem_count", 0) - len(problems):
        yield f"  not looked at: {more} more in {label}"


def _file_counts(info: dict[str, Any]) -> str:
    """Files by state, as `--json` counts them; empty and unsupported ones named beside theirs."""
    told = []
    for state, count in info["files"].items():
        apart = info["reasons"].get(_APART.get(state, ""), 0)
        beside = f" ({apart} {_APART[state]})" if apart else ""
        told += [f"{count} {state}{beside}"] if count else []
    return ", ".join(told)


def _queue_lines(queue: dict[str, Any]) -> Iterator[str]:
    """How the last requests ended; one that waits for its turn may say why it still does."""
    if queue["status"] != "idle" and queue["last_error"]:
        yield f"  queue: {queue['last_error']}"
    for job in queue["recent"][:_MOST_ENDED]:
        why = f" ({job['last_error']})" if job["last_error"] else ""
        yield f"  request ended: {job['status']}, {job['scope']}, {job['ended_at']}{why}"


def _why(found: dict[str, Any]) -> str:
    return f"{found['reason']}: {found['detail']}" if found["detail"] else found["reason"]
