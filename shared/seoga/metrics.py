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
    if not multiprocess_dir:
        return generate_latest(REGISTRY), CONTENT_TYPE_LATEST
    registry = CollectorRegistry()
    collect: Any = MultiProcessCollector
    collect(registry, path=multiprocess_dir)
    return generate_latest(registry), CONTENT_TYPE_LATEST
