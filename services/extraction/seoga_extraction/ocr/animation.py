"""Which frames of an animation show something new: slides shown one by one, a recorded screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

# Frames that are recognised. Of more, those that stand long enough to be read (ms); where few do it
# is a video, and some of its frames are taken.
MOST_READ = 30
HELD_MS = 500
SAMPLES = 6
# What is unpacked to look at: frames, and pixels of all of them together.
MOST_FRAMES = 500
MOST_PIXELS = 400_000_000
# Of frames with more pixels, only the first is read.
MOST_SIZE = 20_000_000
# Frames are compared at this side; a word that is new changes this part of them, by this much.
_SIDE = 256
_NEW = 0.0005
_CHANGE = 24
# A picture that comes again is known among so many.
_KNOWN = 50
# What is shown for no time is shown for this long by browsers (ms).
_SHORTEST = 100


@dataclass(frozen=True, slots=True)
class Frames:
    """`numbers`, from 1, of the frames to read; `note` on the others, "" where there are none;
    `broken`, the first that cannot be unpacked, else 0."""

    numbers: tuple[int, ...]
    note: str = ""
    broken: int = 0


@dataclass(slots=True)
class _Shown:
    number: int
    small: Image
    duration: float


def frames(image: Image) -> Frames:
    """The frames of an animation that show something new for longest, in their order.

    An image of one frame has that one.
    """
    count = int(getattr(image, "n_frames", 1))
    if count < 2:
        return Frames((1,))
    pixels = max(image.width * image.height, 1)
    if pixels > MOST_SIZE:
        return Frames((1,), _told(count, 1, 1, 1))
    most = min(count, MOST_FRAMES, MOST_PIXELS // pixels)
    shown: list[_Shown] = []
    broken = 0
    for number in range(1, most + 1):
        try:
            image.seek(number - 1)
            small = _small(image)
        except (OSError, ValueError, SyntaxError, EOFError):
            broken = number
            break
        duration = max(float(image.info.get("duration") or 0), _SHORTEST)
        known = next((one for one in reversed(shown[-_KNOWN:]) if _same(one.small, small)), None)
        if known is None:
            shown.append(_Shown(number, small, duration))
        else:
            known.duration += duration
    numbers = tuple(sorted(one.number for one in _chosen(shown))) or (1,)
    return Frames(numbers, _told(count, most, len(shown), len(numbers)), broken)


def _chosen(shown: Sequence[_Shown]) -> Sequence[_Shown]:
    if len(shown) <= MOST_READ:
        return shown
    longest = sorted(shown, key=lambda one: -one.duration)[:MOST_READ]
    held = [one for one in longest if one.duration >= HELD_MS]
    return held if len(held) >= SAMPLES else shown[:: -(-len(shown) // SAMPLES)]


def _told(count: int, seen: int, new: int, kept: int) -> str:
    said = [f"Of the {count:,} frames of this animation, {kept:,} that show something new are read"]
    if new > kept:
        said.append(f"{new - kept:,} more do, for less long, and are not")
    if seen < count:
        said.append(f"those from {seen + 1:,} on are not looked at")
    return "; ".join(said) + "." if kept < count else ""


def _small(image: Image) -> Image:
    import PIL.Image

    grey = image.convert("L")
    if image.has_transparency_data:
        # Of what is transparent, the letters may have the colour of nothing.
        alpha = image.convert("LA").getchannel("A")
        paper = PIL.Image.new("L", image.size, 128)
        paper.paste(grey, mask=alpha)
        grey = paper
    scale = min(1.0, _SIDE / max(grey.size))
    size = (max(1, round(grey.width * scale)), max(1, round(grey.height * scale)))
    return grey.resize(size, PIL.Image.Resampling.BOX)


def _same(one: Image, other: Image) -> bool:
    from PIL import ImageChops

    changed = sum(ImageChops.difference(one, other).histogram()[_CHANGE:])
    return changed <= _NEW * one.width * one.height
