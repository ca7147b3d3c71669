"""Fixtures of the extraction tests: a parser called in this process, and a real engine."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from seoga.errors import ExtractionFailed, Reason
from seoga.models import DocumentInfo, Section, SectionKind
from seoga.settings import Settings
from seoga_extraction.detect import choose, formats
from seoga_extraction.engine import FORMATS, ExtractionEngine
from seoga_extraction.format import Input
from seoga_extraction.limits import Limits
from seoga_extraction.speech.weights import lacking

from .recordings import told


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


@pytest.fixture
def events(tmp_path: Path) -> Callable[[str, bytes], tuple[str, ExtractionFailed | None]]:
    """The text that a file gives before its end, and the failure that is told there."""

    def parse(name: str, data: bytes) -> tuple[str, ExtractionFailed | None]:
        path = tmp_path / "content"
        path.write_bytes(data)
        source = Input(path, name, Limits())
        texts: list[str] = []
        try:
            for event in choose(source, formats(FORMATS)).parse(source):
                texts += [event.text] if isinstance(event, Section) else []
        except ExtractionFailed as error:
            return "\n\n".join(texts), error
        return "\n\n".join(texts), None

    return parse


@pytest.fixture(scope="module")
def engine() -> Iterator[ExtractionEngine]:
    """An engine with two children."""
    engine = ExtractionEngine(Settings(extract_workers=2, extract_timeout_s=30))
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def speech_settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings whose cache keeps the joined model for this module."""
    cache = tmp_path_factory.mktemp("cache")
    made = Settings(cache_path=cache, whisper_device="cpu", offline=True, extract_workers=1)
    if why := lacking(told(made)):
        pytest.skip(why)
    return made


@pytest.fixture(scope="module")
def speech(speech_settings: Settings) -> Iterator[ExtractionEngine]:
    """One engine: its speech process loads the model once."""
    engine = ExtractionEngine(speech_settings)
    yield engine
    engine.close()


# What any file may cost.
MOST_MIB = 960


class Watch(threading.Thread):
    """The most MiB that a child of this process held while it was watched."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most = 0
        self._end = threading.Event()

    def run(self) -> None:
        while not self._end.wait(0.02):
            for child in psutil.Process().children():
                with suppress(psutil.Error):
                    self.most = max(self.most, child.memory_info().rss >> 20)

    def stop(self) -> None:
        self._end.set()
        self.join()


@dataclass(frozen=True)
class Outcome:
    """How one file ended."""

    reason: Reason | None
    message: str
    format: str
    text: str
    seconds: float
    hint: str = ""


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExtractionEngine]:
    """An engine of one child: what it is left with serves the next file."""
    given = tmp_path_factory.mktemp("given") / "passwords"
    given.write_text("123456\n")
    settings = Settings(
        cache_path=tmp_path_factory.mktemp("cache"),
        offline=True,
        extract_workers=1,
        extract_timeout_s=240,
        ocr_page_s=20,
        passwords_file=str(given),
    )
    engine = ExtractionEngine(settings)
    yield engine
    engine.close()


@pytest.fixture
def attempt(attacked: ExtractionEngine, tmp_path: Path) -> Iterator[Callable[[str, Path], Outcome]]:
    """Extracts a file, then an innocent one; the whole test stays within the memory allowed."""
    innocent = tmp_path / "innocent"
    innocent.write_text("# Next\n\nserved")
    watch = Watch()
    watch.start()

    def read(name: str, path: Path) -> Outcome:
        kind, texts, reason, message, hint = "", [], None, "", ""
        started = time.monotonic()
        try:
            for event in attacked.extract(path, name):
                if isinstance(event, DocumentInfo):
                    kind = event.format
                else:
                    texts.append(event.text)
        except ExtractionFailed as error:
            reason, message, hint = error.reason, error.message, error.hint
        seconds = time.monotonic() - started
        after = [one.text for one in attacked.extract(innocent, "a.md") if isinstance(one, Section)]
        assert after == ["# Next", "served"]
        return Outcome(reason, message, kind, "\n".join(texts), seconds, hint)

    yield read
    watch.stop()
    assert watch.most < MOST_MIB
