"""Text recognition: how many characters are wrong, pages on their side, limits, what is missing."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw

from seoga import metrics
from seoga.errors import ExtractionFailed, Reason
from seoga.models import DocumentInfo, Place, Section, SectionKind
from seoga.settings import Settings
from seoga.text.normal import nfc
from seoga_extraction.engine import ExtractionEngine
from seoga_extraction.ocr import cleaning, tesseract
from seoga_extraction.ocr.turns import Turns

from .drawn import PARAGRAPHS, body, opened, page_of, pdf_of, png, small_page

Reading = Callable[..., Any]
pytestmark = pytest.mark.skipif(
    not tesseract.installed("Hangul"), reason="tesseract with its Hangul script is not installed"
)


def error_rate(text: str, truth: str) -> float:
    """Edits (Levenshtein) for each character of the truth, blanks counted, white space as one."""
    found = np.array([ord(one) for one in " ".join(nfc(text).split())])
    wanted = [ord(one) for one in " ".join(nfc(truth).split())]
    index = np.arange(len(found) + 1)
    row = index
    for number, letter in enumerate(wanted):
        best = np.minimum(row[:-1] + (found != letter), row[1:] + 1)
        row = np.minimum.accumulate(np.concatenate([[number + 1], best]) - index) + index
    return int(row[-1]) / len(wanted)


def test_rendered_korean_and_english_pages_have_under_one_percent_errors(read: Reading) -> None:
    got = read("a.pdf", pdf_of(page_of(PARAGRAPHS), page_of(PARAGRAPHS[::-1], size=40)))
    truth = "\n".join((*PARAGRAPHS, *PARAGRAPHS[::-1]))
    assert error_rate(body(got), truth) <= 0.01
    paragraphs = got.of(SectionKind.PARAGRAPH)
    assert len(paragraphs) == 2 * len(PARAGRAPHS)
    said = paragraphs[0].meta["ocr"]
    assert (said["mode"], said["lang"]) == (4, "Hangul")
    assert 0.85 < said["confidence"] <= 1


@pytest.mark.parametrize(
    ("name", "truth", "most"),
    [
        ("pdf/fieldcuredocumentparsers__scanned_english.pdf", "pdf/scanned_english", 0.005),
        ("pdf/fieldcuredocumentparsers__scanned_korean.pdf", "pdf/scanned_korean", 0.025),
        ("pdf_derived_scans/ko_policy_scan200.pdf", "pdf_derived_scans/ko_policy", 0.025),
        ("pdf_derived_scans/ko_policy_scan150_skew_noise.pdf", "pdf_derived_scans/ko_policy", 0.14),
        # Two columns, whose lines must not be joined across.
        ("pdf/ocrmypdf__linn.pdf", "pdf/ocrmypdf__linn", 0.08),
    ],
)
def test_real_scans_are_read_within_their_bound(
    read: Reading, handed: Path, name: str, truth: str, most: float
) -> None:
    plain = handed / f"{truth}.txt"
    wanted = plain if plain.is_file() else handed / f"{truth}.truth.txt"
    # What a page gives must not depend on what else the machine does.
    got = read(name, (handed / name).read_bytes(), options={"ocr": {"page_s": 600}})
    assert error_rate(body(got), wanted.read_text("utf-8")) <= most


@pytest.mark.parametrize("turn", ["180", "90"])
def test_pages_on_their_side_or_head_are_turned(read: Reading, handed: Path, turn: str) -> None:
    data = (handed / "pdf" / f"docling__ocr_test_rotated_{turn}.pdf").read_bytes()
    assert "Docling bundles PDF document conversion to JSON and Markdown" in read("a", data).text


def test_the_angle_of_a_skewed_page_is_found_and_a_straight_one_is_left_alone() -> None:
    page = Image.new("L", (800, 1100), 255)
    draw = ImageDraw.Draw(page)
    for y in range(100, 1000, 24):
        for x in range(100, 700, 14):
            draw.rectangle((x, y, x + 9, y + 11), fill=0)
    assert cleaning.straight(page) is page
    for angle in (-4.0, 1.3):
        skewed = page.rotate(angle, Image.Resampling.BICUBIC, fillcolor=255)
        assert cleaning.skew(skewed) == pytest.approx(-angle, abs=0.15)


def test_a_picture_without_text_says_so(read: Reading) -> None:
    sky = Image.linear_gradient("L").resize((1200, 900))
    for name, data in (("a.pdf", pdf_of(sky)), ("a.png", png(sky))):
        with pytest.raises(ExtractionFailed) as failed:
            read(name, data)
        assert failed.value.reason is Reason.NO_TEXT


@pytest.fixture
def with_settings() -> Iterator[Callable[..., ExtractionEngine]]:
    engines: list[ExtractionEngine] = []

    def make(**changes: Any) -> ExtractionEngine:
        engines.append(ExtractionEngine(Settings(extract_workers=1, **changes)))
        return engines[-1]

    yield make
    for engine in engines:
        engine.close()


def test_a_page_that_takes_too_long_is_marked_and_the_rest_goes_on(
    with_settings: Callable[..., ExtractionEngine], tmp_path: Path
) -> None:
    document = opened(pdf_of(page_of(PARAGRAPHS)))
    document.new_page().insert_text((72, 72), "the page after the scan")
    path = tmp_path / "a.pdf"
    path.write_bytes(document.tobytes())
    failed = metrics.OCR_FAILED.labels("timeout")
    before = failed._value.get()
    events = list(with_settings(ocr_page_s=0.05).extract(path, "a.pdf"))
    sections = [one for one in events if isinstance(one, Section)]
    assert sections[0].meta == {"needs_ocr": True, "ocr": {"error": "timeout"}}
    assert sections[-1].text == "the page after the scan"
    assert failed._value.get() == before + 1


def test_recognition_is_not_counted_as_time_of_the_parser(
    with_settings: Callable[..., ExtractionEngine], tmp_path: Path
) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf_of(*[page_of(PARAGRAPHS)] * 8))
    # Eight pages take longer than the seconds that the file has.
    events = list(with_settings(extract_timeout_s=5, cores=1).extract(path, "a.pdf"))
    assert isinstance(events[-1], Section)
    assert events[-1].place == Place(page=8)


def test_pages_of_text_do_not_wait_for_the_end_of_a_long_scan(
    with_settings: Callable[..., ExtractionEngine], tmp_path: Path
) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf_of(*[page_of(PARAGRAPHS[:1])] * 5))
    stream = with_settings(cores=1).extract(path, "a.pdf")
    started = time.monotonic()
    events = (one for one in stream if not isinstance(one, DocumentInfo))
    next(events)
    first = time.monotonic() - started
    for _ in events:
        pass
    assert first < 0.6 * (time.monotonic() - started)


@pytest.mark.parametrize(
    ("change", "package"),
    [("language", "tesseract-ocr-jpn"), ("program", "tesseract-ocr")],
)
def test_what_is_missing_is_named_and_pages_with_text_are_still_read(
    read: Reading, monkeypatch: pytest.MonkeyPatch, change: str, package: str
) -> None:
    options = {"ocr": {"language": "jpn"}} if change == "language" else {}
    if change == "program":
        monkeypatch.setattr(tesseract, "PROGRAM", "tesseract-that-is-not-there")
    scan = pdf_of(page_of(PARAGRAPHS[:1]))
    with pytest.raises(ExtractionFailed) as failed:
        read("a.pdf", scan, options=options)
    assert failed.value.reason is Reason.MISSING_DEPENDENCY
    assert package in failed.value.hint
    document = opened(scan)
    document.new_page().insert_text((72, 72), "text of its own")
    got = read("a.pdf", bytes(document.tobytes()), options=options)
    assert got.of(SectionKind.PAGE)[0].meta["ocr"] == {"error": "missing_dependency"}
    assert "text of its own" in got.text


@pytest.mark.parametrize("shared", [True, False])
def test_no_more_recognitions_run_at_once_than_there_are_turns(
    tmp_path: Path, shared: bool
) -> None:
    turns = Turns(str(tmp_path / "turns") if shared else "", 2)
    running: list[int] = []
    most: list[int] = []
    both = threading.Event()

    def work() -> None:
        with turns.turn():
            running.append(1)
            most.append(len(running))
            if len(running) == 2:
                both.set()
            both.wait(10)
            running.pop()

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert max(most) == 2
    turns.close()


def test_a_turn_of_another_process_is_waited_for_and_freed_when_it_dies(tmp_path: Path) -> None:
    path = str(tmp_path / "turns")
    code = (
        "import sys; from seoga_extraction.ocr.turns import Turns\n"
        f"with Turns({path!r}, 1).turn(): print('held', flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert other.stdout is not None
    assert other.stdout.readline() == b"held\n"
    turns = Turns(path, 1)
    got = threading.Event()

    def work() -> None:
        with turns.turn():
            got.set()

    thread = threading.Thread(target=work)
    thread.start()
    assert not got.wait(0.2)
    other.kill()
    assert got.wait(10)
    thread.join(10)
    other.communicate()
    turns.close()


def test_a_few_words_on_their_side_are_read_line_by_line(read: Any) -> None:
    page = Image.new("L", (1600, 900), 255)
    for row, text in enumerate(("SCANNED page two", "BETASCAN invoice", "number 4711")):
        page.paste(small_page(text), (0, 30 + 240 * row))
    got = read("a.png", png(page.rotate(90, expand=True)))
    assert " ".join(body(got).split()) == "SCANNED page two BETASCAN invoice number 4711"
