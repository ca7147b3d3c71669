"""All pages of a PDF in order: text layers at once, scans recognised side by side."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from seoga.errors import ExtractionFailed, Reason
from seoga.models import Place, Section, SectionKind
from seoga_extraction.format import Input, corrupt
from seoga_extraction.formats.pdf import contents
from seoga_extraction.formats.pdf.bookmarks import MOST_ENTRIES, Bookmarks, entries
from seoga_extraction.formats.pdf.embedded import PINNED
from seoga_extraction.formats.pdf.fields import WIDGET
from seoga_extraction.formats.pdf.forms import Forms
from seoga_extraction.formats.pdf.merging import Merged, among, instead
from seoga_extraction.formats.pdf.page import PageLayer, read
from seoga_extraction.formats.pdf.pasted import Box
from seoga_extraction.formats.pdf.remarks import remarks
from seoga_extraction.formats.pdf.rendering import mupdf, picture
from seoga_extraction.ocr.bands import joined
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
    # Its recognition where it is a scan, those of the scans pasted on it where it is not.
    begun: list[Future[PageText]] = field(default_factory=list)
    # Why a page that needs recognition has none: the reason as text.
    failure: str = ""
    remarks: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Tally:
    """What the pages gave so far; `held` are page marks before the first text."""

    found: bool = False
    scans: int = 0
    failed: ExtractionFailed | None = None
    refused: ExtractionFailed | None = None
    held: list[Section] = field(default_factory=list)


class Pages:
    """The sections of an open document. Use `sections` once; then `pinned` has the page (from 0)
    and the reference of each mark that holds a file, and `broken` the pages that are damaged."""

    def __init__(self, document: Any, source: Input) -> None:
        self._document = document
        self._source = source
        outline = entries(document)
        if len(outline) > MOST_ENTRIES:
            source.cut(f"Of {len(outline):,} entries of the outline, {MOST_ENTRIES:,} are used.")
        self._marks = Bookmarks(outline)
        self._forms = Forms(document)
        self.pinned: list[tuple[int, int]] = []
        # The numbers of pages that are damaged.
        self.broken: list[int] = []
        self._tally = _Tally()
        self._recogniser: Recogniser | None = None
        self._waiting: deque[_Page] = deque()
        self._shown: set[bytes] = set()

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
        if not self._tally.found and self.broken:
            raise corrupt("The PDF is damaged or cut off: none of its pages can be read.")

    def _opened(self, number: int, held: ExitStack) -> _Page:
        broken = (mupdf().mupdf.FzErrorBase, RuntimeError, ValueError)
        try:
            page = self._document[number - 1]
            if not contents.check(self._document, page):
                self.broken.append(number)
            self._forms.check(page)
            marks = page.annot_xrefs()
            self.pinned += [(number - 1, mark[0]) for mark in marks if mark[1] == PINNED]
            said = list(remarks(page, self._source.cut)) if marks else []
            fields = any(mark[1] == WIDGET for mark in marks)
            layer = read(page, fields, self._source.cut)
            opened = _Page(number, layer, remarks=said)
        except ExtractionFailed as error:
            self._tally.refused = self._tally.refused or error
            return _Page(number, PageLayer([]), failure=error.reason.value)
        except broken as error:
            if contents.is_starved(error):
                self._tally.refused = self._tally.refused or contents.starved(number)
                return _Page(number, PageLayer([]), failure=Reason.TOO_LARGE.value)
            # One broken page costs that page.
            self._is_broken(number)
            return _Page(number, PageLayer([]), failure=Reason.CORRUPT.value)
        opened.layer = self._without_repeated(opened.layer)
        try:
            self._begin(opened, page, held)
        except ExtractionFailed as error:
            self._fail(opened, error)
        except broken:
            self._is_broken(number)
            opened.failure = Reason.CORRUPT.value
        return opened

    def _is_broken(self, number: int) -> None:
        if number not in self.broken[-1:]:
            self.broken.append(number)

    def _without_repeated(self, layer: PageLayer) -> PageLayer:
        """Without what an earlier page shows too, such as the head of a letter."""
        new = [one for one in layer.pasted if one[1].name not in self._shown]
        self._shown.update(one.name for _, one in new)
        return replace(layer, pasted=tuple(new))

    def _begin(self, opened: _Page, page: Any, held: ExitStack) -> None:
        boxes = [None] if opened.layer.scan else [one.box for _, one in opened.layer.pasted]
        if not boxes:
            return
        self._tally.scans += opened.layer.scan
        if self._tally.failed and self._tally.failed.reason is Reason.MISSING_DEPENDENCY:
            raise self._tally.failed
        pages = self._document.page_count
        if self._recogniser is None:
            self._recogniser = held.enter_context(Recogniser(self._source, pages))
        for index, box in enumerate(boxes):
            # Each has a number of its own, behind those of the pages: it is kept by that.
            number = opened.number + (0 if box is None else pages * (index + 1))
            shown = partial(self._picture, page, box)
            opened.begun.append(self._recogniser.begin(number, shown, 1 / len(boxes)))

    def _picture(self, page: Any, box: Box | None) -> Image:
        self._source.more_time(RENDER_S)
        return picture(page, box)

    def _ready(self) -> Iterator[Section]:
        """What need not wait; and what must, when enough is begun."""
        while self._waiting:
            images = sum(len(page.begun) for page in self._waiting)
            first = self._waiting[0]
            ahead = self._recogniser.ahead if self._recogniser else 0
            full = len(self._waiting) > MOST_WAITING or images > ahead
            if not full and not all(one.done() for one in first.begun):
                return
            yield from self._finished(self._waiting.popleft())

    def _finished(self, page: _Page) -> Iterator[Section]:
        done = [self._recognised(page, one) for one in page.begun]
        read_out = [one for one in done if one is not None]
        if read_out:
            tally(self._source.figures, joined(read_out))
        if page.layer.scan:
            merged = instead(page.layer, read_out[0]) if read_out else None
        else:
            # What was not begun is as what failed.
            missing = [None] * (len(page.layer.pasted) - len(done))
            merged = among(page.layer, [*done, *missing])
        meta: dict[str, Any] = {}
        if merged is not None and merged.recognised:
            meta = {"ocr": joined(read_out).meta()}
        elif page.failure:
            meta = {"needs_ocr": True, "ocr": {"error": page.failure}}
        merged = merged or Merged(page.layer)
        yield from self._emitted(page, merged, meta | _noted(merged.left))

    def _emitted(self, page: _Page, merged: Merged, meta: dict[str, Any]) -> Iterator[Section]:
        tally, number, layer = self._tally, page.number, merged.layer
        place = Place(page=number)
        mark = Section(f"## Page {number}", SectionKind.PAGE, place=place, meta=meta)
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
            said = merged.recognised.get(part)
            more = {"ocr": said} if said else {}
            yield Section(part, kind, self._marks.path, place=place, meta=more)
        for remark in page.remarks:
            yield Section(remark, SectionKind.COMMENT, self._marks.path, place=place)

    def _recognised(self, page: _Page, begun: Future[PageText]) -> PageText | None:
        try:
            return self._recogniser.finish(begun) if self._recogniser else None
        except ExtractionFailed as error:
            self._fail(page, error)
            return None

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


def _noted(shares: Sequence[float]) -> dict[str, Any]:
    if not shares:
        return {}
    largest = f"{max(shares):.0%}"
    return {"note": f"An image over {largest} of the page is not recognised beside its text."}
