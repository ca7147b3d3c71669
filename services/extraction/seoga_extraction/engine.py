"""The extraction engine: lends each file to a child process and passes its events on."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

from seoga import metrics
from seoga.contracts.extraction import Event, unpack
from seoga.errors import ExtractionFailed, SeogaError, ServiceUnavailable, unwire
from seoga.settings import Settings
from seoga_extraction.children import Child, Gone, Pool
from seoga_extraction.detect import formats
from seoga_extraction.limits import Limits

FORMATS = "seoga_extraction.formats"
# Raise it whenever the events of some file may differ from before: indexes extract again then.
VERSION = "1"


class ExtractionEngine:
    """Implements `Extraction` with `settings.extract_workers` children. Thread-safe.

    `package` is the folder of format modules. A child is held from the first event that is asked
    for until the last one has arrived, so one thread must not read two streams in turn.
    """

    def __init__(self, settings: Settings, package: str = FORMATS) -> None:
        self._package = package
        limits = Limits(
            time_s=settings.extract_timeout_s,
            memory_mb=settings.extract_memory_mb,
            file_mb=settings.max_file_mb,
        )
        self._pool = Pool(settings.extract_workers, package, limits)

    def extract(self, path: Path, name: str) -> Generator[Event, None, None]:
        """The events of one file, see `Extraction.extract`. Leaving the stream early is fine."""
        started = time.monotonic()
        outcome = "abandoned"
        try:
            for message in self._messages(path, name):
                for item in message["events"]:
                    yield unpack(item)
                if "error" in message:
                    raise unwire(message["error"])
            outcome = "text"
        except SeogaError as error:
            outcome = error.reason.value if isinstance(error, ExtractionFailed) else error.code
            raise
        finally:
            metrics.EXTRACTION_FILES.labels(outcome).inc()
            metrics.EXTRACTION_SECONDS.observe(time.monotonic() - started)

    def _messages(self, path: Path, name: str) -> Iterator[dict[str, Any]]:
        """The frames of one file. The child goes back before its last frame is passed on."""
        child = self._asked(path, name)
        healthy = False
        last: dict[str, Any] = {}
        try:
            for message in child.messages():
                if message.get("end"):
                    last = message
                    healthy = not message["retire"]
                else:
                    yield message
        except ExtractionFailed as error:
            if self._pool.closed:
                raise ServiceUnavailable("Extraction is closing.") from error
            raise
        finally:
            metrics.EXTRACTION_RSS.set(child.rss_mb)
            self._pool.give(child, healthy)
        yield last

    def _asked(self, path: Path, name: str) -> Child:
        """A child that has taken the request; one that died while idle is replaced."""
        for _ in range(3):
            child = self._pool.take()
            try:
                child.send(path, name)
            except Gone:
                self._pool.give(child, healthy=False)
            else:
                return child
        raise ServiceUnavailable("Extraction processes end before they take any work.")

    def describe(self) -> dict[str, Any]:
        """See `Extraction.describe`."""
        known = sorted(formats(self._package), key=lambda one: one.name)
        return {
            "version": VERSION,
            "formats": {
                one.name: {
                    "extensions": [*one.extensions, *one.names],
                    "available": not one.missing,
                    "why": f"needs {one.missing}" if one.missing else "",
                }
                for one in known
            },
        }

    def close(self) -> None:
        """Ends the children; streams that are still read end with an error."""
        self._pool.close()
