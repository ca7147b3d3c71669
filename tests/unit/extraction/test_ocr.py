"""Text recognition: how many characters are wrong, pages on their side, limits, what is missing."""

from __future__ import annotations

import io
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from seoga.errors import ExtractionFailed, Reason
from seoga.models import DocumentInfo, Place, Section, SectionKind
from seoga.settings import Settings
from seoga.text.normal import nfc
from seoga_extraction.engine import ExtractionEngine
from seoga_extraction.ocr import cleaning, tesseract
from seoga_extraction.ocr.turns import Turns

Reading = Callable[..., Any]
NANUM = Path("/usr/share/fonts/truetype/nanum")
A4 = (2480, 3508)
PARAGRAPHS = (
    "서고는 팀의 문서를 색인하고 에이전트가 검색하게 하는 지식 저장소입니다. 모든 인용은 원본의 "
    "쪽, 시트, 줄 번호를 가리키며, 답이 없으면 없다고 말합니다.",
    "The indexer is the only writer of a knowledge base. Readers open the same file read-only and "
    "never wait for it, even while thousands of documents are being indexed.",
    "2026년 3월 15일 현재 전체 문서는 12,480건이고, 그중 96.3%가 정상적으로 색인되었습니다. "
    "나머지 460건은 암호가 걸려 있거나 글자가 없는 파일입니다.",
    "Scanned pages are recognised at 300 dpi with one process for each core; the confidence of "
    "each page is stored with its chunks.",
    "배포 절차: 먼저 시험 환경에서 전체 검사를 실행하고, 통과하면 운영 환경에 반영합니다. 문제가 "
    "생기면 5분 안에 이전 판으로 되돌립니다.",
)

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


def page_of(texts: tuple[str, ...], size: int = 46) -> Image.Image:
    """An A4 page at 300 dpi with wrapped paragraphs in Nanum Gothic (46 pixels: 11 points)."""
    if not NANUM.is_dir():
        pytest.skip("the fonts of fonts-nanum are not installed")
    font = ImageFont.truetype(str(NANUM / "NanumGothic.ttf"), size)
    page = Image.new("L", A4, 255)
    draw = ImageDraw.Draw(page)
    y = 300.0
    for text in texts:
        line = ""
        for word in text.split():
            if draw.textlength(f"{line} {word}", font) > A4[0] - 600:
                draw.text((300, y), line, 0, font)
                y, line = y + size * 1.6, ""
            line = f"{line} {word}".strip()
        draw.text((300, y), line, 0, font)
        y += size * 3
    return page


def opened(data: bytes = b"") -> Any:
    """A PDF of these bytes, or a new one; the library has no types worth the name."""
    pymupdf = import_module("pymupdf")
    return pymupdf.open("pdf", data) if data else pymupdf.open()


def pdf_of(*pages: Image.Image) -> bytes:
    document = opened()
    for image in pages:
        held = io.BytesIO()
        image.save(held, "PNG")
        page = document.new_page(width=image.width * 0.24, height=image.height * 0.24)
        page.insert_image(page.rect, stream=held.getvalue())
    return bytes(document.tobytes())


def body(read: Any) -> str:
    return "\n".join(one.text for one in read.sections if one.kind is not SectionKind.PAGE)


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
    rate = error_rate(body(read(name, (handed / name).read_bytes())), wanted.read_text("utf-8"))
    assert rate <= most


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


def test_only_the_page_that_is_a_scan_is_recognised(read: Reading, handed: Path) -> None:
    name = "ko_policy_mixed_text_scan.pdf"
    got = read(name, (handed / "pdf_derived_scans" / name).read_bytes())
    first, second = got.of(SectionKind.PAGE)
    assert not first.meta
    assert second.meta["ocr"]["confidence"] > 0.8
    assert got.sections[-1].place == Place(page=2)
    assert got.sections[-1].meta["ocr"] == second.meta["ocr"]


def test_a_scan_behind_a_line_of_text_is_recognised_and_its_line_comes_once(read: Reading) -> None:
    document = opened(pdf_of(page_of(PARAGRAPHS[:2])))
    document[0].insert_text((72, 40), "Received 2026-03-15", fontsize=12)
    text = read("a.pdf", bytes(document.tobytes())).text
    assert "only writer of a knowledge base" in text
    assert text.count("Received") == 1


