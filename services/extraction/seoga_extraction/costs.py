"""What a file cost and gave, counted for the metrics."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from seoga import metrics
from seoga.contracts.extraction import Event
from seoga.errors import ExtractionFailed, SeogaError
from seoga.models import DocumentInfo, Section, SectionKind

# Of a file whose format was not found out.
UNKNOWN = "unknown"
_Message = TypeVar("_Message")


class Costs:
    """Of one file, from the first message about it to the last."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seconds = 0.0
        self._format = UNKNOWN

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Counts the file by how the block ends; a caller that leaves early is `abandoned`."""
        outcome = "abandoned"
        try:
            yield
            outcome = "text"
        except SeogaError as error:
            outcome = error.reason.value if isinstance(error, ExtractionFailed) else error.code
            raise
        finally:
            metrics.EXTRACTION_FILES.labels(self._format, outcome).inc()
            metrics.EXTRACTION_SECONDS.labels(self._format).observe(self._seconds)
            metrics.EXTRACTION_BYTES.labels(self._format).inc(_size(self._path))

    def timed(self, messages: Generator[_Message, None, None]) -> Iterator[_Message]:
        """The messages; the time that the caller takes between them is not counted."""
        while True:
            started = time.monotonic()
            try:
                message = next(messages)
            except StopIteration:
                return
            finally:
                self._seconds += time.monotonic() - started
            yield message

    def end(self, message: Mapping[str, Any]) -> None:
        """Takes what a message says beside its events."""
        if self._format == UNKNOWN:
            self._format = message.get("format") or UNKNOWN
        if figures := message.get("figures"):
            _count(figures)

    def seen(self, event: Event) -> Event:
        """Takes an event, which is given back."""
        if isinstance(event, DocumentInfo):
            self._format = event.format or UNKNOWN
        elif isinstance(event, Section) and event.kind is SectionKind.PAGE and "ocr" in event.meta:
            ocr = event.meta["ocr"]
            metrics.OCR_CONFIDENCE.observe(ocr.get("confidence", 0))
            if reason := ocr.get("error"):
                metrics.OCR_FAILED.labels(reason).inc()
        return event


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _count(figures: Mapping[str, float]) -> None:
    recognised = figures.get("ocr_pages", 0)
    metrics.EXTRACTION_PAGES.labels("ocr").inc(recognised)
    # Pages of which a broken file told before it ended.
    metrics.EXTRACTION_PAGES.labels("text").inc(max(figures.get("pages", 0) - recognised, 0))
    metrics.OCR_SECONDS.inc(figures.get("ocr_seconds", 0))
    if audio := figures.get("audio_s"):
        metrics.SPEECH_AUDIO.inc(audio)
        metrics.SPEECH_SECONDS.inc(figures["work_s"])
        metrics.SPEECH_FACTOR.observe(figures["work_s"] / audio)


def count_finished(costs: Sequence[Sequence[Any] | None]) -> None:
    """Counts files that were finished where they were read: (format, seconds, bytes) each, None
    for one that was not."""
    told: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for cost in costs:
        if cost is not None:
            name, seconds, size = cost
            told[name] += 1
            sizes[name] += size
            metrics.EXTRACTION_SECONDS.labels(name).observe(seconds)
    for name, files in told.items():
        metrics.EXTRACTION_FILES.labels(name, "text").inc(files)
        metrics.EXTRACTION_BYTES.labels(name).inc(sizes[name])
