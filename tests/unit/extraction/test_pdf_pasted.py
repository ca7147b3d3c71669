"""Scans pasted beside the typed text of a page: recognised where they show text, and once."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
from PIL import Image, ImageDraw, ImageFont

from seoga.models import Place, SectionKind
from seoga_extraction.formats.pdf.pasted import shows_lines
from seoga_extraction.ocr import tesseract

from .drawn import PARAGRAPHS, opened, page_of

Reading = Callable[..., Any]
TYPED = "Typed line {} of a cover note with several ordinary words in it."
# Where the scan stands on the page, in points.
BOX = (60, 220, 535, 480)

pytestmark = pytest.mark.skipif(
    not tesseract.installed("Hangul"), reason="tesseract with its Hangul script is not installed"
)


def scan(*numbers: int) -> Image.Image:
    """Paragraphs as a picture of that part of a page."""
    page = page_of(tuple(PARAGRAPHS[number] for number in numbers), size=40)
    return page.crop((250, 250, 2230, 1334))


def typed(picture: Image.Image, pages: int = 1, box: tuple[float, ...] = BOX) -> Any:
    """Typed lines above and below a picture."""
    held = io.BytesIO()
    picture.save(held, "PNG")
    document = opened()
    for _ in range(pages):
        page = document.new_page()
        for number in range(5):
            page.insert_text((60, 100 + 20 * number), TYPED.format(number), fontsize=10)
            page.insert_text((60, 600 + 20 * number), TYPED.format(number + 5), fontsize=10)
        page.insert_image(box, stream=held.getvalue(), keep_proportion=False)
    return document


def data(document: Any) -> bytes:
    return bytes(document.tobytes())


def test_a_pasted_scan_is_recognised_between_the_lines_that_it_stands_between(
    read: Reading,
) -> None:
    got = read("a.pdf", data(typed(scan(1, 2))))
    (mark,) = got.of(SectionKind.PAGE)
    assert mark.meta["ocr"]["confidence"] > 0.8
    assert "note" not in mark.meta
    parts = ("line 4", "only writer of a knowledge base", "전체 문서는 12,480건", "line 5")
    places = [got.text.index(part) for part in parts]
    assert places == sorted(places)
    assert all(one.place == Place(page=1) for one in got.sections)
    said = ["ocr" in one.meta for one in got.of(SectionKind.PARAGRAPH)]
    assert said[0] is said[-1] is False
    assert any(said)
    assert got.figures["ocr_pages"] == 1
    assert got.figures["ocr_seconds"] > 0


def test_strips_of_one_scan_are_recognised_as_one(read: Reading) -> None:
    whole = scan(1, 3)
    document = typed(whole.crop((0, 0, whole.width, 8)), box=(60, 220, 535, 222))
    strips = 10
    for number in range(strips):
        held = io.BytesIO()
        part = whole.height // strips
        whole.crop((0, part * number, whole.width, part * (number + 1))).save(held, "PNG")
        top = 222 + 26 * number
        document[0].insert_image(
            (60, top, 535, top + 26), stream=held.getvalue(), keep_proportion=False
        )
    got = read("a.pdf", data(document))
    assert "only writer of a knowledge base" in got.text
    assert "one process for each core" in got.text


def begun(monkeypatch: pytest.MonkeyPatch) -> list[Image.Image]:
    """The images that are recognised from now on; nothing is found on them."""
    images: list[Image.Image] = []

    def run(image: Image.Image, *how: Any) -> tesseract.Reading:
        images.append(image)
        return tesseract.Reading((), 4)

    monkeypatch.setattr(tesseract, "run", run)
    return images


def photograph() -> Image.Image:
    slope = Image.linear_gradient("L").resize((1400, 900))
    return Image.blend(slope, Image.effect_noise((1400, 900), 90), 0.4)


def chart() -> Image.Image:
    image = Image.new("L", (1400, 900), 255)
    pen = ImageDraw.Draw(image)
    for step in range(8):
        pen.line((100, 100 + 100 * step, 1350, 100 + 100 * step), 180, 3)
        top = 150 + 70 * (step * 5 % 8)
        pen.rectangle((150 + 150 * step, top, 250 + 150 * step, 800), 90)
        pen.text((150 + 150 * step, 830), f"Q{step}", 0, ImageFont.load_default(40))
    return image


def logo() -> Image.Image:
    image = Image.new("L", (1400, 700), 255)
    ImageDraw.Draw(image).text((150, 200), "SEOGA", 0, ImageFont.load_default(360))
    return image


@pytest.mark.parametrize("picture", [photograph, chart, logo])
def test_photographs_charts_and_logos_are_not_recognised(
    read: Reading, monkeypatch: pytest.MonkeyPatch, picture: Callable[[], Image.Image]
) -> None:
    images = begun(monkeypatch)
    got = read("a.pdf", data(typed(picture())))
    assert not images
    assert not got.of(SectionKind.PAGE)[0].meta
    assert "line 9" in got.text


def test_no_photograph_of_many_is_taken_for_lines_of_text() -> None:
    # The noise of each is another: a bound that is nearly met is passed by one of three.
    assert not any(shows_lines(photograph().resize((660, 361))) for _ in range(30))
    assert shows_lines(scan(1, 2).resize((660, 361)))


def test_small_pictures_and_backgrounds_are_not_recognised(
    read: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    images = begun(monkeypatch)
    read("a.pdf", data(typed(scan(1, 2), box=(60, 220, 240, 330))))
    read("a.pdf", data(typed(scan(1, 2), box=(0, 0, 595, 842))))
    assert not images


@pytest.mark.parametrize("mode", [0, 3], ids=["painted", "unpainted"])
def test_a_scan_with_text_over_it_has_been_recognised_before(read: Reading, mode: int) -> None:
    document = typed(scan(1, 2))
    for number in range(8):
        line = f"line {number} of what another program read on this picture here"
        document[0].insert_text((70, 240 + 28 * number), line, render_mode=mode)
    got = read("a.pdf", data(document))
    assert got.text.count("what another program read") == 8
    assert "ocr_pages" not in got.figures


def test_what_the_page_types_too_comes_once(read: Reading) -> None:
    document = typed(scan(1, 3))
    document[0].insert_textbox((60, 710, 535, 800), PARAGRAPHS[1], fontsize=10)
    got = read("a.pdf", data(document))
    assert got.text.count("only writer of a knowledge base") == 1
    assert "one process for each core" in got.text


def test_a_picture_on_every_page_is_recognised_on_the_first(read: Reading) -> None:
    got = read("a.pdf", data(typed(scan(1, 3), pages=3)))
    assert got.text.count("only writer of a knowledge base") == 1
    assert got.figures["ocr_pages"] == 1


@pytest.mark.parametrize(
    ("options", "why"), [({"page_s": 0.01}, "timeout"), ({"language": "xyz"}, "missing_dependency")]
)
def test_a_scan_that_cannot_be_recognised_is_told_beside_the_text(
    read: Reading, options: dict[str, Any], why: str
) -> None:
    got = read("a.pdf", data(typed(scan(1, 2))), options={"ocr": options})
    (mark,) = got.of(SectionKind.PAGE)
    assert mark.meta["ocr"] == {"error": why}
    assert mark.meta["needs_ocr"] is True
    assert "An image over 25% of the page is not recognised" in mark.meta["note"]
    assert "line 9" in got.text


def test_a_picture_of_lines_that_are_no_text_adds_none_and_is_told(read: Reading) -> None:
    picture = Image.new("L", (1400, 800), 255)
    pen = ImageDraw.Draw(picture)
    for row in range(12):
        for column in range(40):
            x, y = 40 + 33 * column, 40 + 60 * row
            pen.ellipse((x, y, x + 9 + (row * column) % 7, y + 24), 0)
    got = read("a.pdf", data(typed(picture)))
    assert not any("ocr" in one.meta for one in got.of(SectionKind.PARAGRAPH))
    assert "is not recognised beside its text" in got.of(SectionKind.PAGE)[0].meta["note"]


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_a_turned_page_keeps_its_order(read: Reading, degrees: int) -> None:
    document = typed(scan(1, 2))
    document[0].set_rotation(degrees)
    got = read("a.pdf", data(document))
    parts = ("line 4", "only writer of a knowledge base", "line 5")
    places = [got.text.index(part) for part in parts]
    assert places == sorted(places)


def test_a_page_whose_text_runs_upwards_has_its_scan_below_it(read: Reading) -> None:
    document = typed(scan(1, 2))
    page = document[0]
    for number in range(14):
        page.insert_text((20 + 2 * number, 800), TYPED.format(f"upwards {number}"), rotate=90)
    got = read("a.pdf", data(document))
    assert got.text.index("upwards 13") < got.text.index("only writer of a knowledge base")
