"""kill -9 of the indexer in the middle of a scan: the next run goes on at the next page."""

from __future__ import annotations

import io
import time
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from seoga_extraction.ocr import tesseract

from .test_kill import finish, kill, make_base, read, start

PAGES = 6

pytestmark = pytest.mark.skipif(
    not tesseract.installed("Hangul"), reason="tesseract with its Hangul script is not installed"
)


def scanned(number: int) -> Image.Image:
    page = Image.new("L", (600, 120), 255)
    ImageDraw.Draw(page).text((20, 30), f"Scanned page number {number}", 0, font_size=40)
    return page.resize((1800, 360), Image.Resampling.BICUBIC)


def kept_pages(cache: Path) -> int:
    return sum(one.read_text("utf-8").count("\n") for one in cache.glob("recognised/*.jsonl"))


def test_a_scan_that_was_cut_off_goes_on_at_its_next_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs, cache, log = tmp_path / "docs", tmp_path / "cache", tmp_path / "log"
    docs.mkdir()
    held = io.BytesIO()
    pages = [scanned(number) for number in range(1, PAGES + 1)]
    pages[0].save(held, "TIFF", save_all=True, append_images=pages[1:])
    (docs / "fax.tif").write_bytes(held.getvalue())
    monkeypatch.setenv("SEOGA_CORES", "1")
    base = make_base(tmp_path / "base", docs)
    child = start(base, log)
    deadline = time.monotonic() + 120
    while kept_pages(cache) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    kill(child)
    before = kept_pages(cache)
    assert 2 <= before < PAGES
    lines = next(cache.glob("recognised/*.jsonl")).read_text("utf-8").splitlines()
    result = finish(start(base, log))
    assert result["failed"] == 0
    # Lines are only added: the second run kept those of the first and made the rest.
    whole = next(cache.glob("recognised/*.jsonl")).read_text("utf-8").splitlines()
    assert whole[:before] == lines
    assert len(whole) == PAGES
    text = " ".join(row[0] for row in read(base, "SELECT text FROM chunks ORDER BY ordinal"))
    assert all(f"page number {number}" in text for number in range(1, PAGES + 1))
