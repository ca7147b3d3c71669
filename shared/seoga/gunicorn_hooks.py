"""Gunicorn's hooks: workers know how busy the others are, metrics of dead ones are folded away, the
metrics folder goes with the master, and so do the workers of a master that was killed."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import Any

from prometheus_client import multiprocess

from seoga.service import GRACE_S, clean_metrics
from seoga.settings import metrics_dir
from seoga.workload import WORKLOAD

_LOOK_EVERY_S = 1.0


def on_starting(master: Any) -> None:
    """Ctrl-C ends a service as SIGTERM does: gunicorn's own way lets no run write down that it was
    stopped."""
    master.handle_int = master.handle_quit = master.handle_term


def pre_fork(_: Any, worker: Any) -> None:
    """A worker is about to be forked: it gets a place beside the others."""
    worker.place = WORKLOAD.claim()


def post_fork(_: Any, worker: Any) -> None:
    """This process is a worker."""
    WORKLOAD.work_at(worker.place)


def post_worker_init(worker: Any) -> None:
    """A worker is about to serve: without its master it would hold port and lease for ever."""
    watch = threading.Thread(target=_end_with, args=(worker.ppid,), name="master", daemon=True)
    watch.start()


def _end_with(master: int) -> None:
    while os.getppid() == master:
        time.sleep(_LOOK_EVERY_S)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(2 * GRACE_S)
    os._exit(1)


def child_exit(_: Any, worker: Any) -> None:
    """A worker has ended: its live gauges must not be shown any more."""
    mark_dead: Any = multiprocess.mark_process_dead
    mark_dead(worker.pid)
    WORKLOAD.release(worker.place)


def on_exit(_: Any) -> None:
    """The master ends."""
    clean_metrics(metrics_dir())
