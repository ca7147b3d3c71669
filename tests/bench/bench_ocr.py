"""Pages recognised a second: the whole extraction of a scan against bare tesseract processes.

The bar is 0.9 × cores × one bare process with the same settings over the same pages as PGM files.
Where others use the machine, the seconds of CPU for a page say more than the clock.
"""

from __future__ import annotations

import io
import json
import os
import resource
import subprocess
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

from bench import HANDED, Clock

from seoga.models import Section, SectionKind
from seoga.settings import Settings
from seoga_extraction.engine import ExtractionEngine

SCANS = ("ko_policy_scan200.pdf",)
COPIES = int(os.environ.get("COPIES", "8"))
BAR = 0.9
COMMAND = ("-l", "Hangul", "--psm", "4", "--dpi", "300", "-c", "preserve_interword_spaces=1")


def main() -> None:
    """Prints one JSON object: pages, pages a second of both, their ratio."""
    settings = Settings(extract_workers=1)
    with tempfile.TemporaryDirectory() as folder:
        images = scanned_pages()
        scan = Path(folder) / "scan.pdf"
        write_scan(scan, images)
        bare, bare_cpu = bare_rate(Path(folder), images)
        ours, our_cpu = our_rate(settings, scan)
    share = ours / (settings.cores * bare)
    report = {
        "pages": len(images) * COPIES,
        "cores": settings.cores,
        "bare_pages_per_s": round(bare, 3),
        "pages_per_s": round(ours, 3),
        "share": round(share, 3),
        "bare_cpu_s_per_page": round(bare_cpu, 3),
        "cpu_s_per_page": round(our_cpu, 3),
        "cpu_share": round(bare_cpu / our_cpu, 3),
        "bar": BAR,
        "passed": share >= BAR,
    }
    print(json.dumps(report))


def cpu_of_children() -> float:
    """Seconds of CPU of all processes that ended below this one."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def scanned_pages() -> list[Any]:
    """The pages of the scans as the extraction renders them: grey, 300 dpi."""
    pymupdf = import_module("pymupdf")
    pages = [page for name in SCANS for page in pymupdf.open(HANDED / "pdf_derived_scans" / name)]
    return [page.get_pixmap(dpi=300, colorspace=pymupdf.csGRAY) for page in pages]


def write_scan(path: Path, images: list[Any]) -> None:
    """A PDF of images alone, `COPIES` times all of them."""
    from PIL import Image

    document = import_module("pymupdf").open()
    for image in images * COPIES:
        held = io.BytesIO()
        Image.frombytes("L", (image.width, image.height), image.samples).save(held, "JPEG")
        page = document.new_page(width=image.width * 0.24, height=image.height * 0.24)
        page.insert_image(page.rect, stream=held.getvalue())
    document.save(path)


def bare_rate(folder: Path, images: list[Any]) -> tuple[float, float]:
    """Pages a second of one process after the other, and seconds of CPU for a page."""
    paths = []
    for number, image in enumerate(images):
        paths.append(folder / f"{number}.pgm")
        image.save(paths[-1])
    before = cpu_of_children()
    with Clock() as clock:
        for path in paths * 4:
            subprocess.run(
                ["tesseract", str(path), str(folder / "out"), *COMMAND],
                env={**os.environ, "OMP_THREAD_LIMIT": "1"},
                check=True,
                capture_output=True,
            )
    pages = 4 * len(paths)
    return float(pages / clock.seconds), (cpu_of_children() - before) / pages


def our_rate(settings: Settings, scan: Path) -> tuple[float, float]:
    """The same of the engine; the start of its child is left out of the first."""
    before = cpu_of_children()
    engine = ExtractionEngine(settings)
    try:
        list(engine.extract(Path(__file__), "warm.py"))
        with Clock() as clock:
            pages = sum(
                isinstance(one, Section) and one.kind is SectionKind.PAGE
                for one in engine.extract(scan, scan.name)
            )
    finally:
        engine.close()
    return float(pages / clock.seconds), (cpu_of_children() - before) / pages


if __name__ == "__main__":
    main()
