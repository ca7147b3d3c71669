"""Page images made fit for recognition: grey, straight, without speckle. Pure but for Pillow."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

# Angles are searched on a page of about this many pixels a side: 0.1 degrees is one pixel there.
SEARCH_SIDE = 600
WIDEST = 10
# Shades of grey between ink and paper that can be told apart.
FAINTEST = 16
# Below this, straightening costs more sharpness than it gives.
LEAST = 0.3


def blank(image: Image) -> bool:
    """Whether a grey page is of one shade: there is nothing on it to recognise."""
    used = [shade for shade, count in enumerate(image.histogram()) if count]
    return used[-1] - used[0] < FAINTEST


def straight(image: Image) -> Image:
    """The page turned so that its lines run level; the same page when they do."""
    import PIL.Image

    angle = skew(image)
    if abs(angle) < LEAST:
        return image
    return image.rotate(angle, PIL.Image.Resampling.BICUBIC, fillcolor=255)


def skew(image: Image) -> float:
    """Degrees by which to turn it counter-clockwise; 0 beyond 10 degrees.

    Rows of ink and rows of paper differ most when lines run level (projection profile, Postl
    1986): the sum of squared differences of neighbouring rows is maximised, coarse to fine.
    """
    import PIL.Image

    fine = _ink(image)
    coarse = fine.reduce(2)

    def contrast(small: Image, angle: float) -> int:
        return _contrast(small.rotate(angle, PIL.Image.Resampling.BILINEAR, fillcolor=0))

    best = float(max(range(-WIDEST, WIDEST + 1), key=lambda angle: contrast(coarse, angle)))
    for step in (0.5, 0.25, 0.1):
        around = (best, best - step, best + step)
        best = max(around, key=lambda angle: contrast(fine, angle))
    return best if abs(best) < WIDEST else 0.0


def sideways(image: Image) -> bool:
    """Whether the lines seem to run up or down: the columns of ink differ more than the rows."""
    import PIL.Image

    small = _ink(image)
    return _contrast(small.transpose(PIL.Image.Transpose.ROTATE_90)) > _contrast(small)


def _ink(image: Image) -> Image:
    """The page small, ink bright on black; faint noise does not count as ink."""
    import PIL.Image
    from PIL import ImageOps

    scale = SEARCH_SIDE / max(image.size)
    size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    small = ImageOps.invert(image.resize(size, PIL.Image.Resampling.BOX))
    return small.point([value if value > 60 else 0 for value in range(256)])


def _contrast(ink: Image) -> int:
    import PIL.Image

    rows = ink.resize((1, ink.height), PIL.Image.Resampling.BOX).tobytes()
    return sum((one - other) ** 2 for one, other in pairwise(rows))


def smooth(image: Image, size: int) -> Image:
    """Speckle taken out by a median over `size` × `size` pixels (odd)."""
    from PIL import ImageFilter

    return image.filter(ImageFilter.MedianFilter(size))


def turned(image: Image, degrees: int) -> Image:
    """The page turned clockwise by 90, 180 or 270 degrees."""
    import PIL.Image

    how = {
        90: PIL.Image.Transpose.ROTATE_270,
        180: PIL.Image.Transpose.ROTATE_180,
        270: PIL.Image.Transpose.ROTATE_90,
    }
    return image.transpose(how[degrees]) if degrees in how else image
