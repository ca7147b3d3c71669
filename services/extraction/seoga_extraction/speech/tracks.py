"""Which sound tracks of a file are worth hearing: neither silent nor another one once more."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from seoga.errors import ExtractionFailed, Reason
from seoga_extraction.limits import Limits
from seoga_extraction.speech.media import MOST_TRACKS, Recording
from seoga_extraction.speech.phrases import RATE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Loudness = NDArray[np.float32]

# The loudness of a track is taken fifty times a second: 17 MB for a day.
STEP = RATE // 50
# Below this amplitude (of 1) there is nothing to hear.
SILENT = 1e-4
# Encoders shift a sound by a few hundredths of a second.
SHIFT = 10
# Two tracks are one sound when no ten seconds differ by more than this share of their power.
CHUNK = 500
DIFFERENT = 0.1
# A stretch as faint as this, beside the loudest, is noise of the encoder.
FAINT = 0.01


def worth_hearing(path: Path, limits: Limits, count: int) -> list[int]:
    """The numbers (from 0) of the tracks to transcribe, of the first `MOST_TRACKS` of `count`.

    A file of one track is not looked at. Others are decoded once: silent ones, those that cannot
    be read, and those with the sound of an earlier one are left out; the first stays if none is
    left. Raises ExtractionFailed (too_large) when all together are longer than the limit.
    """
    if count < 2:
        return [0]
    kept: dict[int, Loudness] = {}
    left = limits.audio_hours * 3600 * RATE
    for track in range(min(count, MOST_TRACKS)):
        loudness = _loudness(path, limits, track)
        left -= len(loudness) * STEP
        if left < 0:
            raise ExtractionFailed(
                f"The tracks of the recording are longer than {limits.audio_hours} hours together.",
                "Split it.",
                Reason.TOO_LARGE,
            )
        heard = len(loudness) and float(loudness.max()) > SILENT
        if heard and not any(repeats(loudness, one) for one in kept.values()):
            kept[track] = loudness
    return list(kept) or [0]


def _loudness(path: Path, limits: Limits, track: int) -> Loudness:
    """What can be read of a track, as the amplitude of each fiftieth of a second."""
    import numpy as np

    made: list[Loudness] = []
    rest = np.zeros(0, np.float32)
    try:
        with Recording(path, limits, track) as recording:
            for block in recording.whole():
                sound = np.concatenate([rest, block])
                whole = len(sound) // STEP * STEP
                power = np.square(sound[:whole].reshape(-1, STEP)).mean(axis=1)
                made.append(np.sqrt(power))
                rest = sound[whole:]
    except ExtractionFailed as error:
        if error.reason is Reason.TOO_LARGE:
            raise
    return np.concatenate(made) if made else rest[:0]


def repeats(one: Loudness, other: Loudness) -> bool:
    """Whether a track has nothing that another one has not, but for its volume."""
    import numpy as np

    smooth = np.ones(5, np.float32) / 5
    first, second = (np.convolve(track, smooth, mode="same") for track in (one, other))
    size = min(len(first), len(second)) - 2 * SHIFT
    if size <= 0 or abs(len(first) - len(second)) > 50:
        return False
    middle = first[SHIFT : SHIFT + size]
    shifted = [second[lag : lag + size] for lag in range(2 * SHIFT + 1)]
    nearest = max(shifted, key=lambda track: float(np.dot(track, middle)))
    gain = float(np.dot(nearest, middle)) / max(float(np.dot(nearest, nearest)), 1e-12)
    rest = np.square(middle - gain * nearest)
    starts = range(0, size, CHUNK)
    power = np.array([np.square(middle[at : at + CHUNK]).sum() for at in starts])
    left = np.array([rest[at : at + CHUNK].sum() for at in starts])
    loud = power > FAINT**2 * power.max()
    return bool(np.all(left[loud] <= DIFFERENT * power[loud]))
