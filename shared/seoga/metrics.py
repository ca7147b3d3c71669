"""Every Prometheus metric, declared once. Names: seoga_<service>_<noun>_<unit>."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager, nullcontext
from typing import Any

_serving = threading.Event()
_lock = threading.Lock()
_declared: list[_Metric] = []


class _Nothing:
    """What is counted where nobody asks."""

    def inc(self, _: float = 1) -> None:
        return

    observe = set = inc

    def time(self) -> AbstractContextManager[None]:
        return nullcontext()


_NOTHING = _Nothing()


class _Metric:
    """A metric of the library, made when this process begins to serve them."""

    def __init__(
        self, name: str, documentation: str, labels: tuple[str, ...] = (), **more: Any
    ) -> None:
        self._said = (name, documentation, labels)
        self._more = more
        self.real: Any = None
        _declared.append(self)

    def make(self) -> None:
        """Registers it, once."""
        import prometheus_client

        if self.real is None:
            self.real = getattr(prometheus_client, type(self).__name__)(*self._said, **self._more)

    @property
    def _used(self) -> Any:
        return self.real if _serving.is_set() else _NOTHING

    def labels(self, *values: str, **named: str) -> Any:
        """The one with these labels."""
        return self.real.labels(*values, **named) if _serving.is_set() else _NOTHING

    def inc(self, amount: float = 1) -> None:
        """Adds to a counter or a gauge."""
        self._used.inc(amount)

    def observe(self, amount: float) -> None:
        """One more value of a histogram."""
        self._used.observe(amount)


class Counter(_Metric):
    """What only grows."""


class Gauge(_Metric):
    """What goes up and down."""


class Histogram(_Metric):
    """Values by their size."""


def serve() -> None:
    """Counts from now on, for `exposition`. A process that serves no figures counts nothing: the
    library alone takes longer to load than most commands run."""
    with _lock:
        for metric in _declared:
            metric.make()
        _serving.set()


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
EXTRACTION_FILES = Counter(
    "seoga_extraction_files_total",
    "Files extracted, by format and by outcome: text, the reason of a failure, or abandoned.",
    ("format", "outcome"),
)
EXTRACTION_SECONDS = Histogram(
    "seoga_extraction_file_seconds",
    "Time to extract a file, without the time that its caller took.",
    ("format",),
    buckets=(0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000, 3600),
)
EXTRACTION_BYTES = Counter(
    "seoga_extraction_read_bytes_total", "Bytes of the files extracted.", ("format",)
)
EXTRACTION_RSS = Gauge(
    "seoga_extraction_child_mebibytes",
    "Memory that the parser processes of a lane (common, speech) hold together.",
    ("lane",),
    multiprocess_mode="livesum",
)
EXTRACTION_PAGES = Counter(
    "seoga_extraction_pages_total", "Pages read, by what gave their text: text or ocr.", ("how",)
)
OCR_SECONDS = Counter("seoga_extraction_ocr_seconds", "Seconds spent recognising pages.")
OCR_FAILED = Counter(
    "seoga_extraction_ocr_failed_pages_total",
    "Pages that should have been recognised and were not, by reason.",
    ("reason",),
)
OCR_CONFIDENCE = Histogram(
    "seoga_extraction_ocr_confidence_ratio",
    "How sure the recognition of a page is; 0 where it failed.",
    buckets=(0.3, 0.5, 0.6, 0.7, 0.78, 0.85, 0.9, 0.95, 1),
)
SPEECH_AUDIO = Counter("seoga_extraction_speech_audio_seconds", "Seconds of sound transcribed.")
SPEECH_SECONDS = Counter("seoga_extraction_speech_work_seconds", "Seconds spent transcribing.")
SPEECH_FACTOR = Histogram(
    "seoga_extraction_speech_realtime_ratio",
    "Seconds of work for a second of sound, a recording each.",
    buckets=(0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 1, 2, 5),
)
SPEECH_DEVICE = Gauge(
    "seoga_extraction_speech_device_state",
    "1 for the device and model that speech runs on.",
    ("device", "model"),
    multiprocess_mode="livemax",
)

PROVIDER_CALLS = Counter(
    "seoga_embedding_provider_calls_total",
    "Calls to providers, by outcome: ok or the class of the error.",
    ("provider", "outcome"),
)
PROVIDER_SECONDS = Histogram(
    "seoga_embedding_provider_call_seconds",
    "Time of a call to a provider.",
    ("provider",),
    buckets=(0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180),
)
PROVIDER_TOKENS = Counter(
    "seoga_embedding_provider_tokens_total",
    "Tokens that providers counted, by use: embed, or in and out of a context.",
    ("provider", "use"),
)

INDEXER_FILES = Counter(
    "seoga_indexer_files_total", "Files indexed, by outcome or reason.", ("outcome",)
)
INDEXER_CHUNKS = Counter(
    "seoga_indexer_chunks_total", "Chunks that came back from embedding.", ("outcome",)
)
INDEXER_RUNS = Counter("seoga_indexer_runs_total", "Indexing runs, by how they ended.", ("status",))
INDEXER_RUN_SECONDS = Histogram(
    "seoga_indexer_run_seconds",
    "Time of an indexing run.",
    buckets=(1, 5, 15, 60, 300, 1800, 7200, 28800),
)
GATEWAY_CALLS = Counter(
    "seoga_gateway_calls_total", "MCP tool calls, by outcome or error code.", ("tool", "outcome")
)
GATEWAY_CALL_SECONDS = Histogram(
    "seoga_gateway_call_seconds", "Time to answer an MCP tool call.", ("tool",)
)


def exposition(multiprocess_dir: str) -> tuple[bytes, str]:
    """All metrics as Prometheus text, and its content type; over all workers given a directory."""
    from prometheus_client import (
        CONTENT_TYPE_LATEST,
        REGISTRY,
        CollectorRegistry,
        generate_latest,
    )
    from prometheus_client.multiprocess import MultiProcessCollector

    if not multiprocess_dir:
        return generate_latest(REGISTRY), CONTENT_TYPE_LATEST
    registry = CollectorRegistry()
    collect: Any = MultiProcessCollector
    collect(registry, path=multiprocess_dir)
    return generate_latest(registry), CONTENT_TYPE_LATEST
