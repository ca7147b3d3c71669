"""A page of a PDF, or a part of it, as an image for recognition; and the library itself."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL.Image import Image

DPI = 300
# What is wider or higher than this many pixels (A3 at 300 dpi) is rendered coarser.
MOST_PIXELS = 5000


def mupdf() -> Any:
    """The library. Its types are partial: given as Any, or mypy refuses every call."""
    return import_module("pymupdf")


def unturned(page: Any) -> Any:
    """The rectangle of a page as its text and its marks are told: without its rotation."""
    return page.rect * page.derotation_matrix


def picture(
    page: Any, box: tuple[float, float, float, float] | None = None, dpi: int = DPI
) -> Image:
    """The page as it is shown, or what is in a box of it (points, without its rotation), in grey.
    Raises what the library raises."""
    import PIL.Image

    shown = page.rect if box is None else mupdf().Rect(box) * page.rotation_matrix
    longest = max(shown.width, shown.height, 1.0)
    dpi = max(min(dpi, int(MOST_PIXELS * 72 / longest)), 1)
    drawn = page.get_pixmap(dpi=dpi, colorspace=mupdf().csGRAY, alpha=False, clip=box and shown)
    return PIL.Image.frombytes("L", (drawn.width, drawn.height), drawn.samples_mv)
