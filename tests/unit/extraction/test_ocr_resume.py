"""kill -9 in the middle of a scan: no page that was recognised is recognised again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import psutil
import pytest

from seoga_extraction.ocr import tesseract

from .drawn import counting_tesseract, opened, page_of, pdf_of, png, small_page

WORDS = ("one", "two", "three", "four", "five", "six")
# Prints the page and the text of each section; its cache is the second argument.
READER = """
import sys
from pathlib import Path
from seoga.models import Section
from seoga.settings import Settings
from seoga_extraction.engine import ExtractionEngine
engine = ExtractionEngine(Settings(extract_workers=1, cores=1, cache_path=Path(sys.argv[2])))
for one in engine.extract(Path(sys.argv[1]), "scan"):
    if isinstance(one, Section):
        print(one.place.page, one.text, flush=True)
engine.close()
"""

pytestmark = pytest.mark.skipif(
    not tesseract.installed("Hangul"), reason="tesseract with its Hangul script is not installed"
)


def scan(kind: str) -> bytes:
    if kind == "pasted":
        return pasted()
    pages = [small_page(f"This is page number {word}") for word in WORDS]
    if kind == "pdf":
        return pdf_of(*pages)
    return png(pages[0], "TIFF", save_all=True, append_images=pages[1:])


def pasted() -> bytes:
    """Pages of typed text, each with a scan of a few lines."""
    document = opened()
    for word in WORDS:
        image = page_of((*(f"This is page number {word}, line {n}" for n in range(5)),))
        page = document.new_page()
        for line in range(6):
            page.insert_text((60, 80 + 20 * line), f"typed line {line} beside a scan of some text")
        box = (60, 300, 535, 492)
        page.insert_image(box, stream=png(image.crop((250, 250, 2230, 1050))))
    return bytes(document.tobytes())


class Reader:
    """A process that reads one scan and is killed, or not."""

    def __init__(self, path: Path, cache: Path, variables: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", READER, str(path), str(cache)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **variables},
            text=True,
        )

    def up_to(self, page: int) -> None:
        assert self._process.stdout is not None
        assert any(line.startswith(f"{page} ") for line in self._process.stdout)

    def kill(self, who: str) -> None:
        (parser,) = psutil.Process(self._process.pid).children()
        os.kill(parser.pid if who == "parser" else self._process.pid, signal.SIGKILL)
        self.text()
        # It holds the file of finished pages as long as it lives, and dies with the engine.
        parser.wait(timeout=30)

    def text(self) -> str:
        return self._process.communicate(timeout=120)[0]


@pytest.mark.parametrize(
    ("kind", "who"),
    [("pdf", "engine"), ("pdf", "parser"), ("tiff", "engine"), ("pasted", "engine")],
)
def test_no_finished_page_is_recognised_again_after_kill_9(
    tmp_path: Path, kind: str, who: str
) -> None:
    path, cache = tmp_path / "scan", tmp_path / "cache"
    path.write_bytes(scan(kind))
    log, variables = counting_tesseract(tmp_path / "bin")
    first = Reader(path, cache, variables)
    first.up_to(2)
    first.kill(who)
    begun = len(log.read_text().splitlines())
    (kept,) = (cache / "recognised").iterdir()
    finished = kept.read_text("utf-8").count("\n")
    # One process a core: at most one page was being read.
    assert 2 <= finished < len(WORDS)
    assert finished <= begun <= finished + 1
    text = Reader(path, cache, variables).text()
    assert all(f"page number {word}" in text for word in WORDS)
    assert len(log.read_text().splitlines()) - begun == len(WORDS) - finished
    # Who asked for the file may have died before it had stored the last page.
    assert Reader(path, cache, variables).text() == text
    assert len(log.read_text().splitlines()) - begun == len(WORDS) - finished


def test_pages_that_need_no_recognition_and_single_images_leave_nothing_on_disk(
    tmp_path: Path,
) -> None:
    path, cache = tmp_path / "scan", tmp_path / "cache"
    path.write_bytes(png(small_page("This is page number one")))
    assert "page number one" in Reader(path, cache, {}).text()
    assert not (cache / "recognised").exists()
