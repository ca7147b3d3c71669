"""Recordings cut, altered, lying or odd, through real weights: a right reason, soon, in bounds."""

from __future__ import annotations

import io
import random
import re
import struct
import wave
from collections.abc import Callable
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from seoga.errors import Reason
from seoga.settings import Settings
from seoga_extraction.engine import ExtractionEngine
from seoga_extraction.lanes import SPEECH, lanes
from seoga_extraction.speech.config import SpeechConfig
from seoga_extraction.speech.weights import lacking

Try = Callable[[str, Path], Any]
MOST_SECONDS = 30
CLIPS = (
    "en_jfk.m4a",
    "en_jfk.ogg",
    "en_jfk.webm",
    "en_jfk.wav",
    "ko_leopard.mp3",
    "ko_leopard.flac",
)
# Text with what is missing after it, text of what is left, or nothing that can be decoded.
FAIR = (None, Reason.CORRUPT)


@pytest.fixture(scope="module", autouse=True)
def _weights(attacked: ExtractionEngine, handed: Path) -> None:
    """The model is there, and loaded: that is no file's time."""
    [options] = [lane.options for lane in lanes(Settings(offline=True)) if lane.name == SPEECH]
    if why := lacking(SpeechConfig.from_json(options)):
        pytest.skip(why)
    clip = handed / "audio" / "wyomingfasterwhisper__living_room_light_en.wav"
    assert list(attacked.extract(clip, clip.name))


@pytest.fixture
def hear(attempt: Try, tmp_path: Path) -> Callable[[str, bytes], Any]:
    """What a recording gives, after which another file was served within the memory allowed."""

    def heard(name: str, data: bytes) -> Any:
        path = tmp_path / "recording"
        path.write_bytes(data)
        got = attempt(name, path)
        assert got.seconds < MOST_SECONDS, (name, got)
        assert got.reason is None or got.hint
        return got

    return heard


def speech(handed: Path, rate: int = 16_000, seconds: float = 4.0) -> Any:
    """The first seconds of a clip as 16 bit samples of one channel."""
    resampler, parts = av.AudioResampler("s16", "mono", rate), []
    with av.open(str(handed / "audio" / "whisper__jfk.flac")) as file:
        for frame in file.decode(audio=0):
            frame.pts = None
            parts += [made.to_ndarray().reshape(-1) for made in resampler.resample(frame)]
    return np.concatenate(parts)[: int(rate * seconds)]


def wav(sound: Any, rate: int, channels: int = 1) -> bytes:
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(np.repeat(sound, channels).astype("<i2").tobytes())
    return out.getvalue()


@pytest.mark.parametrize(
    ("rate", "channels"), [(8000, 1), (8000, 2), (44_100, 2), (48_000, 1), (48_000, 6)]
)
def test_any_usual_rate_and_number_of_channels_is_heard(
    hear: Callable[..., Any], handed: Path, rate: int, channels: int
) -> None:
    got = hear("a.wav", wav(speech(handed, rate), rate, channels))
    assert got.reason is None
    assert "my fellow america" in got.text.lower()


