"""From routes to a running service: health, readiness, metrics, request log, errors, stop."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from seoga import __version__, logs, metrics
from seoga.errors import InvalidArgument, SeogaError, wire
from seoga.settings import Settings, environment, metrics_dir, settings
from seoga.workload import WORKLOAD

Ready = Callable[[], dict[str, Any]]
Lifespan = Callable[[], AbstractAsyncContextManager[None]]

# Web workers a service has by default; one where the engine owns a process pool or a queue.
WORKERS = {"gateway": 2, "extraction": 1, "embedding": 1, "indexer": 1}
# Long documents may be in the air at a stop; Docker waits 10 s before it kills.
GRACE_S = 8

log = logs.get("service")


def build_app(
    name: str,
    routes: Sequence[APIRouter] = (),
    ready: Ready = dict,
    close: Callable[[], None] | None = None,
    lifespan: Lifespan | None = None,
) -> FastAPI:
    """The ASGI app of a service.

    `ready` returns details when the service can work and raises a SeogaError when it cannot (503);
    what `app.state.health` returns, where a service sets it, is told by /health; `close` runs at
    the stop; `lifespan` wraps the time in between.
    """
    logs.configure(settings().log_level, settings().log_json)
    metrics.serve()

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        try:
            if lifespan is None:
                yield
            else:
                async with lifespan():
                    yield
        finally:
            if close is not None:
                await run_in_threadpool(close)

    # The pages that show the API would load scripts from another host; /openapi.json stays.
    app = FastAPI(
        title=f"Seoga {name}", version=__version__, lifespan=life, docs_url=None, redoc_url=None
    )
    app.include_router(_operations(name, ready))
    for router in routes:
        app.include_router(router)
    app.add_exception_handler(SeogaError, _on_error)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_middleware(RequestLog, service=name)
    return app


def _operations(name: str, ready: Ready) -> APIRouter:
    router = APIRouter()

    @router.get("/health")
    def health(request: Request) -> dict[str, Any]:
        more: Ready = getattr(request.app.state, "health", dict)
        return {"status": "ok", "service": name, "version": __version__, **more()}

    @router.get("/ready")
    def readiness() -> Response:
        gauge = metrics.SERVICE_READY.labels(service=name)
        try:
            details = ready()
        except SeogaError as error:
            gauge.set(0)
            return JSONResponse({"ready": False, "service": name, **wire(error)}, 503)
        gauge.set(1)
        return JSONResponse({"ready": True, "service": name, **details})

    @router.get("/metrics")
    def exposition() -> Response:
        body, media_type = metrics.exposition(metrics_dir())
        return Response(body, media_type=media_type)

    return router


async def _on_error(_: Request, error: Exception) -> Response:
    known = error if isinstance(error, SeogaError) else SeogaError(str(error))
    return JSONResponse(wire(known), known.status)


async def _on_invalid(_: Request, error: Exception) -> Response:
    first = error.errors()[0] if isinstance(error, RequestValidationError) else {}
    where = ".".join(str(part) for part in first.get("loc", ()))
    return JSONResponse(wire(InvalidArgument(f"{where}: {first.get('msg', error)}")), 400)


class RequestLog:
    """Gives every request an id, counts and times it, and gives unforeseen errors our shape."""

    def __init__(self, app: ASGIApp, service: str) -> None:
        self.app = app
        self.service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request; anything but HTTP passes through."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        sent = dict(scope["headers"]).get(b"x-request-id", b"").decode("latin-1")
        token = logs.request_id.set(sent[:64] or uuid.uuid4().hex)
        started = time.monotonic()
        status = 0
        # What is got may be a stream that only waits.
        posted = scope["method"] == "POST"

        async def observe(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                if posted and WORKLOAD.heavy:
                    message["headers"] = _closing(message.get("headers", ()))
            await send(message)

        try:
            with WORKLOAD.request() if posted else nullcontext():
                await self.app(scope, receive, observe)
        except Exception:
            log.exception("request failed", path=scope["path"])
            if status:
                raise
            status = 500
            body = wire(
                SeogaError("An internal error happened.", "The service's log has the details.")
            )
            await JSONResponse(body, 500)(scope, receive, send)
        finally:
            self._record(scope, status, time.monotonic() - started)
            logs.request_id.reset(token)

    def _record(self, scope: Scope, status: int, seconds: float) -> None:
        # The template, not the path: a label per document would grow without bound.
        route = getattr(scope.get("route"), "path", "other")
        metrics.HTTP_REQUESTS.labels(self.service, route, str(status)).inc()
        metrics.HTTP_SECONDS.labels(self.service, route).observe(seconds)
        log.debug("request", path=scope["path"], status=status, ms=round(seconds * 1000, 1))


def _closing(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    kept = [(name, value) for name, value in headers if name.lower() != b"connection"]
    return [*kept, (b"connection", b"close")]


def gunicorn_command(name: str, config: Settings) -> list[str]:
    """The command line that serves one service with gunicorn and uvicorn workers."""
    workers = config.workers or WORKERS[name]
    return [
        sys.executable,
        "-m",
        "gunicorn",
        f"seoga_{name}.app:create()",
        "--config=python:seoga.gunicorn_hooks",
        "--worker-class=uvicorn_worker.UvicornWorker",
        f"--workers={workers}",
        f"--bind={config.host}:{config.port}",
        f"--graceful-timeout={GRACE_S}",
        "--timeout=120",
        f"--worker-tmp-dir={_shared_memory()}",
        f"--log-level={config.log_level}",
        # It would lie in the home folder, where the services of one machine would share one file.
        "--no-control-socket",
    ]


def run_service(name: str, config: Settings) -> None:
    """Becomes the gunicorn of this service (exec: signals reach it directly). Does not return."""
    # Workers share counters through files; leftovers of an earlier start would count again.
    folder = tempfile.mkdtemp(prefix=f"seoga-{name}-metrics-")
    command = gunicorn_command(name, config)
    # Workers read the environment: what the command line said otherwise must be in it. The guard
    # against foreign Host headers, for one, knows the port from there.
    told = {
        "PROMETHEUS_MULTIPROC_DIR": folder,
        "SEOGA_WORKERS": str(config.workers or WORKERS[name]),
        "SEOGA_HOST": config.host,
        "SEOGA_PORT": str(config.port),
    }
    os.execve(command[0], command, environment(**told))


def _shared_memory() -> str:
    # Gunicorn's heartbeat file must not wait for a disk, and a container's root is read-only.
    memory = Path("/dev") / "shm"
    return str(memory) if os.access(memory, os.W_OK) else tempfile.gettempdir()


def clean_metrics(folder: str) -> None:
    """Removes the metrics files of a service that has stopped."""
    if folder:
        shutil.rmtree(folder, ignore_errors=True)
