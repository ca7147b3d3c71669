"""Images of each kind: their pages, their orientation, what is refused."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from zlib import compress, crc32

import pytest
from PIL import Image, ImageDraw, ImageFont

from seoga.contracts.extraction import Event
from seoga.errors import ExtractionFailed, Reason
from seoga.models import Place, Section, SectionKind
from seoga.settings import Settings
from seoga_extraction.engine import ExtractionEngine
from seoga_extraction.ocr import tesseract

from .drawn import A4, NANUM, png, small_page

Reading = Callable[..., Any]

pytestmark = pytest.mark.skipif(
    not tesseract.installed("Hangul"), reason="tesseract with its Hangul script is not installed"
)


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


@pytest.mark.parametrize("part", [0.4, 0.5, 0.6])
def test_the_pages_before_a_cut_through_a_tiff_are_read(
    events: Callable[..., Any], part: float
) -> None:
    pages = [small_page(f"This is page number {word}") for word in ("one", "two", "three", "four")]
    how = {"save_all": True, "append_images": pages[1:], "compression": "tiff_deflate"}
    data = png(pages[0], "TIFF", **how)
    text, error = events("fax.tif", data[: int(len(data) * part)])
    assert "number one" in text
    assert ("number two" in text) == (part > 0.5)
    assert error.reason is Reason.CORRUPT


def test_a_photograph_is_turned_by_its_exif_and_transparency_is_paper(read: Reading) -> None:
    upright = small_page("Turned by its orientation")
    exif = Image.Exif()
    exif[0x0112] = 6
    data = png(upright.rotate(90, expand=True), "JPEG", exif=exif, quality=95)
    assert "Turned by its orientation" in read("a.jpg", data).text
    clear = Image.merge("LA", (Image.new("L", upright.size, 0), upright.point(lambda v: 255 - v)))
    assert "Turned by its orientation" in read("a.png", png(clear)).text


def test_light_letters_on_nothing_are_seen(read: Reading) -> None:
    page = small_page("White on nothing 552")
    clear = Image.merge("LA", (Image.new("L", page.size, 255), page.point(lambda v: 255 - v)))
    assert "White on nothing 552" in read("a.png", png(clear)).text


def test_an_image_of_too_many_pixels_is_refused_before_it_is_unpacked(read: Reading) -> None:
    bomb = png(Image.new("1", (20_000, 20_000)))
    assert len(bomb) < 100_000
    with pytest.raises(ExtractionFailed) as failed:
        read("a.png", bomb)
    assert failed.value.reason is Reason.TOO_LARGE


def gather(events: Iterable[Event], texts: list[str]) -> None:
    """What comes before an error counts."""
    for event in events:
        texts += [event.text] if isinstance(event, Section) else []


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF"])
def test_the_rows_there_are_of_a_broken_image_are_read_and_that_some_are_missing_is_told(
    engine: ExtractionEngine, tmp_path: Path, kind: str
) -> None:
    page = Image.new("L", (1200, 1600), 255)
    page.paste(small_page("Everything above the cut"), (0, 100))
    page.paste(small_page("Nothing below it"), (0, 1300))
    data = png(page, kind)
    path = tmp_path / f"scan.{kind.lower()}"
    for left, readable in ((len(data) * 3 // 4, True), (40, False)):
        path.write_bytes(data[:left])
        texts: list[str] = []
        with pytest.raises(ExtractionFailed) as failed:
            gather(engine.extract(path, path.name), texts)
        assert failed.value.reason is Reason.CORRUPT
        assert ("Everything above the cut" in "\n".join(texts)) == readable, texts
        assert "below" not in "\n".join(texts)


def test_a_blank_page_is_not_given_to_tesseract(
    read: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tesseract, "run", None)
    pages = [Image.new("L", A4, 250)] * 3
    with pytest.raises(ExtractionFailed) as failed:
        read("a.tif", png(pages[0], "TIFF", save_all=True, append_images=pages[1:]))
    assert failed.value.reason is Reason.NO_TEXT


def test_what_recognition_lacks_is_described_so_that_indexes_try_again_once_it_is_here() -> None:
    def described(**changes: str) -> dict[str, Any]:
        engine = ExtractionEngine(Settings(extract_workers=1, **changes))
        try:
            found: dict[str, Any] = engine.describe()["formats"]["image"]
        finally:
            engine.close()
        return found

    assert described()["available"] is True
    lacking = described(ocr_language="Hangul+jpn")
    assert lacking["available"] is False
    assert "tesseract-ocr-jpn" in lacking["why"]


@pytest.mark.parametrize(("kind", "mode"), [("JPEG2000", "RGB"), ("AVIF", "RGB"), ("TIFF", "LAB")])
def test_images_of_rarer_kinds_are_read(read: Reading, kind: str, mode: str) -> None:
    page = small_page("The quarterly report 보고서")
    image = Image.merge("LAB", [page, *[Image.new("L", page.size, 128)] * 2])
    got = read("scan", png(image if mode == "LAB" else page.convert(mode), kind))
    assert "The quarterly report 보고서" in got.text


@pytest.mark.parametrize(
    ("head", "what"),
    [
        (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", "a HEIC image"),
        (b"\0\0\0\x18ftypmif1\0\0\0\0mif1heic", "a HEIF image"),
        (b"\0\0\0\x0cJXL \r\n\x87\n", "a JPEG XL image"),
    ],
)
def test_an_image_that_is_not_read_is_named_with_the_way_out(
    read: Reading, head: bytes, what: str
) -> None:
    with pytest.raises(ExtractionFailed, match=what) as failed:
        read("photo", head + bytes(200))
    assert failed.value.reason is Reason.UNSUPPORTED
    assert "PNG" in failed.value.hint


def test_a_long_screen_shot_is_as_legible_as_a_short_one(read: Reading) -> None:
    if not NANUM.is_dir():
        pytest.skip("the fonts of fonts-nanum are not installed")
    font = ImageFont.truetype(str(NANUM / "NanumGothic.ttf"), 18)
    shot = Image.new("L", (600, 6600), 255)
    draw = ImageDraw.Draw(shot)
    lines = [f"Message {number}: please confirm order 회신 바랍니다" for number in range(100, 200)]
    for number, line in enumerate(lines):
        draw.text((30, 20 + 65 * number), line, 0, font)
    # The frame of a window runs through all of it.
    draw.rectangle((5, 5, 594, 6594), outline=0)
    got = read("shot.png", png(shot))
    found = [one for one in lines if one.replace(" ", "") in got.text.replace(" ", "")]
    assert len(found) >= 95
    assert [one.text for one in got.of(SectionKind.PAGE)] == ["## Page 1"]
    assert {one.place for one in got.sections} == {Place(page=1)}
    assert got.figures["ocr_pages"] == 1


def test_an_image_that_says_to_be_huge_and_holds_nothing_is_damaged(
    engine: ExtractionEngine, tmp_path: Path
) -> None:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", crc32(kind + data))

    header = struct.pack(">IIBBBBB", 11_000, 11_000, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", compress(bytes(1000))) + chunk(b"IEND", b"")
    path = tmp_path / "huge.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + body)
    with pytest.raises(ExtractionFailed) as failed:
        gather(engine.extract(path, path.name), [])
    assert failed.value.reason is Reason.CORRUPT
