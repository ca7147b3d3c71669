"""Text of a long PDF: the parser of the extraction against bare PyMuPDF, in turns, in one process.

The bar is 0.7 × the speed of the library making the calls that each page needs: its text as a dict
and its paths. A second figure is against the calls that are really made, since paths are asked for
only on pages that draw something. Times are CPU seconds; the median of the rounds counts.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

from bench import HANDED

from seoga_extraction.format import Input
from seoga_extraction.formats.pdf import parse
from seoga_extraction.limits import Limits

PATH = Path(os.environ.get("PDF") or HANDED / "pdf" / "unstructured__DA-619p.pdf")
ROUNDS = int(os.environ.get("ROUNDS", "5"))
BAR = 0.7
SHRINK_PAGES = 20


def main() -> None:
    """Prints one JSON object: pages, seconds of each, both ratios."""
    library: Any = import_module("pymupdf")
    text = library.TEXT_PRESERVE_WHITESPACE | library.TEXT_MEDIABOX_CLIP
    drawn = library.TEXT_COLLECT_VECTORS | library.TEXT_LAZY_VECTORS

    def every_call() -> None:
        for page in pages(library):
            page.get_text("dict", flags=text)
            page.get_cdrawings()

    def same_calls() -> None:
        for page in pages(library):
            content = page.get_text("dict", flags=text | drawn)
            if any(block["type"] == 3 for block in content["blocks"]):
                page.get_cdrawings()

    ours()
    rounds = [(spent(every_call), spent(same_calls), spent(ours)) for _ in range(ROUNDS)]
    bare, same, own = (median(times) for times in zip(*rounds, strict=True))
    share = median(one[0] / one[2] for one in rounds)
    report = {
        "pages": library.open(PATH).page_count,
        "bare_s": round(bare, 3),
        "same_calls_s": round(same, 3),
        "seconds": round(own, 3),
        "share": round(share, 3),
        "share_of_same_calls": round(median(one[1] / one[2] for one in rounds), 3),
        "bar": BAR,
        "passed": share >= BAR,
    }
    print(json.dumps(report))


def pages(library: Any) -> Any:
    """The pages in order; as in the parser, the library's store is emptied now and then."""
    document = library.open(PATH)
    for number in range(document.page_count):
        yield document[number]
        if (number + 1) % SHRINK_PAGES == 0:
            library.TOOLS.store_shrink(100)


def ours() -> None:
    """All events of the parser."""
    for _ in parse(Input(PATH, PATH.name, Limits())):
        pass


def spent(work: Callable[[], None]) -> float:
    """CPU seconds of this process."""
    started = time.process_time()
    work()
    return time.process_time() - started


if __name__ == "__main__":
    main()