def test_text_that_a_recognition_left_is_not_recognised_again(read: Reading) -> None:
    document = opened(pdf_of(page_of(PARAGRAPHS[:1])))
    document[0].insert_text((72, 72), "what another program read", render_mode=3)
    got = read("a.pdf", bytes(document.tobytes()))
    assert body(got) == "what another program read"
    assert "ocr_pages" not in got.figures


def test_a_font_whose_signs_mean_other_letters_is_recognised(read: Reading, handed: Path) -> None:
    name = "ocrmypdf__truetype_font_nomapping.pdf"
    assert body(read(name, (handed / "pdf" / name).read_bytes())) == "Phone"


def test_a_picture_without_text_says_so(read: Reading) -> None:
    sky = Image.linear_gradient("L").resize((1200, 900))
    for name, data in (("a.pdf", pdf_of(sky)), ("a.png", png(sky))):
        with pytest.raises(ExtractionFailed) as failed:
            read(name, data)
        assert failed.value.reason is Reason.NO_TEXT


def png(image: Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    held = io.BytesIO()
    image.save(held, kind, **options)
    return held.getvalue()


def small_page(text: str) -> Image.Image:
    if not NANUM.is_dir():
        pytest.skip("the fonts of fonts-nanum are not installed")
    page = Image.new("L", (1700, 220), 255)
    font = ImageFont.truetype(str(NANUM / "NanumGothic.ttf"), 60)
    ImageDraw.Draw(page).text((60, 70), text, 0, font)
    return page


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", "WEBP", "BMP", "GIF"])
def test_images_of_each_kind_are_read_whatever_they_are_named(read: Reading, kind: str) -> None:
    got = read("scan", png(small_page("The quarterly report 보고서"), kind))
    assert "The quarterly report 보고서" in got.text
    assert got.info.format == "image"


def test_each_page_of_a_tiff_has_its_place(read: Reading) -> None:
    pages = [small_page(f"This is page number {word}") for word in ("one", "two", "three")]
    got = read("fax.tif", png(pages[0], "TIFF", save_all=True, append_images=pages[1:]))
    assert [one.text for one in got.of(SectionKind.PAGE)] == [f"## Page {n}" for n in (1, 2, 3)]
    second = next(one for one in got.sections if "two" in one.text)
    assert second.place == Place(page=2)


def test_a_photograph_is_turned_by_its_exif_and_transparency_is_paper(read: Reading) -> None:
    upright = small_page("Turned by its orientation")
    exif = Image.Exif()
    exif[0x0112] = 6
    data = png(upright.rotate(90, expand=True), "JPEG", exif=exif, quality=95)
    assert "Turned by its orientation" in read("a.jpg", data).text
    clear = Image.merge("LA", (Image.new("L", upright.size, 0), upright.point(lambda v: 255 - v)))
    assert "Turned by its orientation" in read("a.png", png(clear)).text


def test_an_image_of_too_many_pixels_is_refused_before_it_is_unpacked(read: Reading) -> None:
    bomb = png(Image.new("1", (20_000, 20_000)))
    assert len(bomb) < 100_000
    with pytest.raises(ExtractionFailed) as failed:
        read("a.png", bomb)
    assert failed.value.reason is Reason.TOO_LARGE


def test_a_broken_image_is_corrupt(read: Reading) -> None:
    data = png(small_page("cut off in the middle"))
    for cut in (data[:40], data[: len(data) // 2]):
        with pytest.raises(ExtractionFailed) as failed:
            read("a.png", cut)
        assert failed.value.reason is Reason.CORRUPT


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
    events = list(with_settings(ocr_page_s=0.05).extract(path, "a.pdf"))
    sections = [one for one in events if isinstance(one, Section)]
    assert sections[0].meta == {"needs_ocr": True, "ocr": {"error": "timeout"}}
    assert sections[-1].text == "the page after the scan"


def test_recognition_is_not_counted_as_time_of_the_parser(
    with_settings: Callable[..., ExtractionEngine], tmp_path: Path
) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf_of(*[page_of(PARAGRAPHS)] * 4))
    # Four pages take longer than the second that the file has.
    events = list(with_settings(extract_timeout_s=1, cores=1).extract(path, "a.pdf"))
    assert isinstance(events[-1], Section)
    assert events[-1].place == Place(page=4)


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
