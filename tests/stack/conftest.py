"""The fake provider for tests of several services together."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest
import uvicorn

from seoga_embedding.fake.app import create


class _Server(uvicorn.Server):
    """Says when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listens = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listens.set()


@pytest.fixture(scope="session")
def fake_provider() -> Iterator[str]:
    """The address of a fake provider; `DELETE /fake` brings it back to its start."""
    server = _Server(uvicorn.Config(create(), port=0, log_level="critical"))
    thread = threading.Thread(target=server.run)
    thread.start()
    assert server.listens.wait(20)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(20)
