"""The pages of one document recognised side by side; what they gave comes in their order."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from seoga.errors import ExtractionFailed, Reason
from seoga_extraction.checkpoint import DONE_S, Checkpoint, key_of
from seoga_extraction.ocr.config import OcrConfig
from seoga_extraction.ocr.strategy import PageText, read_page
from seoga_extraction.ocr.tesseract import check
from seoga_extraction.ocr.turns import Turns

if TYPE_CHECKING:
    from PIL.Image import Image

    from seoga_extraction.format import Input

# Raise it when the same page may give another text: what was kept of unfinished files is not used.
VERSION = "2"
# How often the parent hears that this is work, not a hang.
SIGN_OF_LIFE_S = 2.0


class Recogniser:
    """Threads that each run one recognition at a time. Leave it, and what is not begun is dropped.

    Each page of a file with several is on disk as soon as it is recognised: after a crash, of this
    process or of whoever asked for the file, it is not recognised again. `source` is told every two
    seconds how long `finish` has waited. Raises ExtractionFailed (missing_dependency) when made.
    """

    def __init__(self, source: Input, pages: int) -> None:
        self._config = config = OcrConfig.from_json(source.options)
        check(config.language)
        self._waited = source.more_time
        self._kept: Checkpoint | None = None
        if config.pages and pages > 1:
            key = key_of(source.path, VERSION, config.language)
            self._kept = Checkpoint(Path(config.pages), key, DONE_S)
        self._before: dict[int, dict[str, Any]] = {
            part["page"]: part for part in (self._kept.parts if self._kept else ())
        }
        self._keeping = threading.Lock()
        self._turns = Turns(config.turns, config.cores)
        self._threads = ThreadPoolExecutor(config.cores, thread_name_prefix="seoga-ocr")

    @property
    def ahead(self) -> int:
        """Page images worth holding at once: each core has one, and one is ready."""
        return self._config.cores + 1

    def begin(
        self, number: int, image: Callable[[], Image], share: float = 1.0
    ) -> Future[PageText]:
        """Queues a page, or a part of one that has its share of a page's time (0..1); give the
        result to `finish`. Raises what `image` raises, which is asked only where the page was not
        recognised before."""
        if (part := self._before.get(number)) is None:
            return self._threads.submit(self._read, number, image(), share)
        done: Future[PageText] = Future()
        done.set_result(PageText.from_json(part))
        return done

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

    def _read(self, number: int, image: Image, share: float) -> PageText:
        with self._turns.turn():
            page = read_page(image, self._config.language, self._config.page_s * share)
        if self._kept is not None:
            with self._keeping:
                self._kept.add({"page": number, **page.to_json()})
        return page

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
        if self._kept is not None:
            if error is None:
                self._kept.finish()
            self._kept.__exit__(kind, error, trace)


def tally(figures: dict[str, float], page: PageText) -> None:
    """Counts a recognised page in the figures that a file leaves for the metrics."""
    figures["ocr_pages"] = figures.get("ocr_pages", 0) + 1
    figures["ocr_seconds"] = figures.get("ocr_seconds", 0) + page.seconds


def unrecognised(error: ExtractionFailed | None) -> ExtractionFailed | None:
    """What the failure of its pages says of a document without text: one that tesseract is too slow
    for, or fails on, waits for a person."""
    if error is None or error.reason not in (Reason.TIMEOUT, Reason.CRASH):
        return error
    return ExtractionFailed(error.message, error.hint, Reason.NEEDS_OCR)
