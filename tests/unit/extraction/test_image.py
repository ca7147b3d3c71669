"""Images of each kind: their pages, their orientation, what is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from seoga.contracts.extraction import Event
from seoga.errors import ExtractionFailed, Reason
from seoga.models import Place, Section, SectionKind
from seoga.settings import Settings
from seoga_extraction.engine import ExtractionEngine
from seoga_extraction.ocr import tesseract

from .drawn import A4, png, small_page

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
