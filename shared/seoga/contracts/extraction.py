"""Extraction: file bytes in, a stream of sections out. Raw bytes up, NDJSON down."""

# No postponed annotations here: FastAPI reads those of the routes, whose types are imported late.
import json
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator, Sequence
from contextlib import AsyncExitStack, closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, Protocol, runtime_checkable

from seoga.contracts.places import left
from seoga.contracts.stop import until
from seoga.errors import ExtractionFailed, Reason, SeogaError, ServiceUnavailable, unwire, wire
from seoga.models import DocumentInfo, Section

if TYPE_CHECKING:
    import httpx
    from anyio import CapacityLimiter
    from fastapi import APIRouter

Event = DocumentInfo | Section

_PIECE = 256 * 1024
_LINES_BYTES = 64 * 1024
_LINES_SECONDS = 0.25


class Extraction(Protocol):
    """The port of the extraction service."""

    def extract(self, path: Path, name: str) -> Iterator[Event]:
        """One `DocumentInfo`, then the sections in reading order.

        `path` is a local file to read, `name` its name in the source (the extension is only a
        hint). Raises ExtractionFailed with a Reason, at any point of the stream; what was yielded
        before stands.
        """
        ...

    def describe(self) -> dict[str, Any]:
        """`{version, formats: {name: {extensions, available, why, version, cheap, nests,
        lane}},
        passwords, passwords_file: {path, error, hint}}`.

        A `version` changes when output may change: of all files, or of those of a format. What
        `cheap` formats give need not be kept; one that `nests` reads files inside with the others;
        those with a `lane` are read by a process of their own, one file at a time.
        `passwords` changes when other ones are tried on encrypted files; `error` says why those of
        the file cannot be used: encrypted files stay closed then, others are read.
        """
        ...

    def close(self) -> None:
        """Ends the children."""
        ...


class Made(NamedTuple):
    """What a task made of a file: `value` is one of JSON; `texts`, without NUL, and `blobs` are
    what is large, which crosses a pipe as it is."""

    value: Any
    texts: Sequence[str] = ()
    blobs: Sequence[bytes] = ()


@runtime_checkable
class Finishing(Protocol):
    """An extraction whose processes run on this machine: they can go on with what they read, which
    then crosses no pipe in between."""

    def finish(self, files: Sequence[tuple[Path, str, Any]], task: str) -> list[Made | None]:
        """What `task` made of each file (path, name, what the task is told) where it was read.

        `task` is a function `package.module:name` of (told, DocumentInfo, sections) that gives
        `Made` or None; what it is told is a value of JSON. Meant for small files of `cheap`
        formats, many at once. None for a file that must go the way of `extract`: with an error, of
        another format than a cheap one, without a result, or beside one that took its process
        down. Raises ServiceUnavailable.
        """
        ...


def pack(event: Event) -> dict[str, Any]:
    """An event as JSON; only a DocumentInfo has the key `format`."""
    return event.to_json()


def unpack(data: dict[str, Any]) -> Event:
    """Inverse of `pack`."""
    return DocumentInfo.from_json(data) if "format" in data else Section.from_json(data)


def unreadable(error: OSError, name: str) -> ExtractionFailed:
    """What a file that cannot be opened means, the same on both sides of the wire."""
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return ExtractionFailed(
            f"{name} is not there any more.", "Put it back or run again.", Reason.VANISHED
        )
    return ExtractionFailed(
        f"{name} cannot be read ({error.strerror or error}).",
        "Check its permissions.",
        Reason.UNREADABLE,
    )


class ExtractionClient:
    """`Extraction` over HTTP, with the same events and the same errors."""

    def __init__(self, base_url: str, transport: "httpx.BaseTransport | None" = None) -> None:
        from seoga.contracts.http import Http

        self._http = Http("extraction", base_url, transport)

    def extract(self, path: Path, name: str) -> Generator[Event, None, None]:
        """See `Extraction.extract`; also raises ServiceUnavailable, at any point."""
        try:
            # Opening a FIFO would wait for its writer.
            if not path.is_file() and path.exists():
                raise ExtractionFailed(
                    "This is not a regular file.", "Exclude it.", Reason.UNREADABLE
                )
            stream = path.open("rb")
        except OSError as error:
            raise unreadable(error, name) from error
        with (
            stream,
            self._http.stream(
                "POST", "/v1/extract", params={"name": name}, content=_pieces(stream)
            ) as response,
        ):
            yield from _events(response)

    def describe(self) -> dict[str, Any]:
        """See `Extraction.describe`."""
        answer: dict[str, Any] = self._http.json("GET", "/v1/formats")
        return answer

    def close(self) -> None:
        """Closes the connections; the service keeps running."""
        self._http.close()


