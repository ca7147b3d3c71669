"""A run with its row in the history, however it ends, and whoever may stop it on the way."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from seoga import metrics
from seoga.contracts.indexing import RunResult
from seoga.contracts.stop import until
from seoga.errors import LeaseLost, SeogaError
from seoga.kb import Kb
from seoga.storage.documents import DocumentStore
from seoga_indexer.contextbatches import ContextBatches
from seoga_indexer.ports import Ports
from seoga_indexer.run import Order, Run

CANCEL_FILE = "cancel"
_LOOK_S = 0.2


def run_recorded(kb: Kb, store: DocumentStore, ports: Ports, order: Order) -> RunResult:
    """A run with its row in the history, however it ends; a second one where contexts came from a
    batch while it waited for them."""
    with _asked_by_file(kb.folder / CANCEL_FILE, order.cancel), until(order.cancel):
        batches = ContextBatches(kb, ports, order.cancel)
        batches.collect()
        result = _recorded(kb, store, ports, order)
        if batches.send_and_wait():
            again = _recorded(kb, store, ports, replace(order, force=False, partial=None))
            result = replace(again, indexed=result.indexed, warnings=again.warnings)
        return replace(result, warnings=(*result.warnings, *batches.warnings))


@contextmanager
def _asked_by_file(file: Path, cancel: threading.Event) -> Iterator[None]:
    """Sets `cancel` when the file comes, whatever the run is at."""
    over = threading.Event()

    def look() -> None:
        while not (cancel.is_set() or over.wait(_LOOK_S)):
            if file.is_file():
                cancel.set()

    if file.is_file():
        cancel.set()

    thread = threading.Thread(target=look, name="cancel-file", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _recorded(kb: Kb, store: DocumentStore, ports: Ports, order: Order) -> RunResult:
    run_id = store.begin_run(order.partial or "full", order.force)
    started = time.monotonic()
    try:
        result = Run(kb, store, ports, order).execute()
    except BaseException as error:
        metrics.INDEXER_RUNS.labels("failed").inc()
        message = error.message if isinstance(error, SeogaError) else repr(error)
        with suppress(SeogaError, LeaseLost):
            store.end_run(run_id, "failed", {}, message)
        raise
    store.end_run(run_id, result.status, result.to_json() | {"troubles": result.troubles})
    metrics.INDEXER_RUNS.labels(result.status).inc()
    metrics.INDEXER_RUN_SECONDS.observe(time.monotonic() - started)
    return result
