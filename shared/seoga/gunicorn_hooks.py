"""Gunicorn's hooks: metrics of dead workers are folded away, and the metrics folder goes with
the master."""

from __future__ import annotations

from typing import Any

from prometheus_client import multiprocess

from seoga.service import clean_metrics
from seoga.settings import metrics_dir


def child_exit(_: Any, worker: Any) -> None:
    """A worker has ended: its live gauges must not be shown any more."""
    mark_dead: Any = multiprocess.mark_process_dead
    mark_dead(worker.pid)


def on_exit(_: Any) -> None:
    """The master ends."""
    clean_metrics(metrics_dir())
