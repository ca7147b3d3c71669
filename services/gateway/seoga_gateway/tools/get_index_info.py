"""get_index_info: how complete and how fresh an index is, and what is happening to it."""

from __future__ import annotations

from typing import Annotated, Any

from mcp_types import CallToolResult
from pydantic import BaseModel, Field

from seoga.contracts.indexing import OLD_PARTS
from seoga.models import Job
from seoga_gateway.tool import Call, Info, KbId, Tool, library, one_line, reply

# The first say what is wrong; a folder tree without rights has thousands.
_MOST_PROBLEMS = 10
_MOST_ENDED = 5


class QueueInfo(BaseModel):
    """How the knowledge base stands in the queue."""

    status: str = Field(description="running, queued, deferred, idle or unknown.")
    position: int | None = Field(description="1 is next, 0 is running; null when not queued.")
    deferred: bool
    scope: str = Field(description="full, contextualization or embedding; empty when idle.")
    force: bool
    last_status: str = Field(description="How the last request ended.")
    last_error: str
    last_ended_at: str
    recent: list[dict[str, Any]] = Field(
        description="Requests that ended, newest first: status, scope, force, times, last_error."
    )
    worker: str = Field(description="Who works the queue now; empty: nobody.")


class Chunks(BaseModel):
    """Passages by what they have."""

    total: int = 0
    pending: int = Field(0, description="Findable by words, still without vectors.")
    indexed: int = Field(0, description="With vectors.")
    failed: int = Field(0, description="Without vectors for good.")
    contextualized: int = Field(0, description="With context of a language model.")
    raw: int = Field(0, description="Without such context.")
    given_up: int = Field(0, description="Of these, those that the model gave none for good.")


class IndexInfo(BaseModel):
    """The state of one knowledge base."""

    kb_id: str
    name: str
    description: str
    status: str = Field(description="ready, empty or indexing.")
    schema_version: int
    sources: list[dict[str, Any]] = Field(
        description=(
            "label, type, files, chunks, indexed_at; of the last scan: state, reason, "
            "problem_count and the first problems (path, reason, detail)."
        )
    )
    files: dict[str, int] = Field(description="Files by state.")
    reasons: dict[str, int] = Field(
        description="Why files gave no text, or lack a part (contexts), with counts."
    )
    chunks: Chunks
    embedding: dict[str, Any] | None = Field(description="The model whose vectors are searched.")
    stale: list[str] = Field(description="What no longer fits the configuration.")
    progress: dict[str, Any] | None = Field(description="The run in flight; null: none.")
    queue: QueueInfo
    last_run: dict[str, Any] | None
    calibration: dict[str, Any] | None = Field(
        description="Noise floor: p99 with interval, suggested minScore (null where there are too"
        " few passages), advice, best_of by query length."
    )
    warnings: list[str]


def get_index_info(call: Call, kb_id: KbId) -> Annotated[CallToolResult, IndexInfo]:
    """Show how complete and fresh a knowledge base is: files, passages, queue, live progress,
    last run,
    health."""
    info = library(call).info(kb_id)
    answer = _answer(info)
    return reply(answer, _text(answer))


def _answer(info: Info) -> IndexInfo:
    index = info.index or {}
    total, contextualized = index.get("chunks", 0), index.get("chunks_with_context", 0)
    bare, failed = index.get("chunks_unserved", 0), index.get("chunks_failed", 0)
    return IndexInfo(
        kb_id=info.kb.id,
        name=one_line(info.kb.name),
        description=one_line(info.kb.description),
        status="indexing" if info.writer else "ready" if total else "empty",
        schema_version=index.get("schema", 0),
        sources=_sources(info),
        files=index.get("files", {}),
        reasons=index.get("reasons", {}),
        chunks=Chunks(
            total=total,
            pending=bare,
            indexed=0 if index.get("embedding_off") else total - bare - failed,
            failed=failed,
            contextualized=contextualized,
            raw=total - contextualized,
            given_up=index.get("chunks_given_up", 0),
        ),
        embedding=index.get("embedding"),
        stale=_stale(info),
        # A killed run leaves its last progress behind: only the holder of the lease is a run.
        progress=index.get("progress") if info.writer else None,
        queue=_queue(info),
        last_run=index.get("last_run"),
        calibration=index.get("calibration"),
        warnings=[one_line(warning) for warning in info.warnings],
    )


def _sources(info: Info) -> list[dict[str, Any]]:
    known = (info.index or {}).get("labels", {})
    scanned = (info.index or {}).get("sources", {})
    nothing = {"files": 0, "chunks": 0, "indexed_at": ""}
    configured = {source.label: source.type for source in info.kb.sources()}
    return [
        {
            "label": label,
            "type": configured.get(label, "removed"),
            **known.get(label, nothing),
            **_scan(scanned.get(label, {})),
        }
        for label in dict.fromkeys((*configured, *known))
    ]