def _pieces(stream: BinaryIO) -> Iterator[bytes]:
    while piece := stream.read(_PIECE):
        yield piece


def _events(response: "httpx.Response") -> Iterator[Event]:
    for line in _lines(response.iter_bytes()):
        data = json.loads(line)
        if "end" in data:
            return
        if "error" in data:
            raise unwire(data["error"])
        yield unpack(data)
    raise ServiceUnavailable(
        "The extraction service stopped in the middle of a document.", "Try again."
    )


def _lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    # Not httpx's iter_lines: it also splits at line separators inside strings (U+2028, U+0085).
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        yield from whole


def routes(engine: Extraction, workers: int, max_file_mb: int) -> "APIRouter":
    """`POST /v1/extract?name=` (the body is the file) and `GET /v1/formats`.

    `workers` is how many files the engine takes at once: more requests wait, without a thread.
    A body above `max_file_mb` MiB is refused.
    """
    import asyncio

    from anyio import CapacityLimiter
    from fastapi import APIRouter, Request
    from fastapi.responses import JSONResponse, StreamingResponse

    router = APIRouter()
    slots = CapacityLimiter(workers)
    threads = CapacityLimiter(workers)

    @router.post("/v1/extract")
    async def extract(request: Request, name: str) -> StreamingResponse:
        async with AsyncExitStack() as held:
            folder = held.enter_context(tempfile.TemporaryDirectory(prefix="seoga-extract-"))
            path = await _received(request.stream(), Path(folder) / "file", max_file_mb)
            stop = threading.Event()
            held.callback(asyncio.create_task(left(request, stop)).cancel)
            # One slot a stream, not a thread: a waiting request must not keep a running one
            # from its next piece.
            await slots.acquire_on_behalf_of(request)
            held.callback(slots.release_on_behalf_of, request)
            lines = held.enter_context(closing(_batches(engine.extract(path, name))))
            # The first lines decide the status: an error before any text is an HTTP error.
            read = partial(_next, lines, threads, stop)
            first = await read()
            body = _body(first, read, held.pop_all())
        return StreamingResponse(body, media_type="application/x-ndjson")

    @router.get("/v1/formats")
    def describe() -> JSONResponse:
        return JSONResponse(engine.describe())

    return router


async def _received(pieces: AsyncIterator[bytes], path: Path, max_file_mb: int) -> Path:
    """The body as a file. Raises ExtractionFailed (too_large)."""
    from anyio import to_thread

    size, limit = 0, max_file_mb << 20
    with path.open("wb") as stream:
        async for piece in pieces:
            size += len(piece)
            # Above the limit the rest is read into nothing: a client that is cut off while it
            # sends does not see the answer.
            if size <= limit:
                await to_thread.run_sync(stream.write, piece)
    if size > limit:
        raise ExtractionFailed(
            f"The file has {size >> 20} MiB; at most {max_file_mb} are read.",
            "Raise SEOGA_MAX_FILE_MB or exclude it.",
            Reason.TOO_LARGE,
        )
    return path


def _batches(events: Iterator[Event]) -> Generator[bytes, None, None]:
    """NDJSON in pieces worth sending: many small events together, a slow one soon.

    An error before the first event is raised, a later one becomes the last line.
    """
    lines: list[str] = []
    size = 0
    started = False
    due = time.monotonic() + _LINES_SECONDS
    try:
        for event in events:
            lines.append(json.dumps(pack(event), ensure_ascii=False))
            size += len(lines[-1])
            if size > _LINES_BYTES or time.monotonic() > due:
                started = True
                yield _joined(lines)
                lines, size, due = [], 0, time.monotonic() + _LINES_SECONDS
    except SeogaError as error:
        if not lines and not started:
            raise
        lines.append(json.dumps({"error": wire(error)}, ensure_ascii=False))
    else:
        lines.append('{"end": true}')
    yield _joined(lines)


def _joined(lines: list[str]) -> bytes:
    return ("\n".join(lines) + "\n").encode()


async def _next(lines: Iterator[bytes], threads: "CapacityLimiter", stop: threading.Event) -> bytes:
    from anyio import to_thread

    def piece() -> bytes:
        with until(stop):
            return next(lines, b"")

    return await to_thread.run_sync(piece, limiter=threads)


async def _body(
    piece: bytes, read: Callable[[], Awaitable[bytes]], held: AsyncExitStack
) -> AsyncIterator[bytes]:
    # A client that leaves ends this generator, and what it waits for by `stop`: the stream is
    # closed and its child is free.
    async with held:
        while piece:
            yield piece
            piece = await read()
