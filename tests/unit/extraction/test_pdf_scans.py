"""Which pages of a PDF are recognised, and what then stands for them."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from seoga.models import Place, SectionKind
from seoga_extraction.formats.pdf.page import read as layer
from seoga_extraction.ocr import tesseract

from .drawn import PARAGRAPHS, body, opened, page_of, pdf_of

Reading = Callable[..., Any]

pytestmark = pytest.mark.skipif(
    not tesseract.installed("Hangul"), reason="tesseract with its Hangul script is not installed"
)


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


LINES = (
    "Seoga Archive of Administrative Records, Volume 12, Second Series, Reading Room Copy",
    "Reproduced for study only. Any further distribution needs the consent of the archive.",
    "Digitised 2026-03-15 by the records office, order 4711-0815, batch 16, operator 23",
    "Archive copy, shelf mark KR/Se 114.8, sheet 7 recto, colour target omitted",
)


def behind(document: Any) -> Any:
    """A page with more than 200 letters of header and footer."""
    for number, line in enumerate(LINES):
        y = 20 + 10 * number if number < 2 else 805 + 10 * (number - 2)
        document[0].insert_text((60, y), line, fontsize=8)
    return document


def test_a_scan_behind_long_headers_and_footers_is_recognised(read: Reading) -> None:
    assert sum(map(len, LINES)) > 300
    got = read("a.pdf", bytes(behind(opened(pdf_of(page_of(PARAGRAPHS[:3])))).tobytes()))
    assert got.of(SectionKind.PAGE)[0].meta["ocr"]["confidence"] > 0.8
    assert "only writer of a knowledge base" in got.text
    assert "Reproduced for study only" in got.text


def scanned(document: Any) -> list[bool]:
    return [layer(page).scan for page in opened(bytes(document.tobytes()))]


def test_a_watermark_said_again_and_again_is_no_body() -> None:
    document = opened(pdf_of(page_of(PARAGRAPHS[:2])))
    for number in range(12):
        document[0].insert_text((60, 80 + 60 * number), "CONFIDENTIAL - DRAFT COPY", fontsize=28)
    assert scanned(document) == [True]


def test_a_page_of_text_over_a_picture_or_beside_a_figure_is_not_recognised() -> None:
    held = io.BytesIO()
    Image.effect_noise((800, 1000), 60).save(held, "PNG")
    text = " ".join(PARAGRAPHS[i] for i in (1, 3))
    document = opened()
    for _ in range(4):
        document.new_page()
    full, figure, slide, table = document
    full.insert_image(full.rect, stream=held.getvalue())
    full.insert_textbox((60, 60, 540, 780), text * 5, fontsize=10)
    figure.insert_image((60, 60, 540, 500), stream=held.getvalue())
    figure.insert_textbox((60, 520, 540, 700), text, fontsize=10)
    slide.insert_image(slide.rect, stream=held.getvalue())
    slide.insert_textbox((60, 200, 540, 780), text, fontsize=20)
    table.insert_image(table.rect, stream=held.getvalue())
    for row in range(6):
        for column in range(4):
            x, y = 60 + 120 * column, 100 + 20 * row
            table.draw_rect((x, y, x + 120, y + 20))
            table.insert_text((x + 4, y + 14), f"cell {row} {column} words", fontsize=8)
    assert scanned(document) == [False, False, False, False]


@pytest.mark.parametrize("number", ["5", "- 12 -", "Page 7 of 600", "xii", "3쪽"])
def test_a_page_of_its_number_alone_is_recognised_only_where_its_body_is_an_image(
    read: Reading, monkeypatch: pytest.MonkeyPatch, number: str
) -> None:
    begun: list[Image.Image] = []

    def run(image: Image.Image, *how: Any) -> tesseract.Reading:
        begun.append(image)
        return tesseract.Reading((), 4)

    monkeypatch.setattr(tesseract, "run", run)
    document = opened()
    font = {"fontname": "korea"} if "쪽" in number else {}
    for _ in range(2):
        page = document.new_page()
        page.insert_text((290, 800), number, **font)
        page.draw_line((72, 780), (520, 780))
    got = read("a.pdf", bytes(document.tobytes()))
    assert number in got.text
    assert not begun
    # A body that leaves wide margins: a quarter of the page.
    held = io.BytesIO()
    Image.effect_noise((800, 1000), 60).save(held, "PNG")
    document[1].insert_image((150, 150, 430, 600), stream=held.getvalue())
    got = read("a.pdf", bytes(document.tobytes()))
    assert [("ocr" in one.meta) for one in got.of(SectionKind.PAGE)] == [False, False]
    assert len({image.size for image in begun}) == 1


def test_text_that_a_recognition_left_is_not_recognised_again(read: Reading) -> None:
    document = opened(pdf_of(page_of(PARAGRAPHS[:1])))
    for number in range(6):
        line = f"line {number} of what another program read on this page"
        document[0].insert_text((72, 72 + 20 * number), line, render_mode=3)
    got = read("a.pdf", bytes(document.tobytes()))
    assert got.text.count("what another program read") == 6
    assert "ocr_pages" not in got.figures


@pytest.mark.parametrize("stamp", ["Scanned with CamScanner", "ACME-000123"])
def test_a_stamp_that_is_not_painted_is_kept_and_does_not_stand_for_its_scan(
    read: Reading, stamp: str
) -> None:
    document = opened(pdf_of(page_of(PARAGRAPHS[:2])))
    document[0].insert_text((72, 820), stamp, render_mode=3, fontsize=8)
    got = read("a.pdf", bytes(document.tobytes()))
    assert "only writer of a knowledge base" in got.text
    assert got.sections[-1].text == stamp
    assert got.figures["ocr_pages"] == 1


def test_a_font_whose_signs_mean_other_letters_is_recognised(read: Reading, handed: Path) -> None:
    name = "ocrmypdf__truetype_font_nomapping.pdf"
    assert body(read(name, (handed / "pdf" / name).read_bytes())) == "Phone"
