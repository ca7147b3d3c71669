"""How one page is read: the usual way first, others only when confidence is low."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from seoga.errors import ExtractionFailed, Reason
from seoga_extraction.layout import Line, compounds, paragraphs, regions
from seoga_extraction.ocr import cleaning, tesseract
from seoga_extraction.ocr.tesseract import OcrLine, Reading

if TYPE_CHECKING:
    from PIL.Image import Image

# A column of lines of several sizes: of the modes the best on real Korean pages by far.
USUAL = 4
# One block, tesseract's own layout; then text scattered over the page, as signs and labels are.
OTHERS = (6, 3)
SCATTERED = (11, 12, 6)
SPARSE = 200
# Pixels at 300 dpi: the noise of a scan at 150 dpi is two pixels wide.
SPECKLE = 5
# Confidence (0..100). Clean scans reach 89 to 95, speckled ones 76, sideways pages 30 to 50.
GOOD = 85.0
FAIR = 78.0
POOR = 60.0
HOPELESS = 30.0
# A line under this is noise of the paper, and so is a part of a line under the second; a page with
# fewer letters than that shows no text.
NOISE = 45.0
NOISY_PART = 30.0
# A page under this is none of our scripts, handwriting or a picture.
LEGIBLE = 55.0
# Scattered letters are found in any picture.
LEGIBLE_SCATTERED = 75.0
# What each further reading may take: this share of the page's time, and on a machine that is busy
# with other things so many times what the first one took.
EXTRA = 0.25
LONGER = 2.0
FEWEST = 2
FEWEST_UPRIGHT = 4
_POINTS = 72 / 300


@dataclass(frozen=True, slots=True)
class PageText:
    """The paragraphs of a page in reading order, and how sure they are (0..1)."""

    texts: tuple[str, ...]
    confidence: float
    mode: int
    language: str
    seconds: float

    def meta(self) -> dict[str, Any]:
        """What a section says of its recognition."""
        return {"confidence": self.confidence, "mode": self.mode, "lang": self.language}

    def to_json(self) -> dict[str, Any]:
        """A JSON object, without the time that it took."""
        return {"texts": list(self.texts), **self.meta()}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> PageText:
        """Inverse of `to_json`; it took no time."""
        return PageText(tuple(data["texts"]), data["confidence"], data["mode"], data["lang"], 0.0)


def read_page(image: Image, language: str, seconds: float) -> PageText:
    """Recognises a page image (about 300 dpi, any mode, any of four orientations).

    Raises ExtractionFailed: missing_dependency, timeout after `seconds` without any result, crash.
    """
    started = time.monotonic()
    try:
        readings = _Attempts(image.convert("L"), language, seconds).run()
        best = max(map(_without_noise, readings), key=lambda reading: reading.evidence)
    except TimeoutError as error:
        raise ExtractionFailed(
            f"The page was not recognised within {seconds:g} s.",
            "Raise SEOGA_OCR_PAGE_S or leave the page out.",
            Reason.TIMEOUT,
        ) from error
    return PageText(
        tuple(_texts(best.lines)),
        round(best.confidence / 100, 3),
        best.mode,
        language,
        time.monotonic() - started,
    )


class _Attempts:
    """The readings of one page, each tried because those before were not sure enough."""

    def __init__(self, image: Image, language: str, seconds: float) -> None:
        self._raw = image
        self._image = image
        self._language = language
        self._extra = seconds * EXTRA
        self._deadline = time.monotonic() + seconds

    def run(self) -> Iterator[Reading]:
        """Raises TimeoutError when the first reading takes all the time."""
        if cleaning.blank(self._raw):
            yield Reading((), USUAL)
            return
        # Asked first where it shows: to read a page on its side may take six times as long.
        turned = cleaning.sideways(self._raw) and self._turn()
        if not turned:
            self._image = cleaning.straight(self._raw)
        started = time.monotonic()
        first = self._read(USUAL, self._left())
        self._extra = max(self._extra, LONGER * (time.monotonic() - started))
        yield first
        if first.confidence < POOR and not turned and self._turn():
            first = self._retry(USUAL)
            yield first
        if first.confidence >= GOOD:
            return
        first = yield from self._smoothed(first)
        sparse = sum(line.letters for line in first.lines) < SPARSE
        if first.confidence >= FAIR and not sparse:
            return
        for mode in SCATTERED if sparse else OTHERS:
            reading = self._retry(mode)
            yield reading
            if reading.confidence < HOPELESS:
                return
            if sparse and not turned and _stand_upright(reading):
                # Too few letters to ask which way they run.
                yield from self._both_turns()
                return

    def _both_turns(self) -> Iterator[Reading]:
        for angle in (90, 270):
            self._image = cleaning.straight(cleaning.turned(self._raw, angle))
            reading = self._retry(USUAL)
            yield reading
            if reading.confidence >= GOOD:
                return

    def _smoothed(self, first: Reading) -> Generator[Reading, None, Reading]:
        """The surest of the page as it is and as it is without speckle; goes on with that image."""
        before = self._image
        self._image = cleaning.smooth(before, SPECKLE)
        second = self._retry(USUAL)
        yield second
        if second.evidence > first.evidence:
            return second
        self._image = before
        return first

    def _read(self, mode: int, seconds: float) -> Reading:
        return tesseract.run(self._image, self._language, mode, seconds)

    def _retry(self, mode: int) -> Reading:
        """One more reading; noise may keep tesseract busy for a minute, and then it is given up."""
        try:
            return self._read(mode, min(self._left(), self._extra))
        except TimeoutError:
            return Reading((), mode)

    def _left(self) -> float:
        return self._deadline - time.monotonic()

    def _turn(self) -> bool:
        """Whether the page was found to be turned; it is upright then."""
        angle = tesseract.orientation(self._raw, min(self._left(), self._extra))
        if angle:
            self._image = cleaning.straight(cleaning.turned(self._raw, angle))
        return bool(angle)


def _stand_upright(reading: Reading) -> bool:
    """Whether most letters are in boxes that are higher than wide: words on their side."""
    words = [line for line in reading.lines if line.letters >= FEWEST_UPRIGHT]
    upright = sum(line.letters for line in words if line.y1 - line.y0 > line.x1 - line.x0)
    return reading.confidence >= LEGIBLE and 2 * upright > sum(line.letters for line in words)


def _without_noise(reading: Reading) -> Reading:
    kept = tuple(line for line in reading.lines if _says_something(line))
    letters = sum(one.isalnum() for line in kept for one in line.text)
    cleaned = Reading(kept if letters >= FEWEST else (), reading.mode)
    least = LEGIBLE_SCATTERED if reading.mode in SCATTERED[:2] else LEGIBLE
    return cleaned if cleaned.confidence >= least else Reading((), reading.mode)


def _says_something(line: OcrLine) -> bool:
    sure = line.whole >= NOISE and line.confidence >= NOISY_PART
    return sure and any(one.isalnum() for one in line.text)


def _texts(lines: Sequence[OcrLine]) -> list[str]:
    """Paragraphs. Boxes are as high as their tallest letter: sizes near the usual one are it."""
    if not lines:
        return []
    # Each letter has a vote: specks are many, but short.
    usual = median(line.y1 - line.y0 for line in lines for _ in range(line.letters))
    placed = [_line(line, usual) for line in lines]
    hyphened = compounds(placed)
    return [text for region in regions(placed) for text in paragraphs(region, hyphened)]


def _line(line: OcrLine, usual: float) -> Line:
    height = line.y1 - line.y0
    size = usual if 0.6 * usual < height < 1.7 * usual else height
    x0, y0, x1, y1 = (value * _POINTS for value in (line.x0, line.y0, line.x1, line.y1))
    return Line(x0, y0, x1, y1, line.text, size * _POINTS)
