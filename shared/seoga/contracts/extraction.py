"""Extraction: file bytes in, a stream of sections out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from seoga.models import DocumentInfo, Section

Event = DocumentInfo | Section


class Extraction(Protocol):
    """The port of the extraction service."""

    def extract(self, path: Path, name: str) -> Iterator[Event]:
        """One `DocumentInfo`, then the sections in reading order.

        `path` is a local file to read, `name` its name in the source (the extension is only a
        hint). Raises
        ExtractionFailed with a Reason, at any point of the stream; what was yielded before stands.
        """
        ...

    def describe(self) -> dict[str, Any]:
        """`{version, formats: {name: {extensions, available, why}}}`; `version` changes when
        output may change."""
        ...

    def close(self) -> None:
        """Ends the children."""
        ...
