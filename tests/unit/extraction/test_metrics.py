"""The figures of the service: a file of each outcome through HTTP, then what /metrics says."""

from __future__ import annotations

import io
import re
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import PIL.Image
import PIL.ImageDraw
import PIL.ImageFont
import pymupdf
import pytest

from seoga import metrics
from seoga.contracts.extraction import ExtractionClient
from seoga.errors import ExtractionFailed, Reason
from seoga.settings import Settings
from seoga_extraction.engine import ExtractionEngine

HOSTILE = Path(__file__).parent / "hostile"
README = Path(__file__).parents[3] / "services" / "extraction" / "README.md"


class Figures:
    """One reading of /metrics: sums over all samples of a name whose labels are among those."""

    def __init__(self, text: str) -> None:
        self.text = text
        found = re.findall(r"^(\w+)(?:\{(.*?)\})? (\S+)$", text, re.MULTILINE)
        self._samples = [
            (name, dict(re.findall(r'(\w+)="(.*?)"', labels)), float(value))
            for name, labels, value in found
        ]

    def of(self, name: str, **labels: str) -> float:
        return sum(
            value
            for found, said, value in self._samples
            if found == name and labels.items() <= said.items()
        )


@pytest.fixture(scope="module")
def url(start_service: Callable[..., str]) -> str:
    """An extraction service whose model of speech is not there."""
    return start_service(
        "extraction",
        SEOGA_EXTRACT_WORKERS="1",
        SEOGA_WHISPER_MODEL="medium",
        SEOGA_MAX_FILE_MB="2",
        SEOGA_OFFLINE="1",
    )


@pytest.fixture
def figures(url: str) -> Callable[[], Figures]:
    return lambda: Figures(httpx.get(f"{url}/metrics", timeout=10).text)


@pytest.fixture
def send(url: str, tmp_path: Path) -> Iterator[Callable[[str, bytes], str]]:
    """Extracts bytes under a name; the outcome as the metrics name it."""
    client = ExtractionClient(url)

    def outcome(name: str, data: bytes) -> str:
        path = tmp_path / "file"
        path.write_bytes(data)
        try:
            list(client.extract(path, name))
        except ExtractionFailed as error:
            return error.reason.value
        return "text"

    yield outcome
    client.close()


def pdf(*pages: str, **options: object) -> bytes:
    with pymupdf.open() as document:
        for text in pages:
            document.new_page().insert_text((72, 72), text)
        data: bytes = document.tobytes(**options)
    return data


def bomb() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", bytes(200 << 20))
    return out.getvalue()


def blank() -> bytes:
    out = io.BytesIO()
    PIL.Image.new("L", (300, 300), 255).save(out, "PNG")
    return out.getvalue()


WAV = (
    b"RIFF\x24\x7d\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x80\x3e\x00\x00\x00\x7d\x00\x00"
)
WAV += b"\x02\x00\x10\x00data\x00\x7d\x00\x00" + bytes(32000)

FILES = {
    "markdown": ("a.md", lambda: b"# T\n\nbody", "text"),
    "pdf": ("a.pdf", lambda: pdf("one", "two"), "text"),
    "empty": ("a.md", lambda: b"", "empty"),
    "binary": ("a.bin", lambda: bytes(range(256)) * 20, "binary"),
    "unsupported": ("a.gz", lambda: b"\x1f\x8b\x08" + bytes(40), "unsupported"),
    "corrupt": ("a.pdf", lambda: b"%PDF-1.7\nnothing else", "corrupt"),
    "encrypted": (
        "a.pdf",
        lambda: pdf("x", encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="u", owner_pw="o"),
        "encrypted",
    ),
    "too_large": ("a.docx", bomb, "too_large"),
    "no_text": ("a.png", blank, "no_text"),
    "missing_model": ("a.wav", lambda: WAV, "missing_model"),
}
FORMATS = {
    "pdf": "pdf",
    "markdown": "markdown",
    "corrupt": "pdf",
    "encrypted": "pdf",
    "no_text": "image",
    "missing_model": "audio",
    "too_large": "unknown",
}


