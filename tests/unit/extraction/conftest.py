"""Fixtures of the extraction tests: a parser called in this process, and a real engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from seoga.models import DocumentInfo, Section, SectionKind
from seoga.settings import Settings
from seoga_extraction.detect import choose, formats
from seoga_extraction.engine import FORMATS, ExtractionEngine
from seoga_extraction.format import Input
from seoga_extraction.limits import Limits


@dataclass(frozen=True)
class Read:
    """What one document gave."""

    info: DocumentInfo
    sections: list[Section]
    figures: Mapping[str, float]

    @property
    def text(self) -> str:
        return "\n\n".join(section.text for section in self.sections)

    def of(self, kind: SectionKind) -> list[Section]:
        return [section for section in self.sections if section.kind is kind]


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Read]:
    """Detects and parses content in this process, where a failure has a stack trace."""

    def parse(name: str, data: bytes | str, options: Mapping[str, Any] | None = None) -> Read:
        path = tmp_path / "content"
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        source = Input(path, name, Limits())
        source.options = options or {}
        info, *sections = choose(source, formats(FORMATS)).parse(source)
        assert isinstance(info, DocumentInfo)
        return Read(info, [one for one in sections if isinstance(one, Section)], source.figures)

    return parse


@pytest.fixture(scope="module")
def engine() -> Iterator[ExtractionEngine]:
    """An engine with two children."""
    engine = ExtractionEngine(Settings(extract_workers=2, extract_timeout_s=30))
    yield engine
    engine.close()
