"""The git source over a URL: cloned and fetched, logins, servers that refuse, lie or hang."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
from base64 import b64encode
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from seoga.models import Source
from seoga_indexer.source import Means, SourceUnavailable, connector_for


def source(path: Path | str = "", **options: Any) -> Source:
    filters = {key: tuple(options.pop(key)) for key in ("include", "exclude") if key in options}
    return Source("git", "code", str(path), options=options, **filters)


def test_a_url_is_cloned_once_and_then_only_fetched(
    repo: Any, means: Means, tmp_path: Path, contents: Any
) -> None:
    repo.commit(**{"a.md": "one"})
    one = source(url=f"file://{repo.folder}")
    assert contents(one) == {"a.md": b"one"}
    repo.commit(**{"a.md": "two", "b.md": "b"})
    assert contents(one) == {"a.md": b"two", "b.md": b"b"}
    (clone,) = (means.cache / "git").glob("*.git")
    assert not (clone / "hooks").exists()
    # History that was rewritten on the server is followed too.
    repo.git("reset", "-q", "--hard", "HEAD~1")
    repo.commit(**{"c.md": "c"})
    assert contents(one) == {"a.md": b"one", "c.md": b"c"}


def test_a_damaged_clone_is_made_anew(repo: Any, means: Means, listed: Any, contents: Any) -> None:
    repo.commit(**{"a.md": "one"})
    one = source(url=f"file://{repo.folder}")
    listed(one)
    (clone,) = (means.cache / "git").glob("*.git")
    for pack in [*clone.glob("objects/pack/*.pack"), *clone.glob("objects/??/*")]:
        pack.unlink()
    assert contents(one) == {"a.md": b"one"}


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Callable[[], str]]:
    """A git daemon on loopback that exports everything below `tmp_path`."""
    started: list[subprocess.Popen[bytes]] = []

    def start() -> str:
        with socket.create_server(("127.0.0.1", 0)) as held:
            port = held.getsockname()[1]
        command = [
            "git", "daemon", "--reuseaddr", "--listen=127.0.0.1", f"--port={port}",
            "--export-all", f"--base-path={tmp_path}",
        ]  # fmt: skip
        process = subprocess.Popen(
            command, stderr=subprocess.PIPE, env={"PATH": os.environ["PATH"]}
        )
        started.append(process)
        for _ in range(500):
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except ConnectionRefusedError:
                assert process.poll() is None
                threading.Event().wait(0.02)
        return f"git://127.0.0.1:{port}"

    yield start
    for process in started:
        process.terminate()
        process.communicate(timeout=10)


def test_a_server_that_is_gone_makes_the_source_unavailable(
    repo: Any, daemon: Callable[[], str], free_port: int, listed: Any, contents: Any
) -> None:
    repo.commit(**{"a.md": "one"})
    server = daemon()
    assert contents(source(url=f"{server}/repo")) == {"a.md": b"one"}
    with pytest.raises(SourceUnavailable, match="cannot be fetched"):
        listed(source(url=f"git://127.0.0.1:{free_port}/repo"))
    with pytest.raises(SourceUnavailable, match="not exported"):
        listed(source(url=f"{server}/other"))


class Files(SimpleHTTPRequestHandler):
    """A bare repository as files, for those who know the key."""

    wanted = "Basic " + b64encode(b"robot:s3cret-key").decode()
    elsewhere = ""

    def do_GET(self) -> None:
        self.server.seen.append(self.headers.get("Authorization", ""))
        if self.elsewhere:
            self.send_response(301)
            self.send_header("Location", self.elsewhere + self.path)
            self.end_headers()
        elif self.headers.get("Authorization") != self.wanted:
            self.send_response(401)
            self.send_header("WWW-Authenticate", "Basic realm=x")
            self.end_headers()
        else:
            super().do_GET()

    def log_message(self, *_: Any) -> None:
        return


@pytest.fixture
def web(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """HTTP servers over `tmp_path`; `seen` holds the Authorization of each request."""
    started: list[ThreadingHTTPServer] = []

    def start(elsewhere: str = "") -> ThreadingHTTPServer:
        handler = type("Handler", (Files,), {"elsewhere": elsewhere})
        server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(tmp_path)))
        server.seen = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        started.append(server)
        return server

    yield start
    for server in started:
        server.shutdown()
        server.server_close()


def test_the_key_goes_to_the_server_in_a_header_and_nowhere_else(
    repo: Any, means: Means, tmp_path: Path, web: Callable[..., Any], contents: Any
) -> None:
    repo.commit(**{"a.md": "secret"})
    repo.git("clone", "-q", "--bare", ".", str(tmp_path / "x.git"))
    repo.git("-C", str(tmp_path / "x.git"), "update-server-info")
    server = web()
    url = f"http://127.0.0.1:{server.server_port}/x.git"
    login = {"user": "robot", "apiKeyPreset": "Forge"}
    assert contents(source(url=url, **login)) == {"a.md": b"secret"}
    assert set(server.seen) == {Files.wanted}
    left = [path.read_bytes() for path in means.cache.rglob("*") if path.is_file()]
    assert left
    assert not any(b"s3cret-key" in text or b"cm9ib3Q6" in text for text in left)


def test_a_refused_a_missing_and_a_lacking_key_are_said_by_their_names(
    web: Callable[..., Any], listed: Any
) -> None:
    server = web()
    url = f"http://127.0.0.1:{server.server_port}/x.git"
    with pytest.raises(SourceUnavailable) as caught:
        listed(source(url=url, user="other", apiKeyPreset="Forge"))
    assert "refuses the key of preset 'Forge' (FORGE_API_KEY)" in caught.value.message
    assert "s3cret-key" not in caught.value.message + caught.value.hint
    with pytest.raises(SourceUnavailable, match="'Absent' is missing: ABSENT_API_KEY is not set"):
        listed(source(url=url, apiKeyPreset="Absent"))
    with pytest.raises(SourceUnavailable, match="wants a login"):
        listed(source(url=url))


def test_a_redirect_does_not_carry_the_key_away(web: Callable[..., Any], listed: Any) -> None:
    thief = web()
    server = web(f"http://localhost:{thief.server_port}")
    url = f"http://127.0.0.1:{server.server_port}/x.git"
    with pytest.raises(SourceUnavailable):
        listed(source(url=url, user="robot", apiKeyPreset="Forge"))
    assert server.seen
    assert thief.seen == []


def test_closing_ends_a_fetch_that_hangs(means: Means) -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        connector = connector_for(source(url=f"git://127.0.0.1:{deaf.getsockname()[1]}/x"), means)
        raised: list[BaseException] = []

        def scan() -> None:
            try:
                list(connector.items())
            except SourceUnavailable as error:
                raised.append(error)

        thread = threading.Thread(target=scan)
        thread.start()
        deaf.settimeout(20)
        with deaf.accept()[0]:
            connector.close()
            thread.join(20)
        assert not thread.is_alive()
        assert raised
