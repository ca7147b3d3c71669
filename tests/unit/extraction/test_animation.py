"""Animations: each frame that says something new is read, the others are told."""

from __future__ import annotations

import io
import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from PIL import Image

from seoga.errors import Reason
from seoga.models import Place, SectionKind
from seoga_extraction.ocr import tesseract
from seoga_extraction.ocr.animation import MOST_FRAMES, MOST_READ, frames

from .drawn import png, small_page

Reading = Callable[..., Any]

read_out = pytest.mark.skipif(
    not tesseract.installed("Hangul"), reason="tesseract with its Hangul script is not installed"
)


def moving(pages: Sequence[Image.Image], kind: str = "GIF", **more: Any) -> bytes:
    return png(pages[0], kind, save_all=True, append_images=pages[1:], **more)


def squares(count: int) -> list[Image.Image]:
    """Frames with a square in another place each."""
    made = [Image.new("L", (320, 240), 255) for _ in range(count)]
    for number, page in enumerate(made):
        page.paste(0, (8 * (number % 40), 8 * (number // 40), 8 * (number % 40) + 8, 240))
    return made


@read_out
@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
def test_slides_shown_one_by_one_are_all_read(read: Reading, kind: str) -> None:
    first, second = small_page("The first slide"), small_page("The quarterly report 보고서 Another")
    pages = [first, first, second, first, second.rotate(180)]
    got = read("a.gif", moving(pages, kind, duration=[900, 1000, 1000, 1000, 1000]))
    assert got.text.count("The first slide") == 1
    assert got.text.count("The quarterly report 보고서 Another") == 1
    second_place = next(one for one in got.sections if "Another" in one.text).place
    assert got.of(SectionKind.PAGE)[0].text == "## Page 1"
    assert second_place in (Place(page=2), Place(page=3))


@read_out
def test_frames_that_are_not_read_are_told(read: Reading) -> None:
    page = small_page("The only slide")
    pages = [page, page.point(lambda shade: min(shade + 3, 255)), page]
    got = read("a.gif", moving(pages, disposal=2))
    note = "Of the 3 frames of this animation, 1 that show something new are read."
    assert got.info.meta["note"] == note
    assert "note" not in read("a.gif", png(page, "GIF")).info.meta


@read_out
def test_a_frame_that_says_nothing_new_is_left_out(read: Reading) -> None:
    page = small_page("The pointer moves over this sentence")
    pointer = page.copy()
    pointer.paste(0, (4, 4, 20, 20))
    got = read("a.gif", moving([page, pointer]))
    assert got.text.count("pointer moves") == 1


@read_out
def test_an_animation_that_is_cut_off_gives_the_frames_before_and_says_so(
    events: Callable[..., Any],
) -> None:
    pages = [small_page(f"Slide of the {word}") for word in ("boat", "harbour", "island", "storm")]
    data = moving(pages)
    text, error = events("a.gif", data[: len(data) * 7 // 10])
    assert "boat" in text
    assert "harbour" in text
    assert error is not None
    assert error.reason is Reason.CORRUPT
    assert "cut off at its page or frame" in error.message


def test_of_many_frames_those_that_stand_longest_are_read_in_order() -> None:
    long = sorted(random.Random(1).sample(range(100), MOST_READ))
    durations = [500 if number in long else 100 for number in range(100)]
    with Image.open(io.BytesIO(moving(squares(100), duration=durations))) as image:
        found = frames(image)
    assert found.numbers == tuple(number + 1 for number in long)
    assert found.note == (
        "Of the 100 frames of this animation, 30 that show something new are read; "
        "70 more do, for less long, and are not."
    )


def test_of_a_video_some_frames_are_read() -> None:
    with Image.open(io.BytesIO(moving(squares(100), duration=40))) as image:
        found = frames(image)
    assert found.numbers == (1, 18, 35, 52, 69, 86)
    assert found.note.startswith("Of the 100 frames of this animation, 6 that show")


def test_what_is_looked_at_is_bounded() -> None:
    with Image.open(io.BytesIO(moving(squares(MOST_FRAMES + 20)))) as image:
        found = frames(image)
    assert found.note.endswith("; those from 501 on are not looked at.")
    large = [Image.new("L", (5000, 5000), shade) for shade in (0, 255)]
    with Image.open(io.BytesIO(moving(large))) as image:
        assert frames(image).numbers == (1,)


def test_a_picture_of_one_frame_is_that() -> None:
    with Image.open(io.BytesIO(png(squares(1)[0]))) as image:
        assert frames(image).numbers == (1,)
        assert not frames(image).note
