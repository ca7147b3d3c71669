"""The pages of one document recognised side by side; what they gave comes in their order."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from types import TracebackType
from typing import TYPE_CHECKING

from seoga_extraction.ocr.config import OcrConfig
from seoga_extraction.ocr.strategy import PageText, read_page
from seoga_extraction.ocr.tesseract import check
from seoga_extraction.ocr.turns import Turns

if TYPE_CHECKING:
    from PIL.Image import Image

# How often the parent hears that this is work, not a hang.
SIGN_OF_LIFE_S = 2.0


class Recogniser:
    """Threads that each run one recognition at a time. Leave it, and what is not begun is dropped.

    `waited` is told the seconds that `finish` has waited, every two seconds and at the end.
    Raises ExtractionFailed (missing_dependency) when it is made.
    """

    def __init__(self, config: OcrConfig, waited: Callable[[float], None]) -> None:
        check(config.language)
        self._config = config
        self._waited = waited
        self._turns = Turns(config.turns, config.cores)
        self._threads = ThreadPoolExecutor(config.cores, thread_name_prefix="seoga-ocr")

    @property
    def ahead(self) -> int:
        """Page images worth holding at once: each core has one, and one is ready."""
        return self._config.cores + 1

    def begin(self, image: Image) -> Future[PageText]:
        """Queues a page; give the result to `finish`."""
        return self._threads.submit(self._read, image)

    def finish(self, page: Future[PageText]) -> PageText:
        """Waits for a page. Raises ExtractionFailed, see `read_page`."""
        while True:
            started = time.monotonic()
            try:
                return page.result(timeout=SIGN_OF_LIFE_S)
            except NotYet:
                # A page that ran out of its own time has told so as ExtractionFailed.
                continue
            finally:
                self._waited(time.monotonic() - started)

    def _read(self, image: Image) -> PageText:
        with self._turns.turn():
            return read_page(image, self._config.language, self._config.page_s)

    def __enter__(self) -> Recogniser:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._threads.shutdown(wait=True, cancel_futures=True)
        self._turns.close()


def tally(figures: dict[str, float], page: PageText) -> None:
    """Counts a recognised page in the figures that a file leaves for the metrics."""
    figures["ocr_pages"] = figures.get("ocr_pages", 0) + 1
    figures["ocr_seconds"] = figures.get("ocr_seconds", 0) + page.seconds
