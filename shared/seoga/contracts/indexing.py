"""Indexing: ask for work on a knowledge base, stop it, or ask what a run would do."""

# No postponed annotations here: FastAPI reads those of the routes, whose types are imported late.
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Protocol, TypedDict
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field

from seoga.models import Partial

if TYPE_CHECKING:
    import httpx
    from fastapi import APIRouter


@dataclass(frozen=True, slots=True)
class EnqueueResult:
    """`status`: queued, already_queued, upgraded, already_running or queued_after_current.
    Position counts from 1; 0 = running."""

    status: str
    kb_id: str
    queue_position: int

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class ChangeReport:
    """A dry run of scan and diff: paths as `label/path`, at most 1,000 named a list, counted in
    full."""

    kb_id: str
    added: tuple[str, ...]
    modified: tuple[str, ...]
    deleted: tuple[str, ...]
    failed: tuple[str, ...]
    counts: dict[str, int]
    stale: tuple[str, ...]
    needs_action: tuple[str, ...]
    is_clean: bool
    skipped: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Progress:
    """A run in flight, about once a second. `done` of `total` are files, then, while only vectors
    are made, passages (`unit`); `total` grows while `counting`; `rate` is a second; `eta_s` is
    None while nothing can be said; `text_done`: every file can be found by keyword."""

    stage: str
    unit: str = "files"
    done: int = 0
    total: int = 0
    counting: bool = False
    current: str = ""
    rate: float = 0.0
    eta_s: float | None = None
    chunks: int = 0
    chunks_pending: int = 0
    failed: int = 0
    text_done: bool = False

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run did (indexed, skipped, removed, chunks) and how the index stands after it.

    `tried` and `tried_failed` count the files that this run worked on (without unsupported ones);
    `warnings` are sentences for a person, such as a source that needs action; `troubles` the first
    files that gave no text in this run, each with its reason; `calibration` the sentence about
    background noise, "" without vectors.
    """

    status: str = "done"
    indexed: int = 0
    skipped: int = 0
    removed: int = 0
    chunks: int = 0
    elapsed_ms: int = 0
    failed: int = 0
    degraded: int = 0
    deferred: int = 0
    needs_action: int = 0
    unsupported: int = 0
    tried: int = 0
    tried_failed: int = 0
    warnings: tuple[str, ...] = ()
    troubles: tuple[str, ...] = ()
    unread: bool = False
    calibration: str = ""

    @property
    def exit_code(self) -> int:
        """0 done; 1 everything this run tried failed, or no source could be read; 2 cancelled."""
        if self.status == "cancelled":
            return 2
        return 1 if self.unread or (self.tried and self.tried == self.tried_failed) else 0

    def to_json(self) -> dict[str, Any]:
        """The object of `exec --json`."""
        return {name: getattr(self, name) for name in _RESULT_KEYS}


_RESULT_KEYS = (
    "indexed", "skipped", "removed", "chunks", "elapsed_ms",
    "failed", "degraded", "deferred", "needs_action", "unsupported", "warnings",
    "calibration",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class StageEstimate:
    """What one provider would be asked in a run: `asked` chunks, and what that takes; `cost` in US
    dollars, None where nobody knows the price."""

    provider: str
    model: str
    asked: int = 0
    tokens: int = 0
    calls: int = 0
    minutes: float = 0.0
    cost: float | None = 0.0


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """What a run would do and cost, told without a provider call and without a write. `pages` are
    those of paged documents; `exact` where nothing had to be guessed; `basis` says what each guess
    stands on; `embedding` and `contexts` are None where the KB wants none."""

    kb_id: str
    files: int
    unchanged: int
    pages: int
    chunks: int
    embedding: StageEstimate | None
    contexts: StageEstimate | None
    tokens: int
    calls: int
    minutes: float
    cost: float | None
    exact: bool
    basis: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return asdict(self)


class RunOptions(TypedDict, total=False):
    """Keyword arguments of `run_kb`. `partial` redoes from that stage on and keeps extraction;
    `accept_deletions` believes a source that lost most of its files; `cancel` set = stop."""

    force: bool
    partial: Partial | None
    accept_deletions: bool
    progress: Callable[[Progress], None] | None
    cancel: threading.Event | None


# What `Indexing.stale` names, in words.
OLD_PARTS = {
    "extraction": "read by another version of the parsers",
    "chunking": "cut by another version or size of the chunker",
    "prompt": "contexts are of another language model or prompt",
    "contexts": "some passages have no context yet",
}


class Indexing(Protocol):
    """The port of the indexer service."""

    def enqueue(
        self, kb_id: str, *, scope: str = "full", force: bool = False, deferred: bool = False
    ) -> EnqueueResult:
        """Adds or merges a request (scope full ⊃ contextualization ⊃ embedding) and makes sure
        that a worker runs."""
        ...

    def cancel(self, kb_id: str) -> dict[str, Any]:
        """Pending entries are removed, a running one is asked to stop: `{kb_id, removed,
        stopping}`."""
        ...

    def check_changes(self, kb_id: str) -> ChangeReport:
        """Scan and diff without writing and without any provider call."""
        ...

    def stale(self, kb_id: str) -> dict[str, int]:
        """What a run would make anew though no document has changed, by how many files:
        `extraction`, `chunking`, `prompt`, `contexts`; `model` (0) for other vectors. No scan."""
        ...

    def create_kb(self, path: str, name: str = "") -> dict[str, Any]:
        """A knowledge base for a folder, by its absolute path as the indexer sees it, and its
        first run queued: `{kb_id, name, created, status}`; `created` is False for one there is."""
        ...

    def delete_kb(self, kb_id: str) -> dict[str, Any]:
        """Removes its config.json, stops its work: `{kb_id, deleted}`. `prune-orphans` removes the
        index."""
        ...

    def close(self) -> None:
        """Stops the worker that this object started, if any."""
        ...


class JobRequest(BaseModel):
    """The body of POST /v1/jobs."""

    kb_id: str
    scope: str = "full"
    force: bool = False
    deferred: bool = False


class KbRequest(BaseModel):
    """The body of POST /v1/kbs."""

    model_config = ConfigDict(extra="forbid")

    path: str = Field(max_length=4096)
    name: str = Field("", max_length=200)


class IndexingClient:
    """The indexer service at `base_url`."""

    def __init__(self, base_url: str, transport: "httpx.BaseTransport | None" = None) -> None:
        from seoga.contracts.http import Http

        self._http = Http("indexer", base_url, transport)

    def enqueue(
        self, kb_id: str, *, scope: str = "full", force: bool = False, deferred: bool = False
    ) -> EnqueueResult:
        """See Indexing."""
        body = JobRequest(kb_id=kb_id, scope=scope, force=force, deferred=deferred)
        return EnqueueResult(**self._http.json("POST", "/v1/jobs", json=body.model_dump()))

    def cancel(self, kb_id: str) -> dict[str, Any]:
        """See Indexing."""
        out: dict[str, Any] = self._http.json("POST", f"/v1/kbs/{quote(kb_id, safe='')}/cancel")
        return out

    def check_changes(self, kb_id: str) -> ChangeReport:
        """See Indexing."""
        data = self._http.json("GET", f"/v1/kbs/{quote(kb_id, safe='')}/changes")
        lists = {name: tuple(value) for name, value in data.items() if isinstance(value, list)}
        known = {field.name for field in fields(ChangeReport)}
        return ChangeReport(**{key: data[key] for key in known} | lists)

    def stale(self, kb_id: str) -> dict[str, int]:
        """See Indexing."""
        found: dict[str, int] = self._http.json("GET", f"/v1/kbs/{quote(kb_id, safe='')}/stale")
        return found

    def create_kb(self, path: str, name: str = "") -> dict[str, Any]:
        """See Indexing."""
        made: dict[str, Any] = self._http.json("POST", "/v1/kbs", json={"path": path, "name": name})
        return made

    def delete_kb(self, kb_id: str) -> dict[str, Any]:
        """See Indexing."""
        out: dict[str, Any] = self._http.json("DELETE", f"/v1/kbs/{quote(kb_id, safe='')}")
        return out

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()


def routes(engine: Indexing) -> "APIRouter":
    """The HTTP face of an engine; FastAPI runs these plain functions in its thread pool."""
    from fastapi import APIRouter

    router = APIRouter(prefix="/v1")

    @router.post("/jobs")
    def enqueue(job: JobRequest) -> dict[str, Any]:
        return engine.enqueue(
            job.kb_id, scope=job.scope, force=job.force, deferred=job.deferred
        ).to_json()

    @router.post("/kbs")
    def create_kb(request: KbRequest) -> dict[str, Any]:
        return engine.create_kb(request.path, request.name)

    @router.delete("/kbs/{kb_id}")
    def delete_kb(kb_id: str) -> dict[str, Any]:
        return engine.delete_kb(kb_id)

    @router.post("/kbs/{kb_id}/cancel")
    def cancel(kb_id: str) -> dict[str, Any]:
        return engine.cancel(kb_id)

    @router.get("/kbs/{kb_id}/changes")
    def changes(kb_id: str) -> dict[str, Any]:
        return engine.check_changes(kb_id).to_json()

    @router.get("/kbs/{kb_id}/stale")
    def stale(kb_id: str) -> dict[str, int]:
        return engine.stale(kb_id)

    return router
