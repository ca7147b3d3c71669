"""Long pictures, such as a screen shot of a whole conversation, cut where no text stands."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from seoga_extraction.ocr.strategy import PageText

if TYPE_CHECKING:
    from PIL.Image import Image

# So many times as long as wide, and longer than a large screen is high.
LONG = 3
LONGEST = 3200
# A band is at least so many times as high as wide, and at most twice that.
BAND = 1.0
# Rows this much above the emptiest (shades of grey, mean change to the next pixel) are as empty.
EMPTY = 0.05


def is_long(size: tuple[int, int]) -> bool:
    """Whether a picture of this size, or turned, may be cut."""
    return max(size) > LONGEST and max(size) >= LONG * min(size)


def bands(image: Image) -> Iterator[Image]:
    """An upright grey picture from its top: all of it, or in pieces where it is long and not wide.

    Lines run across a wide one, so that it stays whole.
    """
    top = 0
    least = max(int(BAND * image.width), LONGEST // 8)
    while is_long(image.size) and image.width < image.height and image.height - top > 2 * least:
        end = top + least + _emptiest(image.crop((0, top + least, image.width, top + 2 * least)))
        yield image.crop((0, top, image.width, end))
        top = end
    yield image.crop((0, top, *image.size)) if top else image


def _emptiest(strip: Image) -> int:
    """The middle row of the widest gap; upright lines of a frame count for nothing."""
    import PIL.Image
    from PIL import ImageChops

    width, height = strip.size
    changes = ImageChops.difference(
        strip.crop((0, 0, width - 1, height)), strip.crop((1, 0, width, height))
    )
    rows = changes.convert("F").resize((1, height), PIL.Image.Resampling.BOX)
    ink = array("f", rows.tobytes())
    least = min(ink) + EMPTY
    best, begin = (0, 0), 0
    for y, value in enumerate([*ink, least + 1]):
        if value <= least:
            continue
        if y - begin > best[1] - best[0]:
            best = (begin, y)
        begin = y + 1
    return max((best[0] + best[1]) // 2, 1)


def joined(parts: Sequence[PageText]) -> PageText:
    """The text of the bands of one page; each letter has a vote on how sure it is."""
    if len(parts) == 1:
        return parts[0]
    weights = [sum(map(len, part.texts)) for part in parts]
    sure = sum(part.confidence * weight for part, weight in zip(parts, weights, strict=True))
    return replace(
        parts[0],
        texts=tuple(text for part in parts for text in part.texts),
        confidence=round(sure / max(sum(weights), 1), 3),
        seconds=sum(part.seconds for part in parts),
    )
