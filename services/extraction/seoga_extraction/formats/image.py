"""Images: PNG, JPEG, JPEG 2000, TIFF (each page), WebP, AVIF, BMP, GIF: recognised; of an animation
each frame that says something new."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings

from seoga.errors import ExtractionFailed, Reason
from seoga.models import DocumentInfo, Place, Section, SectionKind
from seoga_extraction.format import Format, Input, Parsed, corrupt
from seoga_extraction.ocr.animation import Frames, frames
from seoga_extraction.ocr.bands import LONG, bands, is_long, joined
from seoga_extraction.ocr.config import OcrConfig
from seoga_extraction.ocr.pages import Recogniser, tally, unrecognised
from seoga_extraction.ocr.strategy import PageText
from seoga_extraction.ocr.tesseract import lacks

if TYPE_CHECKING:
    from PIL.Image import Image

# A page of A2 at 600 dpi has 139 million; colour needs four bytes each while it is unpacked.
MOST_PIXELS = 140_000_000
# What is transparent is held twice, as grey and its mask; 16 bits of grey are held as 32.
MOST_WIDE = 60_000_000
MOST_PAGES = 2000
# The long side in pixels that recognition likes: A4 at 300 dpi has 3508, a screen shot 1000.
LARGEST = 5000
SMALL = 1600
# What tesseract takes of a side.
MOST_SIDE = 32_000
# Of a transparent image: a darker shade is seen on white paper, and how little of it is none.
DARK = 160
UNSEEN = 0.0005
# The part of the words of a frame that is new at least where it says something new.
_FEW = 0.1
# What the library raises for a page that is cut in its description.
_BROKEN = (OSError, ValueError, SyntaxError, EOFError, TypeError, KeyError)
_FORMATS = ("PNG", "JPEG", "JPEG2000", "TIFF", "WEBP", "AVIF", "BMP", "GIF")
_SIGNATURES = (
    (0, b"\x89PNG\r\n\x1a\n"),
    (0, b"\xff\xd8\xff"),
    (0, b"GIF8"),
    (0, b"II*\x00"),
    (0, b"MM\x00*"),
    (8, b"WEBP"),
    (0, b"\x00\x00\x00\x0cjP  \r\n\x87\n"),
    (0, b"\xff\x4f\xff\x51"),
)
_AVIF = (b"ftypavif", b"ftypavis")
_BMP_HEADERS = (12, 40, 52, 56, 64, 108, 124)


def parse(source: Input) -> Parsed:
    """The text of each page, with its confidence (`ocr`) in the metadata.

    Raises ExtractionFailed: corrupt, too_large (pixels), no_text, missing_dependency, timeout.
    """
    import PIL.Image

    # We count pixels ourselves: the library only warns up to twice its limit.
    PIL.Image.MAX_IMAGE_PIXELS = None
    try:
        image = PIL.Image.open(source.path, formats=_FORMATS)
    except (OSError, ValueError, SyntaxError, PIL.Image.DecompressionBombError) as error:
        raise corrupt("The image is damaged or cut off: it cannot be opened.") from error
    with image:
        pages = _pages(image)
        kind = (image.format or "").lower()
        meta: dict[str, Any] = {
            "pages": len(pages.numbers),
            "width": image.width,
            "height": image.height,
            "image": kind,
        }
        if pages.note:
            meta["note"] = pages.note
        yield DocumentInfo("image", meta=meta)
        with Recogniser(source, len(pages.numbers)) as recogniser:
            yield from _Images(image, pages, source, recogniser).sections()


def _pages(image: Image) -> Frames:
    """Each page of a TIFF; of an animation, the frames that show something new."""
    if image.format != "TIFF":
        return frames(image)
    broken = 0
    with catch_warnings(action="ignore"):
        try:
            count = int(getattr(image, "n_frames", 1))
        except _BROKEN:
            # The list of its pages breaks off: those before that are there.
            count = _pages_left(image)
            broken = count + 1
    if count > MOST_PAGES:
        raise ExtractionFailed(
            f"The image has {count} pages; at most {MOST_PAGES} are read.",
            "Split it.",
            Reason.TOO_LARGE,
        )
    return Frames(tuple(range(1, count + 1)), broken=broken)


def _pages_left(image: Image) -> int:
    """How many pages of a TIFF can be found, at least the first."""
    found = 1
    # The library believes to be at the page that it failed on.
    image.seek(0)
    with suppress(*_BROKEN):
        while found <= MOST_PAGES:
            image.seek(found)
            found += 1
    return found


class _Images:
    """The pages of one image file, recognised side by side; those of an animation that say nothing
    new are left out."""

    def __init__(self, image: Image, pages: Frames, source: Input, recogniser: Recogniser) -> None:
        self._image = image
        self._pages = pages
        self._source = source
        self._recogniser = recogniser
        self._found = False
        # Page marks before the first text: an image without any is an error, not a mark.
        self._held: list[Section] = []
        self._parts: list[PageText] = []
        self._failed: ExtractionFailed | None = None
        self._cut: ExtractionFailed | None = None
        if pages.broken:
            self._cut = corrupt(
                f"The image is damaged or cut off at its page or frame {pages.broken}: what was "
                "read is all there is."
            )
        # The words of the frames of an animation.
        self._moves = image.format != "TIFF" and len(pages.numbers) > 1
        self._words: set[str] = set()

    def sections(self) -> Iterator[Section]:
        numbers = self._pages.numbers
        self._source.figures["pages"] = len(numbers)
        waiting: deque[tuple[int, bool, Future[PageText] | None]] = deque()
        for number in numbers:
            for last, part in self._begun(number):
                waiting.append((number, last, part))
                if len(waiting) > self._recogniser.ahead:
                    yield from self._finished(*waiting.popleft())
        while waiting:
            yield from self._finished(*waiting.popleft())
        if not self._found:
            raise unrecognised(self._failed) or ExtractionFailed(
                "No text was recognised in the image.",
                "Exclude images without text from the source.",
                Reason.NO_TEXT,
            )
        if self._cut is not None:
            raise self._cut

    def _begun(self, number: int) -> Iterator[tuple[bool, Future[PageText] | None]]:
        """The page, or its bands, and whether it is the last of them."""
        size: list[tuple[int, int]] = []
        if not self._try(number, lambda: size.append(self._sought(number).size)):
            yield True, None
        elif not is_long(size[0]):
            yield True, self._begin(number, number, lambda: fit(self._page(number)))
        else:
            yield from self._in_bands(number)

    def _in_bands(self, number: int) -> Iterator[tuple[bool, Future[PageText] | None]]:
        whole: list[Image] = []
        if not self._try(number, lambda: whole.append(self._page(number))):
            yield True, None
            return
        cut = bands(whole.pop())
        band: Image | None = next(cut)
        index = 0
        while band is not None:
            # Each has a number of its own: what was recognised is kept by it.
            begun = self._begin(number, number + MOST_PAGES * index, partial(fit, band))
            band = next(cut, None)
            index += 1
            yield band is None, begun

    def _sought(self, number: int) -> Image:
        self._image.seek(number - 1)
        return self._image

    def _begin(self, number: int, key: int, image: Callable[[], Image]) -> Future[PageText] | None:
        begun: list[Future[PageText]] = []
        self._try(number, lambda: begun.append(self._recogniser.begin(key, image)))
        return begun[0] if begun else None

    def _try(self, number: int, work: Callable[[], object]) -> bool:
        """Whether it went well; what did not is kept, to be told."""
        try:
            work()
        except ExtractionFailed as error:
            self._failed = error
        except _BROKEN:
            self._failed = corrupt(f"Page {number} of the image is damaged or cut off.")
        else:
            return True
        return False

    def _page(self, number: int) -> Image:
        with suppress(*_BROKEN):
            return prepared(self._sought(number))
        if len(self._pages.numbers) == 1:
            # Or its pixels would be held twice, as they would be in what is told of an error.
            self._image.close()
        rows = _rows_left(self._source.path, number)
        # What there is of the page is read; that some is missing is told after it.
        self._failed = self._cut = corrupt(
            f"Page {number} of the image is damaged or cut off: what was read is all there is."
        )
        return rows

    def _finished(
        self, number: int, last: bool, part: Future[PageText] | None
    ) -> Iterator[Section]:
        if part is not None:
            try:
                self._parts.append(self._recogniser.finish(part))
            except ExtractionFailed as error:
                self._failed = error
        if last:
            yield from self._emitted(number, joined(self._parts) if self._parts else None)
            self._parts.clear()

    def _emitted(self, number: int, done: PageText | None) -> Iterator[Section]:
        place = Place(page=number)
        texts = done.texts if done else ()
        if done and self._moves and not self._says_more(texts):
            return
        meta: dict[str, Any] = {"ocr": done.meta()} if done else {"needs_ocr": True}
        if done:
            tally(self._source.figures, done)
        self._held.append(Section(f"## Page {number}", SectionKind.PAGE, place=place, meta=meta))
        self._found = self._found or bool(texts)
        if self._found:
            yield from self._held
            self._held.clear()
        yield from (Section(text, place=place, meta=meta) for text in texts)

    def _says_more(self, texts: Iterable[str]) -> bool:
        """Whether a frame has words that none before it has, beside a few misread ones."""
        words = set(" ".join(texts).split())
        new = len(words - self._words)
        self._words |= words
        return new > _FEW * len(words)


def prepared(image: Image) -> Image:
    """The page in grey on white, upright by its EXIF.

    Raises ExtractionFailed (too_large), and what Pillow raises for broken data.
    """
    from PIL import ImageOps

    wide = image.has_transparency_data or image.mode.startswith("I")
    most = MOST_WIDE if wide else MOST_PIXELS
    if image.width * image.height > most:
        kind = " of its kind (transparent, or grey in 16 bits)" if wide else ""
        raise ExtractionFailed(
            f"The image has {image.width} × {image.height} pixels; "
            f"at most {most // 1_000_000} million{kind} are read.",
            "Make it smaller.",
            Reason.TOO_LARGE,
        )
    # JPEG can be unpacked at half or a quarter of its size.
    image.draft("L", (LARGEST // 2, LARGEST // 2))
    return ImageOps.exif_transpose(_on_white(image))


def fit(grey: Image) -> Image:
    """The page in a size fit for recognition: by its area where it is much wider than high."""
    import PIL.Image

    longest = max(grey.size)
    largest = min(max(LARGEST, LARGEST * LARGEST // LONG // min(grey.size)), MOST_SIDE)
    scale = largest / longest if longest > largest else 2.0 if longest < SMALL else 1.0
    if scale == 1.0:
        return grey
    size = (max(1, round(grey.width * scale)), max(1, round(grey.height * scale)))
    return grey.resize(size, PIL.Image.Resampling.LANCZOS)


def _rows_left(path: Path, number: int) -> Image:
    """What can be unpacked of a damaged page, the rest of it plain.

    Raises what Pillow raises where even its beginning is broken.
    """
    import PIL.Image
    from PIL import ImageFile

    # The library has no switch for one image; a process reads one file at a time.
    ImageFile.LOAD_TRUNCATED_IMAGES = True
    try:
        with PIL.Image.open(path, formats=_FORMATS) as image:
            image.seek(number - 1)
            return prepared(image)
    finally:
        ImageFile.LOAD_TRUNCATED_IMAGES = False


def _on_white(image: Image) -> Image:
    """What is transparent shows white paper; what would not be seen on it is turned dark."""
    import PIL.Image
    from PIL import ImageOps

    if image.mode.startswith("I"):
        # 16 bits a pixel: the library would cut them off at 255.
        return image.point(lambda value: value * (1 / 256)).convert("L")
    if image.mode == "LAB":
        return image.getchannel("L")
    if not image.has_transparency_data:
        return image.convert("L")
    shown = image.convert("LA")
    mask = shown.getchannel("A")
    shades = shown.histogram(mask)[:256]
    dark = sum(shades[:DARK]) > UNSEEN * sum(shades) or not mask.histogram()[0]
    drawn = shown.getchannel("L") if dark else ImageOps.invert(shown.getchannel("L"))
    paper = PIL.Image.new("L", shown.size, 255)
    paper.paste(drawn, mask=mask)
    return paper


def sniff(source: Input) -> bool:
    """By its first bytes; a bitmap by its two letters and the size of its header."""
    head = source.head
    if any(head[offset : offset + len(mark)] == mark for offset, mark in _SIGNATURES):
        return True
    if head[4:12] in _AVIF:
        return _reads_avif()
    return head[:2] == b"BM" and int.from_bytes(head[14:18], "little") in _BMP_HEADERS


@cache
def _reads_avif() -> bool:
    """The library may be built without it."""
    from PIL import features

    return bool(features.check("avif"))


def check(options: Mapping[str, Any]) -> dict[str, Any]:
    """What recognition works with here, or why it does not."""
    why = lacks(options)
    return {"ocr": f"off: {why}" if why else f"tesseract, {OcrConfig.from_json(options).language}"}


FORMAT = Format(
    "image",
    parse,
    extensions=(
        *(".png", ".jpg", ".jpeg", ".jp2", ".j2k", ".tif", ".tiff"),
        *(".webp", ".avif", ".bmp", ".gif"),
    ),
    sniff=sniff,
    needs=("PIL",),
    check=check,
    lacks=lacks,
    version="5",
)
