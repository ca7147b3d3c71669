"""`status`, `doctor`: what is indexed, and what works on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seoga.cli.options import (
    AsJson,
    BasePath,
    ConfigFile,
    KbPath,
    chosen_settings,
    opened_stack,
)
from seoga.cli.output import emit, show
from seoga.cli.targets import chosen_kbs, one_kb
from seoga.errors import InvalidArgument, NotFound, SeogaError
from seoga.kb import Kb, list_kbs

if TYPE_CHECKING:
    from seoga.cli.doctor import Check
    from seoga.models import Source
    from seoga.wiring import Stack

_MOST_FILES = 20
_TROUBLED = ("Failed", "NeedsAction", "Degraded")
_MOST_ENDED = 3


def register(app: typer.Typer) -> None:
    """Adds the commands of this file."""
    app.command("status")(status)
    app.command("doctor")(doctor)


def status(
    path: KbPath = None,
    config: ConfigFile = None,
    base_path: BasePath = None,
    as_json: AsJson = False,
) -> int:
    """What is indexed, what failed and why, and what is queued."""
    base = chosen_settings(base_path).base_path
    if path is not None or config is not None:
        kbs, problems = [one_kb(base, path, config)], []
    else:
        listing = list_kbs(base)
        kbs, problems = list(listing.kbs), [problem.message for problem in listing.problems]
    report = {
        "base_path": str(base),
        "kbs": [describe(base, kb) for kb in kbs],
        "problems": problems,
    }
    if as_json:
        emit(report)
    else:
        _show(report)
    return 0


def describe(base: Path, kb: Kb) -> dict[str, Any]:
    """A knowledge base, its index and its place in the queue, as JSON types."""
    from seoga.storage.database import open_reader
    from seoga.storage.reading import documents_in, index_info

    out: dict[str, Any] = {
        "id": kb.id,
        "name": kb.name,
        "folder": str(kb.folder),
        "sources": [{"label": source.label, "path": _where(source)} for source in kb.sources()],
        "warnings": list(kb.warnings),
        "queue": _queue(base, kb.id),
        "index": None,
        "problem_files": [],
        "error": "",
    }
    try:
        with closing(open_reader(kb.db_path)) as conn:
            out["index"] = index_info(conn)
            for source in out["sources"]:
                scan = out["index"]["sources"].get(source["label"], {})
                source |= {key: scan.get(key, "") for key in ("state", "reason", "hint")}
            out["problem_files"] = [
                {
                    "document": found.name,
                    "state": found.state,
                    "reason": found.reason,
                    "detail": found.detail,
                }
                for found in documents_in(conn, _TROUBLED, _MOST_FILES)
            ]
    except NotFound:
        out["error"] = "not indexed yet"
    except SeogaError as error:
        out["error"] = error.message
    return out


def _where(source: Source) -> str:
    """The folder of a source, or its address."""
    return source.path or str(source.options.get("url") or source.options.get("baseUrl") or "")


def _queue(base: Path, kb_id: str) -> dict[str, Any]:
    from seoga.storage.jobs import Queue

    if not (base / "queue.db").exists():
        return {"status": "idle", "position": None, "last_error": "", "recent": []}
    try:
        with closing(Queue(base / "queue.db")) as queue:
            state = queue.state(kb_id)
    except SeogaError as error:
        # The index can be told of all the same.
        return {"status": "unknown", "position": None, "last_error": error.message, "recent": []}
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


def _queue_lines(queue: dict[str, Any]) -> list[str]:
    """How the last requests ended; one that waits for its turn may say why it still does."""
    lines = []
    if queue["status"] != "idle" and queue["last_error"]:
        lines.append(f"  queue: {queue['last_error']}")
    for job in queue["recent"][:_MOST_ENDED]:
        why = f" ({job['last_error']})" if job["last_error"] else ""
        lines.append(f"  request ended: {job['status']}, {job['scope']}, {job['ended_at']}{why}")
    return lines


def _show(report: dict[str, Any]) -> None:
    show(f"Base path: {report['base_path']}")
    for kb in report["kbs"]:
        for line in _kb_lines(kb):
            show(line)
    for problem in report["problems"]:
        show(f"problem: {problem}")
    if not report["kbs"]:
        show("No knowledge base yet: `seoga index FOLDER` makes one.")


def _kb_lines(kb: dict[str, Any]) -> list[str]:
    lines = [f"{kb['name']} ({kb['id']}) · queue: {kb['queue']['status']}"]
    lines += [f"  source {source['label']}: {source['path']}" for source in kb["sources"]]
    lines += [
        f"  source {source['label']} needs action: {source['reason']}. {source['hint']}"
        for source in kb["sources"]
        if source.get("reason")
    ]
    lines += [f"  warning: {warning}" for warning in kb["warnings"]]
    if info := kb["index"]:
        lines.append(f"  files: {_file_counts(info) or 'none'}")
        lines.append(f"  chunks: {info['chunks']}, {info['chunks_pending']} without vectors")
        if last := info["last_run"]:
            lines.append(f"  last run: {last['status']}, {last['ended_at'] or last['started_at']}")
    lines += _queue_lines(kb["queue"])
    for found in kb["problem_files"]:
        lines.append(f"  {found['state']}: {found['document']} ({_why(found)})")
    return [*lines, f"  {kb['error']}"] if kb["error"] else lines


def _file_counts(info: dict[str, Any]) -> str:
    """Files by state; unsupported and empty ones apart, as the State line of a run counts them."""
    counts, reasons = dict(info["files"]), info["reasons"]
    for state, reason in (("Failed", "unsupported"), ("Ready", "empty")):
        if apart := reasons.get(reason, 0):
            counts[state] = counts.get(state, 0) - apart
            counts[reason] = apart
    named = (
        f"empty ({count})" if kind == "empty" else f"{count} {kind}"
        for kind, count in counts.items()
        if count
    )
    return ", ".join(named)


def _why(found: dict[str, Any]) -> str:
    return f"{found['reason']}: {found['detail']}" if found["detail"] else found["reason"]


def doctor(
    *,
    path: KbPath = None,
    config: ConfigFile = None,
    base_path: BasePath = None,
    deep: Annotated[
        bool, typer.Option("--deep", help="Compare every row of the indexes as well.")
    ] = False,
    repair: Annotated[
        bool, typer.Option("--repair", help="With --deep: mend what follows from the rest.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Check what works on this machine, or (--deep) whether the indexes are whole."""
    from seoga.cli.doctor import checks

    if not deep and (repair or path is not None or config is not None):
        raise InvalidArgument("--path, --config and --repair belong to --deep", "Add --deep.")
    settings = chosen_settings(base_path)
    with opened_stack(settings) as stack:
        found: list[Check] = []
        kbs = chosen_kbs(settings.base_path, path, config) if deep else []
        for check in _deep_checks(stack, kbs, repair) if deep else checks(stack):
            found.append(check)
            if not as_json:
                show(check.line())
    failed = any(check.status == "fail" for check in found)
    if as_json:
        emit({"ok": not failed, "checks": [check.to_json() for check in found]})
    return 1 if failed else 0


def _deep_checks(stack: Stack, kbs: list[Kb], repair: bool) -> Iterator[Check]:
    from seoga.cli.deepdoctor import deep_checks

    for kb in kbs:
        yield from deep_checks(stack, kb, mend=repair)
