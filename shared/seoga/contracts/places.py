"""Where the work of requests is done: threads apart for everyone who may keep them waiting, and an
end to it when the one who asked has left."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from seoga.contracts.stop import until

if TYPE_CHECKING:
    from anyio import CapacityLimiter
    from starlette.requests import Request

T = TypeVar("T")

# Threads for those who wait for the same one; more requests to it wait without a thread.
_PLACES = 64
# So many of them are remembered; who has nothing under way is forgotten first.
_KNOWN = 256


class Places:
    """Used in one event loop."""

    def __init__(self, most: int = _PLACES) -> None:
        self._most = most
        self._limiters: OrderedDict[str, CapacityLimiter] = OrderedDict()

    async def work(self, whom: str, request: Request, task: Callable[[], T]) -> T:
        """What `task` returns or raises, done in one of the threads for `whom`. `stop.stopped` is
        true in it once the client has closed the connection."""
        # Only a service needs an event loop; short commands import this module too.
        import asyncio

        from anyio import to_thread

        stop = threading.Event()
        leaving = asyncio.create_task(left(request, stop))
        try:
            return await to_thread.run_sync(
                partial(_until, stop, task), limiter=self._limiter(whom)
            )
        finally:
            leaving.cancel()

    def _limiter(self, whom: str) -> CapacityLimiter:
        from anyio import CapacityLimiter

        if whom not in self._limiters:
            idle = [one for one, limiter in self._limiters.items() if not limiter.borrowed_tokens]
            for one in idle[: max(0, len(self._limiters) + 1 - _KNOWN)]:
                del self._limiters[one]
            self._limiters[whom] = CapacityLimiter(self._most)
        return self._limiters[whom]


def _until(stop: threading.Event, task: Callable[[], T]) -> T:
    with until(stop):
        return task()


async def left(request: Request, stop: threading.Event) -> None:
    """Sets `stop` when the client closes the connection; its body is read already."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    stop.set()
