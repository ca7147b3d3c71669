"""Which pages of a PDF are recognised, and what then stands for them."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from seoga.models import Place, SectionKind
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
    document[0].insert_text((72, 72), "what another program read", render_mode=3)
    got = read("a.pdf", bytes(document.tobytes()))
    assert body(got) == "what another program read"
    assert "ocr_pages" not in got.figures


def test_a_font_whose_signs_mean_other_letters_is_recognised(read: Reading, handed: Path) -> None:
    name = "ocrmypdf__truetype_font_nomapping.pdf"
    assert body(read(name, (handed / "pdf" / name).read_bytes())) == "Phone"
