"""The HTTP face of the indexing engine; threads work the queue and follow the schedule while the
service runs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from seoga.contracts.indexing import routes
from seoga.service import build_app
from seoga.wiring import build_stack
from seoga_indexer.engine import IndexingEngine
from seoga_indexer.schedule import Scheduler


def create() -> FastAPI:
    """The app of one web worker; of several, the one with the queue's lease does the work."""
    stack = build_stack()
    engine = IndexingEngine(stack)

    @asynccontextmanager
    async def working() -> AsyncIterator[None]:
        engine.worker.serve()
        scheduler = Scheduler(stack.settings, engine.queue, engine)
        scheduler.start()
        try:
            yield
        finally:
            scheduler.close()

    def close() -> None:
        engine.close()
        stack.close()

    return build_app(
        "indexer", routes=[routes(engine)], ready=engine.ready, close=close, lifespan=working
    )
