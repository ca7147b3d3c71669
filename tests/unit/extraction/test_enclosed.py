"""Pictures and files inside office documents are read, or told."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from typing import Any

import pytest
from PIL import Image

from seoga.errors import ExtractionFailed, Reason
from seoga.models import Place
from seoga_extraction import enclosed
from seoga_extraction.ocr import tesseract

from . import test_pptx, test_xlsx
from .drawn import PARAGRAPHS, page_of
from .test_docx import p, package
from .test_xlsx import rows, workbook

Reading = Callable[..., Any]
SAID = "only writer of a knowledge base"

pytestmark = pytest.mark.skipif(
    not tesseract.installed("Hangul"), reason="tesseract with its Hangul script is not installed"
)


def png(picture: Image.Image) -> bytes:
    held = io.BytesIO()
    picture.save(held, "PNG")
    return held.getvalue()


def scan(*numbers: int) -> bytes:
    page = page_of(tuple(PARAGRAPHS[number] for number in numbers), size=40)
    return png(page.crop((250, 250, 2230, 1334)))


def photograph() -> bytes:
    return png(Image.frombytes("RGB", (600, 400), random.Random(1).randbytes(720_000)))


def word(*pictures: bytes, text: str = "", **more: bytes) -> bytes:
    for number, data in enumerate(pictures, 1):
        more[f"word/media/image{number}.png"] = data
    return package(p(text) if text else "", **more)


def deck(*pictured: bool) -> bytes:
    """A slide each, with or without the same scan on it."""
    more: dict[str, Any] = {
        f"ppt/slides/_rels/slide{at}.xml.rels": test_pptx.relationships(
            ("r1", "image", "../media/image1.png")
        )
        for at, shown in enumerate(pictured)
        if shown
    }
    return test_pptx.deck(*("" for _ in pictured), **more, **{"ppt/media/image1.png": scan(1, 2)})


@pytest.mark.parametrize("typed", ["", "A cover page."])
def test_a_scan_in_a_word_file_is_recognised(read: Reading, typed: str) -> None:
    got = read("a.docx", word(scan(1, 2), text=typed))
    assert typed in got.text
    assert SAID in got.text
    (one, *_) = [each for each in got.sections if SAID in each.text]
    assert one.meta["ocr"]["confidence"] > 0.8
    assert one.meta["picture"] == "image1.png"
    assert one.place == Place()


def test_a_scan_on_a_slide_has_the_place_of_the_slide(read: Reading) -> None:
    got = read("a.pptx", deck(False, True))
    (one, *_) = [each for each in got.sections if SAID in each.text]
    assert one.place == Place(slide=2)


def test_a_scan_on_a_sheet_has_the_place_of_the_sheet(read: Reading) -> None:
    more: dict[str, Any] = {
        "xl/worksheets/_rels/sheet1.xml.rels": test_xlsx.relationships(
            ("d1", "drawing", "../drawings/drawing1.xml")
        ),
        "xl/drawings/drawing1.xml": "<wsDr/>",
        "xl/drawings/_rels/drawing1.xml.rels": test_xlsx.relationships(
            ("i1", "image", "../media/image1.png")
        ),
        "xl/media/image1.png": scan(1, 2),
    }
    got = read("a.xlsx", workbook(rows(["a value"]), "", **more))
    (one, *_) = [each for each in got.sections if SAID in each.text]
    assert one.place == Place(sheet="Second")


def test_a_photograph_beside_text_adds_nothing(read: Reading) -> None:
    got = read("a.docx", word(photograph(), text="A report with a photograph."))
    assert got.text.strip() == "A report with a photograph."


def test_a_document_of_pictures_without_text_is_not_called_blank(read: Reading) -> None:
    with pytest.raises(ExtractionFailed, match=r"nothing but pictures \(1\)") as caught:
        read("a.docx", word(photograph()))
    assert caught.value.reason is Reason.NO_TEXT


def test_the_same_picture_is_read_once(read: Reading) -> None:
    assert read("a.pptx", deck(True, True, True)).text.count(SAID) == 1


def test_more_pictures_than_are_read_are_counted(
    read: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(enclosed, "MOST_PICTURES", 1)
    with pytest.raises(ExtractionFailed, match="2 more pictures than the 1 that are read") as told:
        read("a.docx", word(scan(1, 2), scan(2, 1), scan(1), text="Typed."))
    assert told.value.reason is Reason.TOO_LARGE


@pytest.mark.parametrize("name", ["Microsoft_Excel_Sheet1.xlsx", "oleObject1.bin"])
def test_a_workbook_embedded_in_a_word_file_is_read(read: Reading, name: str) -> None:
    more = {f"word/embeddings/{name}": workbook(rows(["어음 만기일"]))}
    got = read("a.docx", word(text="See the workbook.", **more))
    (one,) = [each for each in got.sections if "어음 만기일" in each.text]
    assert one.heading_path[0] == f"Attachment: {name}"


def test_an_embedded_file_of_no_known_kind_is_named(read: Reading) -> None:
    got = read("a.docx", word(text="See it.", **{"word/embeddings/oleObject1.bin": b"\1\2" * 600}))
    assert "oleObject1.bin (inside the document, 1 KiB) is attached and not read" in got.text


def test_the_object_of_an_equation_is_not_named(read: Reading) -> None:
    data = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "Equation Native".encode("utf-16-le") * 40
    got = read("a.docx", word(text="See it.", **{"word/embeddings/oleObject1.bin": data}))
    assert got.text.strip() == "See it."
