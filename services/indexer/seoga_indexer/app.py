"""The HTTP face of the indexing engine; threads work the queue, follow the schedule and watch the
sources while the service runs."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from seoga.contracts.indexing import routes
from seoga.kb import Kb, list_kbs
from seoga.service import build_app
from seoga.settings import Settings
from seoga.wiring import build_stack
from seoga_indexer.engine import IndexingEngine
from seoga_indexer.schedule import Scheduler
from seoga_indexer.watching import Watcher


def watch(engine: IndexingEngine, settings: Settings, stop: threading.Event) -> None:
    """Queues a run of each knowledge base whose sources change, until `stop`."""

    def ask(kb: Kb) -> bool:
        # A run in flight may have passed by what has changed: then it is asked again.
        return engine.enqueue(kb.id).status != "already_running"

    Watcher(settings, lambda: list_kbs(settings.base_path).kbs, ask).run(stop)


def create() -> FastAPI:
    """The app of one web worker; of several, the one with the queue's lease does the work."""
    stack = build_stack()
    engine = IndexingEngine(stack)

    @asynccontextmanager
    async def working() -> AsyncIterator[None]:
        engine.worker.serve()
        scheduler = Scheduler(stack.settings, engine.queue, engine)
        scheduler.start()
        stop = threading.Event()
        watching = threading.Thread(target=watch, args=(engine, stack.settings, stop), name="watch")
        if stack.settings.watch:
            watching.start()
        try:
            yield
        finally:
            stop.set()
            scheduler.close()
            if watching.ident:
                watching.join()

    def close() -> None:
        engine.close()
        stack.close()

    return build_app(
        "indexer", routes=[routes(engine)], ready=engine.ready, close=close, lifespan=working
    )
