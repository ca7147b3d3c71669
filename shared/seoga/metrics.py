"""Every Prometheus metric, declared once. Names: seoga_<service>_<noun>_<unit>."""

from __future__ import annotations

from typing import Any

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector

HTTP_REQUESTS = Counter(
    "seoga_http_requests_total", "HTTP requests answered.", ("service", "route", "status")
)
HTTP_SECONDS = Histogram(
    "seoga_http_request_seconds", "Time to answer a request.", ("service", "route")
)
SERVICE_READY = Gauge(
    "seoga_service_ready_state",
    "1 when the service can do its work.",
    ("service",),
    multiprocess_mode="livemin",
)


def exposition(multiprocess_dir: str) -> tuple[bytes, str]:
    """All metrics as Prometheus text, and its content type; over all workers given a directory."""
    if not multiprocess_dir:
        return generate_latest(REGISTRY), CONTENT_TYPE_LATEST
    registry = CollectorRegistry()
    collect: Any = MultiProcessCollector
    collect(registry, path=multiprocess_dir)
    return generate_latest(registry), CONTENT_TYPE_LATEST
