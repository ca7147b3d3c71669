"""A format that is long by its nature and says so."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from seoga.models import DocumentInfo, Section
from seoga_extraction.format import Format, Input


def parse(source: Input) -> Iterator[DocumentInfo | Section]:
    yield DocumentInfo("patience")
    source.more_time(30)
    threading.Event().wait(source.limits.time_s + 0.5)
    yield Section("after")


FORMAT = Format("patience", parse, sniff=lambda source: source.head.startswith(b"PATIENCE"))