def _scan(found: dict[str, Any]) -> dict[str, Any]:
    """What the last scan of a source could not look at."""
    return {
        "state": found.get("state", ""),
        "reason": one_line(found.get("reason", "")),
        "problem_count": found.get("problem_count", 0),
        "problems": [
            {key: one_line(str(value)) for key, value in problem.items()}
            for problem in found.get("problems", ())[:_MOST_PROBLEMS]
        ],
    }


def _source_lines(source: dict[str, Any]) -> list[str]:
    label, shown = source["label"], source["problems"]
    lines = [f"source {label} needs action: {source['reason']}"] if source["reason"] else []
    lines += [f"not looked at: {label}/{one['path']}: {one['detail']}" for one in shown]
    if more := source["problem_count"] - len(shown):
        lines.append(f"not looked at: {more} more in {label}")
    return lines


def _stale(info: Info) -> list[str]:
    index = info.index or {}
    serving, asked = index.get("embedding"), info.kb.embedding_spec()
    found = []
    if serving and not asked.provider:
        found.append(f"vectors are of {serving['provider']}, none are wanted; a run drops them")
    elif serving and asked.provider != serving["provider"]:
        found.append(f"vectors are of {serving['provider']}, configured is {asked.provider!r}")
    elif serving and asked.model and asked.model != serving["model"]:
        found.append(f"vectors are of {serving['model']}, configured is {asked.model}")
    for what, files in info.stale.items():
        if what in OLD_PARTS:
            found.append(f"{OLD_PARTS[what]} ({files:,} files); the next run makes that anew")
    if index.get("embedding_building"):
        total, waiting = index.get("chunks", 0), index.get("chunks_pending", 0)
        made = f"{total - waiting} of {total} vectors of the new model are made"
        found.append(f"{made}; the previous model answers until then")
    return found


def _queue(info: Info) -> QueueInfo:
    state = info.queue
    job = (state.running or state.queued) if state else None
    last = state.last if state else None
    return QueueInfo(
        status=state.status if state else "unknown",
        position=state.position if state else None,
        deferred=bool(job and job.deferred),
        scope=job.scope if job else "",
        force=bool(job and job.force),
        last_status=last.status if last else "",
        # What waits may say why it still does; else how the last one ended.
        last_error=one_line((job.last_error if job else "") or (last.last_error if last else "")),
        last_ended_at=last.ended_at if last else "",
        recent=[_ended(one) for one in state.recent[:_MOST_ENDED]] if state else [],
        worker=state.worker if state else "",
    )


def _ended(job: Job) -> dict[str, Any]:
    return {
        "status": job.status,
        "scope": job.scope,
        "force": job.force,
        "created_at": job.created_at,
        "started_at": job.started_at,
        "ended_at": job.ended_at,
        "last_error": one_line(job.last_error),
    }


def _text(answer: IndexInfo) -> str:
    chunks = answer.chunks
    files = ", ".join(f"{count} {state}" for state, count in answer.files.items() if count)
    lines = [
        f"{answer.kb_id} {answer.name}: {answer.status}",
        f"files: {files or 'none'}",
        f"passages: {chunks.total} ({chunks.indexed} with vectors, {chunks.pending} waiting, "
        f"{chunks.failed} failed)",
        f"queue: {answer.queue.status}"
        + (f", position {answer.queue.position}" if answer.queue.position is not None else "")
        + (f", last error: {answer.queue.last_error}" if answer.queue.last_error else ""),
    ]
    if running := answer.progress:
        lines.append(
            "progress: " + ", ".join(f"{k} {one_line(str(v))}" for k, v in running.items())
        )
    if last := answer.last_run:
        lines.append(f"last run: {last['status']}, ended {last['ended_at'] or 'not yet'}")
    if noise := answer.calibration:
        lines.append(
            f"background noise: p99 {noise['p99']} over {noise['pairs']} random pairs,"
            f" {noise['advice']}"
        )
    if chunks.given_up:
        lines.append(
            f"passages without a context for good, found by their own words: {chunks.given_up}"
        )
    for source in answer.sources:
        lines.extend(_source_lines(source))
    lines.extend(f"stale: {reason}" for reason in answer.stale)
    lines.extend(f"files with reason {reason}: {count}" for reason, count in answer.reasons.items())
    lines.extend(f"warning: {warning}" for warning in answer.warnings)
    return "\n".join(lines)


TOOL = Tool(get_index_info, title="Index information")
