"""Pages recognised a second: the whole extraction of a scan against bare tesseract processes.

The bar is 0.9 × cores × one bare process with the same settings over the same pages as PGM files.
Cores that share memory and caches are not so many times one: as many bare processes at once are
measured too. All three take turns, and medians count. Where others use the machine, the seconds of
CPU for a page say more than the clock.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import psutil
from bench import HANDED, Clock
from PIL import Image

from seoga.models import Section, SectionKind
from seoga.settings import Settings
from seoga_extraction.engine import ExtractionEngine

SCANS = ("ko_policy_scan200.pdf",)
COPIES = int(os.environ.get("COPIES", "4"))
ROUNDS = int(os.environ.get("ROUNDS", "3"))
BAR = 0.9
COMMAND = ("-l", "Hangul", "--psm", "4", "--dpi", "300", "-c", "preserve_interword_spaces=1")


class Rate(NamedTuple):
    """Pages a second by the clock, and seconds of CPU for a page."""

    pages_per_s: float
    cpu_s: float


def main() -> None:
    """Prints one JSON object: pages a second of each, and the ratios."""
    settings = Settings(extract_workers=1)
    cores = settings.cores
    with tempfile.TemporaryDirectory() as name, closing(ExtractionEngine(settings)) as engine:
        folder = Path(name)
        images = scanned_pages()
        paths = write_pages(folder, images)
        scan = folder / "scan.pdf"
        list(engine.extract(Path(__file__), "warm.py"))
        rounds = []
        for number in range(ROUNDS):
            # What was recognised of a file is kept: each round has a file of its own.
            write_scan(scan, images, number)
            one = bare_rate(paths * 2, 1)
            together = bare_rate(paths * 2 * cores, cores)
            rounds.append((one, together, our_rate(engine, scan)))
    print(json.dumps(report(rounds, cores, len(images) * COPIES)))


def report(rounds: list[tuple[Rate, Rate, Rate]], cores: int, pages: int) -> dict[str, Any]:
    """The medians over the rounds; ratios are of the same round."""
    share = median(ours.pages_per_s / (cores * one.pages_per_s) for one, _, ours in rounds)
    beside = median(ours.pages_per_s / many.pages_per_s for _, many, ours in rounds)
    return {
        "pages": pages,
        "cores": cores,
        "bare_pages_per_s": round(median(one.pages_per_s for one, _, _ in rounds), 3),
        "bare_at_once_pages_per_s": round(median(many.pages_per_s for _, many, _ in rounds), 3),
        "pages_per_s": round(median(ours.pages_per_s for _, _, ours in rounds), 3),
        "share": round(share, 3),
        "share_of_bare_at_once": round(beside, 3),
        "bare_cpu_s_per_page": round(median(one.cpu_s for one, _, _ in rounds), 3),
        "cpu_s_per_page": round(median(ours.cpu_s for _, _, ours in rounds), 3),
        "cpu_share": round(median(many.cpu_s / ours.cpu_s for _, many, ours in rounds), 3),
        "bar": BAR,
        "passed": share >= BAR,
    }


def cpu_of(process: psutil.Process) -> float:
    """Seconds of CPU of a process and of all that ended below it."""
    used = process.cpu_times()
    return float(used.user + used.system + used.children_user + used.children_system)


def scanned_pages() -> list[Any]:
    """The pages of the scans as the extraction renders them: grey, 300 dpi."""
    pymupdf = import_module("pymupdf")
    pages = [page for name in SCANS for page in pymupdf.open(HANDED / "pdf_derived_scans" / name)]
    return [page.get_pixmap(dpi=300, colorspace=pymupdf.csGRAY) for page in pages]


def write_pages(folder: Path, images: list[Any]) -> list[Path]:
    """Each page as a PGM file."""
    paths = [folder / f"{number}.pgm" for number in range(len(images))]
    for path, image in zip(paths, images, strict=True):
        image.save(path)
    return paths


def write_scan(path: Path, images: list[Any], number: int) -> None:
    """A PDF of images alone, `COPIES` times all of them."""
    document = import_module("pymupdf").open()
    for image in images * COPIES:
        held = io.BytesIO()
        Image.frombytes("L", (image.width, image.height), image.samples).save(held, "JPEG")
        page = document.new_page(width=image.width * 0.24, height=image.height * 0.24)
        page.insert_image(page.rect, stream=held.getvalue())
    document.set_metadata({"subject": f"round {number}"})
    document.save(path)


def bare_rate(paths: list[Path], at_once: int) -> Rate:
    """Processes one after the other, so many of them at a time."""
    me = psutil.Process()
    before = cpu_of(me)
    with Clock() as clock, ThreadPoolExecutor(at_once) as threads:
        list(threads.map(recognise, paths))
    return Rate(len(paths) / clock.seconds, (cpu_of(me) - before) / len(paths))


def recognise(path: Path) -> None:
    """One bare process."""
    subprocess.run(
        ["tesseract", str(path), "stdout", *COMMAND],
        env={**os.environ, "OMP_THREAD_LIMIT": "1"},
        check=True,
        capture_output=True,
    )


def our_rate(engine: ExtractionEngine, scan: Path) -> Rate:
    """The same of the engine, whose child has started."""
    (child,) = psutil.Process().children()
    before = cpu_of(child)
    with Clock() as clock:
        pages = sum(
            isinstance(one, Section) and one.kind is SectionKind.PAGE
            for one in engine.extract(scan, scan.name)
        )
    return Rate(pages / clock.seconds, (cpu_of(child) - before) / pages)


if __name__ == "__main__":
    main()
