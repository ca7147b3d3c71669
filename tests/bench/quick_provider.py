"""A provider that costs next to nothing, so that its own work takes no time from those who call it:
`/v1/embeddings` in OpenAI's form with answers made beforehand. An answer leaves so many seconds
after its call came; more calls at once than are allowed get a 429. `GET /tally` says what came
since the last look. For what a provider says, and its errors, there is `seoga service
fake-provider`.

    python tests/bench/quick_provider.py SECONDS CALLS      prints its port
"""

from __future__ import annotations

import asyncio
import json
import selectors
import sys
from dataclasses import asdict, dataclass
from functools import cache, partial

_HEAD = "HTTP/1.1 {} \r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n"


@dataclass
class Tally:
    """What came since the last look."""

    answered: int = 0
    refused: int = 0
    texts: int = 0
    most_at_once: int = 0
    first: float = 0.0
    last: float = 0.0


class Desk:
    """What is allowed, and what came."""

    def __init__(self, latency: float, most: int) -> None:
        self.latency, self.most = latency, most
        self.inside = 0
        self.tally = Tally()

    def enter(self, now: float) -> bool:
        """A call came; whether it may stay."""
        self.inside += 1
        self.tally.first = self.tally.first or now
        self.tally.most_at_once = max(self.tally.most_at_once, self.inside)
        return self.inside <= self.most

    def leave(self, now: float, texts: int) -> None:
        """Its answer leaves; 0 texts: it was refused."""
        self.inside -= 1
        self.tally.last = now
        self.tally.texts += texts
        if texts:
            self.tally.answered += 1
        else:
            self.tally.refused += 1


class Caller(asyncio.Protocol):
    """One connection; one call at a time, each with a `content-length`."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._loop = asyncio.get_running_loop()
        self._came = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._out = transport

    def data_received(self, data: bytes) -> None:
        self._came += data
        head, found, body = self._came.partition(b"\r\n\r\n")
        if found and len(body) >= length_of(head):
            self._came = b""
            self._called(head, body)

    def _called(self, head: bytes, body: bytes) -> None:
        if head.startswith(b"GET /tally"):
            tally, self._desk.tally = self._desk.tally, Tally()
            self._out.write(answer(200, asdict(tally)))
            return
        now = self._loop.time()
        if not self._desk.enter(now):
            self._desk.leave(now, 0)
            self._out.write(answer(429, {"error": {"message": "too many calls at once"}}))
            return
        asked = json.loads(body)
        given = asked["input"]
        count = 1 if isinstance(given, str) else len(given)
        ready = vectors(count, int(asked.get("dimensions", 64)))
        # Counted before it leaves: whoever has it may call again at once.
        self._loop.call_at(now + self._desk.latency, partial(self._leaves, ready, count))

    def _leaves(self, ready: bytes, count: int) -> None:
        self._desk.leave(self._loop.time(), count)
        self._out.write(ready)


def length_of(head: bytes) -> int:
    """What `content-length` says."""
    _, found, rest = head.lower().partition(b"\r\ncontent-length:")
    return int(rest.partition(b"\r\n")[0]) if found else 0


def answer(status: int, body: object) -> bytes:
    """A whole response."""
    content = json.dumps(body).encode()
    return _HEAD.format(status, len(content)).encode() + content


@cache
def vectors(count: int, dimension: int) -> bytes:
    """The same unit vector for each of `count` texts."""
    vector = [round(dimension**-0.5, 8)] * dimension
    data = [{"object": "embedding", "index": at, "embedding": vector} for at in range(count)]
    usage = {"prompt_tokens": 8 * count, "total_tokens": 8 * count}
    return answer(200, {"object": "list", "data": data, "usage": usage})


async def serve(latency: float, most: int) -> None:
    """Until it is ended."""
    desk = Desk(latency, most)
    server = await asyncio.get_running_loop().create_server(partial(Caller, desk), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    # Others of the library round a time-out up to the next millisecond.
    loop = asyncio.SelectorEventLoop(selectors.SelectSelector())
    loop.run_until_complete(serve(float(sys.argv[1]), int(sys.argv[2])))
