"""Long PDFs: the first page comes at once, memory does not grow with the pages, little is added to
the time of the library."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from PIL import Image

from seoga.models import Section, SectionKind
from seoga.settings import Settings
from seoga_extraction.engine import ExtractionEngine
from seoga_extraction.formats.pdf import page as pages

from .drawn import opened, png

Reading = Callable[..., Any]
# Prints the greatest memory of reading a PDF, in KiB.
PEAK = """
import resource, sys
from pathlib import Path
from seoga_extraction.format import Input
from seoga_extraction.formats.pdf import parse
from seoga_extraction.limits import Limits
path = Path(sys.argv[1])
count = sum(1 for _ in parse(Input(path, path.name, Limits())))
print(count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def long_pdf(path: Path, count: int) -> Path:
    """Pages of fifty lines, each with a picture of its own and a small table."""
    document = opened()
    for number in range(count):
        page = document.new_page()
        lines = [f"Line {line} of page {number} says something new." for line in range(50)]
        page.insert_text((72, 60), lines, fontsize=10)
        noise = png(Image.effect_noise((120, 120), 40), "JPEG")
        page.insert_image((400, 60, 500, 160), stream=noise)
        for step in range(4):
            page.draw_line((400, 200 + 20 * step), (520, 200 + 20 * step))
            page.draw_line((400 + 40 * step, 200), (400 + 40 * step, 260))
    document.save(path)
    return path


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return long_pdf(tmp_path_factory.mktemp("long") / "600.pdf", 600)


def test_the_first_page_of_six_hundred_is_out_within_two_seconds(
    long: Path, tmp_path: Path
) -> None:
    short = long_pdf(tmp_path / "1.pdf", 1)
    engine = ExtractionEngine(Settings(extract_workers=1))
    try:
        firsts = []
        for _ in range(3):
            # A stream that is left early ends its parser: the next one has started by then.
            assert list(engine.extract(short, "short.pdf"))
            started = time.monotonic()
            stream = engine.extract(long, "long.pdf")
            got = (one for one in stream if isinstance(one, Section))
            assert next(got).text == "## Page 1"
            assert "Line 0 of page 0" in next(got).text
            firsts.append(time.monotonic() - started)
            stream.close()
        numbers = [
            one.place.page
            for one in engine.extract(long, "long.pdf")
            if isinstance(one, Section) and one.kind is SectionKind.PAGE
        ]
    finally:
        engine.close()
    assert min(firsts) < 2
    assert numbers == list(range(1, 601))


def test_memory_does_not_grow_with_the_number_of_pages(long: Path, tmp_path: Path) -> None:
    def peak(path: Path) -> int:
        done = subprocess.run(
            [sys.executable, "-c", PEAK, str(path)],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "MALLOC_ARENA_MAX": "2"},
        )
        return int(done.stdout.split()[1])

    assert peak(long) < peak(long_pdf(tmp_path / "60.pdf", 60)) + 24 * 1024


def test_paths_are_asked_for_only_on_pages_that_draw_something(
    read: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    drawings = pymupdf.Page.get_cdrawings

    def counted(page: Any, *how: Any) -> Any:
        asked.append(page.number)
        return drawings(page, *how)

    monkeypatch.setattr(pymupdf.Page, "get_cdrawings", counted)
    document = opened()
    for number in range(4):
        page = document.new_page()
        for row in range(4):
            for column in range(3):
                page.insert_text((80 + 60 * column, 114 + 20 * row), f"r{row}c{column}")
        if number == 2:
            for step in range(5):
                page.draw_line((72, 100 + 20 * step), (252, 100 + 20 * step))
            for step in range(4):
                page.draw_line((72 + 60 * step, 100), (72 + 60 * step, 180))
    got = read("a.pdf", bytes(document.tobytes()))
    assert asked == [2]
    (table,) = got.of(SectionKind.TABLE)
    assert table.place.page == 3
    assert "| r1c0 | r1c1 | r1c2 |" in table.text


def test_reading_adds_less_than_half_to_the_time_of_the_library(handed: Path) -> None:
    document = opened((handed / "pdf" / "unstructured__DA-619p.pdf").read_bytes())
    flags = pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP
    some = range(20, 120)

    def bare() -> None:
        for number in some:
            page = document[number]
            page.get_text("dict", flags=flags)
            page.get_cdrawings()

    def ours() -> None:
        for number in some:
            pages.read(document[number])

    def spent(work: Callable[[], None]) -> float:
        # CPU of this process: what else runs on the machine does not count.
        started = time.process_time()
        work()
        return time.process_time() - started

    ours()
    assert max(spent(bare) / spent(ours) for _ in range(4)) >= 0.7
