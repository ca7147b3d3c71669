"""Scans pasted beside typed text: the images of a page that show lines of text of their own."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median
from typing import TYPE_CHECKING, Any

from seoga_extraction.formats.pdf.rendering import picture, unturned

if TYPE_CHECKING:
    from PIL.Image import Image

Box = tuple[float, float, float, float]

# Pixels of all images of a page, below which none is looked for: a logo has less.
PIXELS = 150_000
# Of the page, so that ten images at most are looked at; what labels may cover of an image.
PASTED = 0.1
LABELS = 0.02
# Points between the strips of one scan.
SEAM = 2.0
# Lines of text are looked for at this resolution, in so many bands side by side: a skewed line
# is level in each of them.
SEARCH_DPI = 100
BANDS = 6
# Rows of ink that may be a line of text (3 to 23 points), and how much of them is ink.
LINE = (4, 32)
INK = (0.05, 0.7)
# A shade so far from that of the paper is ink; how much of a picture is paper.
CONTRAST = 48
PAPER = 0.5
# Lines in a band, how much of its ink they must be, and bands that must have them.
FEWEST_LINES = 3
LINED = 0.6
FEWEST_BANDS = 2


@dataclass(frozen=True, slots=True)
class Pasted:
    """An image: its box in points, the share of the page that it covers (0..1), and what names
    the same picture on another page."""

    box: Box
    share: float
    name: bytes


def pasted(page: Any) -> list[Pasted]:
    """The images of a page of text that are scans of text. Raises what the library raises.

    They cover a tenth of the page at least, nearly without text over them, seen or not: that of a
    background, or what another recognition left. Photographs and drawings show no lines of text.
    """
    if sum(image[2] * image[3] for image in page.get_images()) < PIXELS:
        return []
    found = []
    for box in _uncovered(page):
        small = picture(page, box, SEARCH_DPI)
        if shows_lines(small):
            share = round(area(box, box) / size(page), 2)
            found.append(Pasted(box, share, hashlib.sha256(small.tobytes()).digest()))
    return found


def _uncovered(page: Any) -> list[Box]:
    marks = page.get_bboxlog()
    whole = unturned(page)
    images = [_within(box, whole) for kind, box in marks if kind.startswith("fill-im")]
    texts = [box for kind, box in marks if kind.endswith("-text")]
    least = PASTED * size(page)
    kept: list[Box] = []
    for box in sorted(_strips_joined(images), key=lambda one: -area(one, one)):
        covers = area(box, box)
        over = sum(area(text, box) for text in texts)
        if covers < least or over > LABELS * covers:
            continue
        if all(area(box, other) < LABELS * covers for other in kept):
            kept.append(box)
    return kept


def _strips_joined(images: Sequence[Box]) -> list[Box]:
    """Scans may come in strips: those that follow each other down the page are one."""
    joined: list[Box] = []
    for box in sorted(images, key=lambda one: (round(one[0]), round(one[2]), one[1])):
        last = joined[-1] if joined else None
        level = last and abs(last[0] - box[0]) <= SEAM and abs(last[2] - box[2]) <= SEAM
        if last and level and abs(box[1] - last[3]) <= SEAM:
            joined[-1] = (min(last[0], box[0]), last[1], max(last[2], box[2]), box[3])
        else:
            joined.append(box)
    return joined


def _within(box: Sequence[float], page: Any) -> Box:
    return max(box[0], page.x0), max(box[1], page.y0), min(box[2], page.x1), min(box[3], page.y1)


def size(page: Any) -> float:
    """Square points; never zero."""
    return max(float(page.rect.width) * float(page.rect.height), 1.0)


def area(box: Sequence[float], inside: Any) -> float:
    """Square points of a box that lie inside another one."""
    width: float = min(box[2], inside[2]) - max(box[0], inside[0])
    height: float = min(box[3], inside[3]) - max(box[1], inside[1])
    return max(width, 0.0) * max(height, 0.0)


def shows_lines(image: Image) -> bool:
    """Whether a grey picture (about 100 dpi) shows lines of text, level or upright ones.

    Rows of ink and of paper take turns where it does (the projection profile of a page), and the
    rows of ink are about as high as each other.
    """
    import PIL.Image
    from PIL import ImageChops

    shades = image.histogram()
    shade = shades.index(max(shades))
    near = CONTRAST // 2
    if sum(shades[max(shade - near, 0) : shade + near]) < PAPER * sum(shades):
        return False
    paper = PIL.Image.new("L", image.size, shade)
    ink = ImageChops.difference(image, paper).point([255 * (n > CONTRAST) for n in range(256)])
    upright = ink.transpose(PIL.Image.Transpose.ROTATE_90)
    return any(sum(map(_is_lined, _bands(one))) >= FEWEST_BANDS for one in (ink, upright))


def _bands(ink: Image) -> Iterator[bytes]:
    """For each band the ink of each row, 0..255."""
    import PIL.Image

    rows = ink.resize((BANDS, ink.height), PIL.Image.Resampling.BOX).tobytes()
    return (rows[band::BANDS] for band in range(BANDS))


def _is_lined(rows: bytes) -> bool:
    ordered = sorted(rows)
    # Upright rules of a table are in each row.
    base, full = ordered[len(rows) // 10], ordered[len(rows) * 9 // 10]
    least = base + max(0.15 * (full - base), 5)
    runs = [list(run) for inked, run in groupby(rows, lambda ink: ink > least) if inked]
    lines = [run for run in runs if _is_line(run, base)]
    if len(lines) < FEWEST_LINES:
        return False
    usual = median(len(run) for run in lines)
    alike = [run for run in lines if usual / 2 <= len(run) <= 2 * usual]
    seen = sum(ink - base for run in runs for ink in run)
    return (
        len(alike) >= FEWEST_LINES
        and sum(map(sum, alike)) - base * sum(map(len, alike)) >= LINED * seen
    )


def _is_line(run: Sequence[int], base: int) -> bool:
    return LINE[0] <= len(run) <= LINE[1] and INK[0] <= (sum(run) / len(run) - base) / 255 <= INK[1]
