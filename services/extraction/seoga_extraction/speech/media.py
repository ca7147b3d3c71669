"""The sound of a file, as a stream of windows that are cut at a quiet moment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from seoga.errors import ExtractionFailed, Reason
from seoga.text.places import clock
from seoga_extraction.format import corrupt
from seoga_extraction.limits import Limits
from seoga_extraction.speech.lengths import declared, open_ended
from seoga_extraction.speech.phrases import RATE

if TYPE_CHECKING:
    from seoga_extraction.speech.phrases import Sound

# Ten minutes are 38 MB of samples; a file of three hours never lies in memory whole.
WINDOW_S = 600
# The cut is looked for in the last minute of a window.
SEARCH_S = 60
QUIET_S = 0.5
# Less of it than this share, and more than a second less, was cut off.
CUT = 0.95
# Samples a second. A damaged header that names one would make hours of a minute.
SLOWEST = 2000
FASTEST = 768_000
# Bytes a second of the sparsest silence (FLAC 190, Opus 70 in packets of their own).
LEAST_BYTES_S = 50
# Programs that record games or meetings write six at most; a film has more in rare cases.
MOST_TRACKS = 8
# A mix of less than this share of a channel's power is what is left of two that cancel out.
CANCELLED = 0.01
# A stream that is noise to its decoder would be tried packet by packet for ever.
BAD_PACKETS = 1000


@dataclass(frozen=True, slots=True)
class Window:
    """A part of a recording: mono samples at 16 kHz in -1..1, beginning at `start_s`."""

    start_s: float
    sound: Sound

    @property
    def end_s(self) -> float:
        """Where the next one begins."""
        return self.start_s + len(self.sound) / RATE


class Recording:
    """A sound track of an audio or video file, read once from its beginning. Use it in a `with`.

    Raises ExtractionFailed when it cannot be opened (corrupt), or is longer than the limit in
    hours by what it says and by its size (too_large).
    """

    def __init__(self, path: Path, limits: Limits, track: int = 0) -> None:
        import av

        self._path = path
        self._limits = limits
        self._bad = 0
        try:
            self._container = av.open(str(path), mode="r", metadata_errors="ignore")
        except (av.FFmpegError, ValueError) as error:
            raise corrupt("The recording is damaged or cut off: it cannot be opened.") from error
        if not len(self._container.streams):
            self._container.close()
            raise corrupt("The recording is cut off: it has no tracks.")
        streams = self._container.streams.audio
        self._stream = streams[track] if track < len(streams) else None
        self.tracks = len(streams)
        if self._stream is not None and not _usual(self._stream.codec_context.sample_rate):
            self._container.close()
            raise corrupt("The recording is damaged: it names a sample rate that no sound has.")
        # A header may lie by much: only a length that the file's size makes possible counts here.
        total = self.seconds * min(max(self.tracks, 1), MOST_TRACKS)
        if self._too_long(total) and self._plausible(self.seconds):
            self._container.close()
            raise self._over()
        self.title = str(self._container.metadata.get("title", "")).strip()
        named = self._stream.metadata if self._stream is not None else {}
        self.track_title = str(named.get("title", "")).strip()

    def __enter__(self) -> Recording:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._container.close()

    @property
    def has_sound(self) -> bool:
        """Whether there is an audio track."""
        return self._stream is not None

    @property
    def seconds(self) -> float:
        """How long the file says it is; 0 when it does not say, and it may lie."""
        return max((self._container.duration or 0) / 1_000_000, 0.0)

    def windows(self, start_s: float = 0.0) -> Iterator[Window]:
        """The sound from a moment on, in pieces of at most ten minutes.

        Raises ExtractionFailed: corrupt when nothing can be decoded, or when the file breaks off
        (after what came before), too_large above the limit in hours.
        """
        import numpy as np

        held: list[Sound] = []
        count = 0
        at = round(start_s * RATE)
        failed: ExtractionFailed | None = None
        try:
            for block in self._from(at):
                held.append(block)
                count += len(block)
                while count >= WINDOW_S * RATE:
                    sound = np.concatenate(held)
                    cut = quiet_moment(sound[: WINDOW_S * RATE])
                    yield Window(at / RATE, sound[:cut])
                    at += cut
                    held, count = [sound[cut:].copy()], count - cut
        except ExtractionFailed as error:
            failed = error
        if count:
            yield Window(at / RATE, np.concatenate(held))
        if failed is not None:
            raise failed

    def whole(self) -> Iterator[Sound]:
        """All samples, block by block. Raises as `windows` does."""
        yield from self._from(0)

    def _from(self, skipped: int) -> Iterator[Sound]:
        """Blocks of samples without the first `skipped` ones."""
        position = 0
        most = self._limits.audio_hours * 3600 * RATE
        for block in self._blocks():
            position += len(block)
            if position > most:
                raise self._over()
            if position > skipped:
                yield block[max(len(block) - (position - skipped), 0) :]
        if not position:
            raise corrupt("No sound can be decoded from the recording.")
        if self._bad > BAD_PACKETS:
            raise corrupt("The recording is damaged from some point on.")
        if position < (self._declared() * CUT - 1) * RATE:
            raise corrupt(
                f"The recording is cut off: {clock(position / RATE)} of "
                f"{clock(self._declared())} are there."
            )
        if open_ended(self._path):
            raise corrupt("The recording is cut off: its end is missing.")

    def _too_long(self, seconds: float) -> bool:
        return seconds > self._limits.audio_hours * 3600

    def _plausible(self, seconds: float) -> bool:
        return self._path.stat().st_size >= seconds * LEAST_BYTES_S

    def _over(self) -> ExtractionFailed:
        return ExtractionFailed(
            f"The recording is longer than {self._limits.audio_hours} hours.",
            "Split it.",
            Reason.TOO_LARGE,
        )

    def _declared(self) -> float:
        """The seconds that the file should have; 0 where it does not say, or says nonsense."""
        seconds = declared(self._path, self._container, self._stream)
        return 0.0 if self._too_long(seconds) else seconds

    def _blocks(self) -> Iterator[Sound]:
        import av

        resampler, channels = _resampler(1), 1
        try:
            for packet in self._container.demux(self._stream):
                for frame in self._decoded(packet):
                    # Timestamps of the file may run backwards: samples are counted instead.
                    frame.pts = None
                    if frame.layout.nb_channels != channels:
                        yield from _samples(resampler.resample(None))
                        channels = frame.layout.nb_channels
                        resampler = _resampler(channels)
                    try:
                        made = resampler.resample(frame)
                    except ValueError:
                        # The rate changed in the middle.
                        yield from _samples(resampler.resample(None))
                        resampler = _resampler(channels)
                        made = resampler.resample(frame)
                    yield from _samples(made)
                if self._bad > BAD_PACKETS:
                    break
        except av.FFmpegError as error:
            yield from _samples(resampler.resample(None))
            raise corrupt("The recording is cut off: what was read is all there is.") from error
        yield from _samples(resampler.resample(None))

    def _decoded(self, packet: Any) -> list[Any]:
        import av

        try:
            return list(packet.decode())
        except av.InvalidDataError:
            self._bad += 1
            return []


def _usual(rate: int | None) -> bool:
    """Whether sound may have so many samples a second; one that is not told yet may be."""
    return not rate or SLOWEST <= rate <= FASTEST


def quiet_moment(sound: Sound) -> int:
    """The sample in the last minute around which half a second is quietest."""
    import numpy as np

    step = RATE // 50
    first = max(len(sound) - SEARCH_S * RATE, 0)
    tail = sound[first:]
    frames = tail[: len(tail) // step * step].reshape(-1, step)
    power = np.square(frames).mean(axis=1)
    width = round(QUIET_S * RATE / step)
    if len(power) <= width:
        return len(sound)
    smooth = np.convolve(power, np.ones(width), mode="valid")
    return first + (int(smooth.argmin()) + width // 2) * step


def _resampler(channels: int) -> Any:
    import av

    layout = "stereo" if channels > 1 else "mono"
    return av.AudioResampler(format="fltp", layout=layout, rate=RATE)


def _samples(frames: Any) -> Iterator[Sound]:
    for frame in frames:
        samples = frame.to_ndarray()
        if samples.shape[-1]:
            yield mixed(samples)


def mixed(channels: Sound) -> Sound:
    """One channel of several (channel, sample): their mean, or the loudest where they cancel each
    other out, as a microphone wired the wrong way round makes them."""
    import numpy as np

    mean: Sound = channels.mean(axis=0)
    powers = np.square(channels).mean(axis=1)
    loudest = int(powers.argmax())
    cancelled = float(np.square(mean).mean()) < CANCELLED * float(powers[loudest])
    return channels[loudest] if cancelled else mean
