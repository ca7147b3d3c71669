"""All pages of a PDF in order: text layers at once, scans recognised side by side."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from seoga.errors import ExtractionFailed, Reason
from seoga.models import Place, Section, SectionKind
from seoga_extraction.format import Input, corrupt
from seoga_extraction.formats.pdf.bookmarks import Bookmarks, entries
from seoga_extraction.formats.pdf.embedded import PINNED
from seoga_extraction.formats.pdf.forms import Forms
from seoga_extraction.formats.pdf.page import PageLayer, mupdf, picture, read
from seoga_extraction.formats.pdf.remarks import remarks
from seoga_extraction.ocr.pages import Recogniser, tally, unrecognised
from seoga_extraction.ocr.strategy import PageText

if TYPE_CHECKING:
    from PIL.Image import Image

# MuPDF keeps fonts and images of past pages; long documents give them back now and then.
SHRINK_PAGES = 20
# Pages of text that may wait behind a scan.
MOST_WAITING = 64
# Rendering a scan takes about a tenth of this; the recognition grants its own time.
RENDER_S = 2.0


@dataclass(slots=True)
class _Page:
    number: int
    layer: PageLayer
    scan: Future[PageText] | None = None
    # Why a page that needs recognition has none: the reason as text.
    failure: str = ""
    remarks: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Tally:
    """What the pages gave so far; `held` are page marks before the first text."""

    found: bool = False
    scans: int = 0
    broken: int = 0
    failed: ExtractionFailed | None = None
    refused: ExtractionFailed | None = None
    held: list[Section] = field(default_factory=list)


class Pages:
    """The sections of an open document. Use `sections` once; then `pinned` has the page (from 0)
    and the reference of each mark that holds a file."""

    def __init__(self, document: Any, source: Input) -> None:
        self._document = document
        self._source = source
        self._marks = Bookmarks(entries(document))
        self._forms = Forms(document)
        self.pinned: list[tuple[int, int]] = []
        self._tally = _Tally()
        self._recogniser: Recogniser | None = None
        self._waiting: deque[_Page] = deque()

    def sections(self) -> Iterator[Section]:
        """Page by page. Raises ExtractionFailed when no page has text and one should have."""
        with ExitStack() as held:
            self._source.figures["pages"] = self._document.page_count
            for number in range(1, self._document.page_count + 1):
                self._waiting.append(self._opened(number, held))
                yield from self._ready()
                if number % SHRINK_PAGES == 0:
                    mupdf().TOOLS.store_shrink(100)
            while self._waiting:
                yield from self._finished(self._waiting.popleft())
        if self._tally.refused:
            raise self._tally.refused
        if not self._tally.found and self._tally.scans:
            raise self._without_text()
        if not self._tally.found and self._tally.broken:
            raise corrupt("The PDF is damaged or cut off: none of its pages can be read.")

    def _opened(self, number: int, held: ExitStack) -> _Page:
        broken = (mupdf().mupdf.FzErrorBase, RuntimeError, ValueError)
        try:
            page = self._document[number - 1]
            self._forms.check(page)
            marks = page.annot_xrefs()
            self.pinned += [(number - 1, mark[0]) for mark in marks if mark[1] == PINNED]
            said = list(remarks(page)) if marks else []
            opened = _Page(number, read(page), remarks=said)
        except ExtractionFailed as error:
            self._tally.refused = self._tally.refused or error
            return _Page(number, PageLayer([]), failure=error.reason.value)
        except broken:
            # One broken page costs that page.
            self._tally.broken += 1
            return _Page(number, PageLayer([]), failure=Reason.CORRUPT.value)
        if opened.layer.scan:
            self._tally.scans += 1
            try:
                opened.scan = self._begin(page, held)
            except ExtractionFailed as error:
                self._fail(opened, error)
            except broken:
                opened.failure = Reason.CORRUPT.value
        return opened

    def _begin(self, page: Any, held: ExitStack) -> Future[PageText]:
        if self._tally.failed and self._tally.failed.reason is Reason.MISSING_DEPENDENCY:
            raise self._tally.failed
        if self._recogniser is None:
            recogniser = Recogniser(self._source, self._document.page_count)
            self._recogniser = held.enter_context(recogniser)
        return self._recogniser.begin(page.number + 1, partial(self._picture, page))

    def _picture(self, page: Any) -> Image:
        self._source.more_time(RENDER_S)
        return picture(page)

    def _ready(self) -> Iterator[Section]:
        """What need not wait; and what must, when enough is begun."""
        while self._waiting:
            scans = sum(page.scan is not None for page in self._waiting)
            first = self._waiting[0]
            ahead = self._recogniser.ahead if self._recogniser else 0
            full = len(self._waiting) > MOST_WAITING or scans > ahead
            if first.scan is not None and not first.scan.done() and not full:
                return
            yield from self._finished(self._waiting.popleft())

    def _finished(self, page: _Page) -> Iterator[Section]:
        read_out = self._recognised(page)
        if read_out is not None and _says_more(read_out.texts, page.layer):
            said = {"ocr": read_out.meta()}
            layer = PageLayer([*read_out.texts, *_beside(read_out.texts, page.layer.unseen)])
            yield from self._emitted(page, layer, said, said)
            return
        failed: dict[str, Any] = {"needs_ocr": True, "ocr": {"error": page.failure}}
        meta = failed if page.failure else _noted(page.layer.pictured)
        yield from self._emitted(page, page.layer, meta, {})

    def _emitted(
        self, page: _Page, layer: PageLayer, mark_meta: dict[str, Any], meta: dict[str, Any]
    ) -> Iterator[Section]:
        tally, number = self._tally, page.number
        place = Place(page=number)
        mark = Section(f"## Page {number}", SectionKind.PAGE, place=place, meta=mark_meta)
        tally.found = tally.found or bool(layer.texts or page.remarks)
        # A document without any text must not be a list of page marks.
        tally.held.append(mark)
        if tally.found:
            yield from tally.held
            tally.held.clear()
        for part in self._marks.walk(number, layer.texts):
            if isinstance(part, Section):
                yield part
                continue
            kind = SectionKind.TABLE if part in layer.tables else SectionKind.PARAGRAPH
            yield Section(part, kind, self._marks.path, place=place, meta=meta)
        for remark in page.remarks:
            yield Section(remark, SectionKind.COMMENT, self._marks.path, place=place)

    def _recognised(self, page: _Page) -> PageText | None:
        if page.scan is None or self._recogniser is None:
            return None
        try:
            done = self._recogniser.finish(page.scan)
        except ExtractionFailed as error:
            self._fail(page, error)
            return None
        tally(self._source.figures, done)
        return done

    def _fail(self, page: _Page, error: ExtractionFailed) -> None:
        page.failure = error.reason.value
        self._tally.failed = error

    def _without_text(self) -> ExtractionFailed:
        if failed := unrecognised(self._tally.failed):
            return failed
        return ExtractionFailed(
            f"No text was recognised in what {_shown(self._tally.scans)}.",
            "Check that they show text; SEOGA_OCR_LANGUAGE names its languages.",
            Reason.NO_TEXT,
        )


def _shown(scans: int) -> str:
    return "its page shows" if scans == 1 else f"its {scans} pages without text show"


def _noted(share: float) -> dict[str, Any]:
    if not share:
        return {}
    return {"note": f"An image over {share:.0%} of the page is not recognised beside its text."}


def _beside(recognised: Sequence[str], unseen: Sequence[str]) -> Iterator[str]:
    """What is not painted and was not recognised either, such as the number of a court."""
    known = _bare("".join(recognised))
    return (text for text in dict.fromkeys(unseen) if _bare(text) not in known)


def _bare(text: str) -> str:
    return "".join(text.split()).casefold()


def _says_more(recognised: Sequence[str], layer: PageLayer) -> bool:
    """A recognised page replaces its stub of text only when it has that and more."""
    if layer.wordless:
        return bool(recognised)
    return sum(map(len, recognised)) > 1.2 * sum(map(len, layer.texts))
