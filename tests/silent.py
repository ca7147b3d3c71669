"""A server that takes every connection and says nothing."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from queue import Queue


@contextmanager
def silent(came: Queue[str] | None = None) -> Iterator[str]:
    """Its address; `came` gets an entry by each connection."""
    over, taken = threading.Event(), []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.1)

        def accept() -> None:
            while not over.is_set():
                try:
                    taken.append(server.accept()[0])
                except TimeoutError:
                    continue
                if came is not None:
                    came.put("connection")

        thread = threading.Thread(target=accept)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}"
        finally:
            over.set()
            thread.join()
    for one in taken:
        one.close()
