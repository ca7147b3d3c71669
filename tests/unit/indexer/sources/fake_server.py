"""A real HTTP server on loopback whose answers a test writes, and which remembers its requests."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit


@dataclass
class Request:
    """One request as it came."""

    method: str
    path: str
    params: dict[str, str]
    headers: dict[str, str]
    body: Any = None


@dataclass
class Reply:
    """What is sent back. `cut`: the connection ends after so many bytes of the body."""

    body: Any = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None

    @property
    def sent(self) -> tuple[str, bytes]:
        if isinstance(self.body, bytes):
            return "application/octet-stream", self.body
        if isinstance(self.body, str):
            return "text/html", self.body.encode()
        return "application/json", json.dumps(self.body).encode()


class FakeServer:
    """Subclasses say `answer`; `faults` are sent first, one a request that they match."""

    prefix = ""

    def __init__(self) -> None:
        self.seen: list[Request] = []
        self.faults: list[tuple[str, Reply]] = []
        self.key = ""
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                fake._serve(self)

            def do_POST(self) -> None:
                fake._serve(self)

            def log_message(self, *_: Any) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}{self.prefix}"

    def answer(self, request: Request) -> Reply:
        raise NotImplementedError

    def fail(self, part: str, reply: Reply, times: int = 1) -> None:
        """The next requests whose path holds `part` get this reply."""
        self.faults += [(part, reply)] * times

    def calls(self, part: str = "") -> list[Request]:
        return [request for request in self.seen if part in request.path]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(handler.path)
        length = int(handler.headers.get("Content-Length", 0))
        body = json.loads(handler.rfile.read(length)) if length else None
        headers = {name.lower(): value for name, value in handler.headers.items()}
        request = Request(handler.command, parts.path, dict(parse_qsl(parts.query)), headers, body)
        self.seen.append(request)
        reply = self._reply(request)
        kind, data = reply.sent
        handler.send_response(reply.status)
        for name, value in ({"Content-Type": kind} | reply.headers).items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        if reply.cut is not None:
            handler.close_connection = True
            data = data[: reply.cut]
        with suppress(ConnectionError):
            handler.wfile.write(data)

    def _reply(self, request: Request) -> Reply:
        for number, (part, reply) in enumerate(self.faults):
            if part in request.path:
                del self.faults[number]
                return reply
        if self.key and request.headers.get("authorization") != self.key:
            return Reply({"message": "no"}, 401)
        if not request.path.startswith(self.prefix):
            return Reply("<html>not here</html>", 404)
        bare = Request(**vars(request) | {"path": request.path.removeprefix(self.prefix)})
        return self.answer(bare)


Answer = Callable[[Request], Reply]


class Scripted(FakeServer):
    """Answers what a function says."""

    def __init__(self, says: Answer) -> None:
        super().__init__()
        self._says = says

    def answer(self, request: Request) -> Reply:
        return self._says(request)