@pytest.mark.parametrize("case", FILES)
def test_each_outcome_is_counted_by_format_with_bytes_and_seconds(
    send: Callable[[str, bytes], str], figures: Callable[[], Figures], case: str
) -> None:
    name, make, outcome = FILES[case]
    data = make()
    before = figures()
    assert send(name, data) == outcome
    after = figures()
    kind = FORMATS.get(case, "unknown")

    def grown(metric: str, **labels: str) -> float:
        return after.of(metric, **labels) - before.of(metric, **labels)

    assert grown("seoga_extraction_files_total", format=kind, outcome=outcome) == 1
    assert grown("seoga_extraction_files_total") == 1
    assert grown("seoga_extraction_read_bytes_total", format=kind) == len(data)
    assert grown("seoga_extraction_file_seconds_count", format=kind) == 1
    assert grown("seoga_extraction_file_seconds_sum", format=kind) < 60
    assert grown("seoga_extraction_pages_total", how="text") == (2 if case == "pdf" else 0)


def test_recognised_pages_are_counted_with_their_time_and_confidence(
    send: Callable[[str, bytes], str], figures: Callable[[], Figures]
) -> None:
    image = PIL.Image.new("L", (1200, 300), 255)
    pen = PIL.ImageDraw.Draw(image)
    pen.text((60, 100), "Recognised words", 0, PIL.ImageFont.load_default(72))
    out = io.BytesIO()
    image.save(out, "PNG")
    before = figures()
    assert send("a.png", out.getvalue()) == "text"
    after = figures()
    pages = "seoga_extraction_pages_total"
    assert after.of(pages, how="ocr") - before.of(pages, how="ocr") == 1
    confidence = "seoga_extraction_ocr_confidence_ratio"
    assert after.of(f"{confidence}_count") - before.of(f"{confidence}_count") == 1
    assert 0.5 < after.of(f"{confidence}_sum") - before.of(f"{confidence}_sum") <= 1
    seconds = "seoga_extraction_ocr_seconds_total"
    assert after.of(seconds) > before.of(seconds)


def test_the_memory_of_the_parsers_is_told_by_lane(
    send: Callable[[str, bytes], str], figures: Callable[[], Figures]
) -> None:
    assert send("a.md", b"text") == "text"
    assert 10 < figures().of("seoga_extraction_child_mebibytes", lane="common") < 1024


def test_health_and_ready_tell_what_speech_runs_on(url: str) -> None:
    deadline = time.monotonic() + 30
    while (told := httpx.get(f"{url}/health").json()["speech"])["state"] == "testing":
        assert time.monotonic() < deadline
        threading.Event().wait(0.05)
    assert told["state"] == "off"
    assert "medium" in told["why"]
    ready = httpx.get(f"{url}/ready").json()
    assert ready["speech"]["device"] == ""
    assert "medium" in ready["speech"]["error"]


@pytest.mark.parametrize(
    ("what", "reason"),
    [("segfault", Reason.CRASH), ("spin", Reason.TIMEOUT), ("eat", Reason.OUT_OF_MEMORY)],
)
def test_a_parser_that_ends_badly_is_counted_by_how(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, reason: Reason
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(HOSTILE))
    seconds = 2 if reason is Reason.TIMEOUT else 60
    config = Settings(extract_workers=1, extract_timeout_s=seconds, extract_memory_mb=256)
    engine = ExtractionEngine(config, "seoga_hostile_formats")
    path = tmp_path / "x"
    path.write_text(f"ATTACK {what}")
    name, labels = "seoga_extraction_files_total", {"format": "attack", "outcome": reason.value}
    before = Figures(metrics.exposition("")[0].decode()).of(name, **labels)
    with pytest.raises(ExtractionFailed):
        list(engine.extract(path, "x"))
    engine.close()
    assert Figures(metrics.exposition("")[0].decode()).of(name, **labels) == before + 1


def test_every_metric_of_the_service_stands_in_the_readme(url: str) -> None:
    text = httpx.get(f"{url}/metrics").text
    named = set(re.findall(r"^# TYPE (seoga_extraction_\w+)", text, re.MULTILINE))
    assert len(named) >= 10
    readme = README.read_text(encoding="utf-8")
    assert [name for name in sorted(named) if name not in readme] == []