@pytest.mark.parametrize("clip", CLIPS)
def test_cut_and_altered_recordings_give_what_is_left_or_a_reason(
    hear: Callable[..., Any], handed: Path, clip: str
) -> None:
    data = (handed / "audio_derived" / clip).read_bytes()
    dice = random.Random(clip)
    altered = bytearray(data)
    for _ in range(100):
        altered[dice.randrange(len(data))] = dice.randrange(256)
    third = len(data) // 3
    versions = {
        "half": data[: len(data) // 2],
        "altered": bytes(altered),
        "noise inside": data[:third] + dice.randbytes(third) + data[2 * third :],
        "header": data[:64] + bytes(5000),
        "few bytes": data[:300],
    }
    for damage, version in versions.items():
        got = hear(clip, version)
        assert got.reason in FAIR, (damage, got)
        assert not re.search(r"(.{2,9})\1{9}", got.text), (damage, got.text)
    assert hear(clip, versions["header"]).reason is Reason.CORRUPT
    half = hear(clip, versions["half"])
    assert half.reason is Reason.CORRUPT, half
    # An MP4 keeps its table at the end: without it nothing can be found.
    assert bool(half.text) == (not clip.endswith(".m4a"))
    whole = hear("a.pdf", data)
    assert (whole.format, whole.reason) == ("audio", None)


@pytest.mark.parametrize(
    ("offset", "form", "value"),
    [
        (4, "<I", 0),
        (22, "<H", 0),
        (22, "<H", 65_535),
        (24, "<I", 0),
        (24, "<I", 1),
        (24, "<I", 0x7FFFFFFF),
        (28, "<I", 1),
        (34, "<H", 0),
        (20, "<H", 0x55),
        (40, "<I", 0),
        (40, "<I", 0xFFFFFFFF),
    ],
    ids=str,
)
def test_lies_in_a_header_cost_nothing(
    hear: Callable[..., Any], handed: Path, offset: int, form: str, value: int
) -> None:
    data = bytearray(wav(speech(handed), 16_000))
    struct.pack_into(form, data, offset, value)
    got = hear("a.wav", bytes(data))
    assert got.reason in FAIR
    assert got.text or got.reason is Reason.CORRUPT


def test_a_recording_without_a_count_of_its_frames_is_not_called_cut(
    hear: Callable[..., Any], handed: Path
) -> None:
    data = (handed / "audio_derived" / "ko_leopard.mp3").read_bytes()
    assert b"Xing" in data[:400] or b"Info" in data[:400]
    uncounted = data.replace(b"Xing", b"Xxxx", 1).replace(b"Info", b"Xxxx", 1)
    got = hear("a.mp3", uncounted)
    assert got.reason is None
    assert got.text


@pytest.mark.parametrize("seconds", [1e15, float("nan"), -1.0, 1e-9])
def test_absurd_durations_are_not_believed(
    hear: Callable[..., Any], handed: Path, seconds: float
) -> None:
    data = bytearray((handed / "audio_derived" / "en_jfk.webm").read_bytes())
    # Duration, a float of eight bytes in milliseconds (Matroska, 0x4489).
    at = data.index(b"\x44\x89\x88") + 3
    struct.pack_into(">d", data, at, seconds * 1000)
    got = hear("a.webm", bytes(data))
    assert got.reason is None
    assert "ask not" in got.text


def test_a_clock_that_is_wrong_is_told_as_a_cut(hear: Callable[..., Any], handed: Path) -> None:
    data = bytearray((handed / "audio_derived" / "en_jfk.m4a").read_bytes())
    struct.pack_into(">I", data, data.index(b"mdhd") + 16, 1)
    got = hear("a.m4a", bytes(data))
    assert got.reason is Reason.CORRUPT
    assert "00:00:00 of 00:00:11 are there" in got.message


@pytest.mark.parametrize("kind", [("mp4", "a.mp4"), ("matroska", "a.mkv"), ("avi", "a.avi")])
def test_a_video_without_sound_is_blank(hear: Callable[..., Any], kind: tuple[str, str]) -> None:
    out = io.BytesIO()
    with av.open(out, "w", format=kind[0]) as file:
        stream: Any = file.add_stream("mpeg4", rate=10)
        stream.width = stream.height = 64
        stream.pix_fmt = "yuv420p"
        for number in range(20):
            pixels = np.full((64, 64, 3), number, np.uint8)
            file.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, "rgb24")))
        file.mux(stream.encode(None))
    got = hear(kind[1], out.getvalue())
    assert (got.format, got.reason, got.text) == ("audio", None, "")


def test_an_empty_recording_is_empty(hear: Callable[..., Any]) -> None:
    assert hear("a.mp3", b"").reason is Reason.EMPTY
