"""Several sound tracks and channels, through real weights: each sentence once, none lost."""

from __future__ import annotations

import wave
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from faster_whisper import decode_audio

from seoga.errors import ExtractionFailed, Reason
from seoga.models import Section
from seoga_extraction.engine import ExtractionEngine
from seoga_extraction.limits import Limits
from seoga_extraction.speech.media import MOST_TRACKS, mixed
from seoga_extraction.speech.tracks import worth_hearing

from .recordings import ENGLISH, KOREAN, heard, words

RATE = 16000
Sound = np.ndarray[Any, np.dtype[np.float32]]


@pytest.fixture(scope="module")
def english(handed: Path) -> Sound:
    sound: Sound = decode_audio(str(handed / ENGLISH[0]))
    return sound


@pytest.fixture(scope="module")
def korean(handed: Path) -> Sound:
    sound: Sound = decode_audio(str(handed / KOREAN))
    return sound


def film(path: Path, tracks: Sequence[Sound], titles: Sequence[str] = ()) -> Path:
    """A Matroska file of sound tracks in AAC."""
    with av.open(str(path), "w") as out:
        streams: list[Any] = [out.add_stream("aac", rate=RATE, layout="mono") for _ in tracks]
        for stream, title in zip(streams, titles, strict=False):
            stream.metadata["title"] = title
        for stream, sound in zip(streams, tracks, strict=True):
            frame = av.AudioFrame.from_ndarray(sound.reshape(1, -1), format="fltp", layout="mono")
            frame.sample_rate = RATE
            out.mux(stream.encode(frame))
            out.mux(stream.encode(None))
    return path


def silence(seconds: float) -> Sound:
    return np.zeros(int(seconds * RATE), np.float32)


def test_speech_in_the_second_track_is_heard(
    speech: ExtractionEngine, korean: Sound, tmp_path: Path
) -> None:
    info, sections = heard(speech, film(tmp_path / "x.mkv", [silence(11), korean]))
    assert info.meta["audio.language"] == "ko"
    assert "거실" in words(sections)
    assert sections[0].heading_path == ()


def test_tracks_of_their_own_are_parts_and_a_repeated_one_is_heard_once(
    speech: ExtractionEngine, english: Sound, korean: Sound, tmp_path: Path
) -> None:
    tracks = [english, english * 0.5, korean]
    _, sections = heard(speech, film(tmp_path / "x.mkv", tracks, ["Desktop", "Copy", "마이크"]))
    parts: dict[tuple[str, ...], list[Section]] = {}
    for one in sections:
        parts.setdefault(one.heading_path, []).append(one)
    assert list(parts) == [("Track 1: Desktop",), ("Track 3: 마이크",)]
    first, second = parts.values()
    assert words(first).count("country can do for you") == 1
    assert "거실" in words(second)
    assert second[0].place.start_s == pytest.approx(0, abs=1)


def test_a_track_with_a_sentence_more_is_no_repetition(
    english: Sound, korean: Sound, tmp_path: Path
) -> None:
    base = np.concatenate([np.tile(english, 6), silence(5)])
    more = base.copy()
    more[-len(korean) :] += korean
    path = film(tmp_path / "x.mkv", [base, more, more * 0.7, silence(70)])
    assert worth_hearing(path, Limits(), 4) == [0, 1]


def test_silent_tracks_leave_the_first(tmp_path: Path) -> None:
    path = film(tmp_path / "x.mkv", [silence(2), silence(2)])
    assert worth_hearing(path, Limits(), 2) == [0]


def test_the_hours_of_all_tracks_count_together(tmp_path: Path) -> None:
    # Forty minutes each, under a limit of an hour.
    path = film(tmp_path / "x.mkv", [silence(2400), silence(2400)])
    with pytest.raises(ExtractionFailed) as failed:
        worth_hearing(path, replace(Limits(), audio_hours=1), 2)
    assert failed.value.reason is Reason.TOO_LARGE


def test_of_too_many_tracks_the_first_are_read_and_the_document_says_so(
    speech: ExtractionEngine, korean: Sound, tmp_path: Path
) -> None:
    tracks = [korean, *[silence(1)] * (MOST_TRACKS - 1), korean]
    info, sections = heard(speech, film(tmp_path / "x.mkv", tracks))
    assert info.meta["note"] == f"Of {MOST_TRACKS + 1} sound tracks, {MOST_TRACKS} are read."
    assert words(sections).count("거실") == 1


def test_channels_that_cancel_out_are_heard(
    speech: ExtractionEngine, english: Sound, tmp_path: Path
) -> None:
    path = tmp_path / "x.wav"
    both = np.stack([english, -0.95 * english], axis=1)
    with wave.open(str(path), "wb") as out:
        out.setnchannels(2)
        out.setsampwidth(2)
        out.setframerate(RATE)
        out.writeframes((both * 32767).astype("<i2").tobytes())
    _, sections = heard(speech, path)
    assert "country can do for you" in words(sections)


def test_channels_that_do_not_cancel_out_are_mixed() -> None:
    left, right = np.random.default_rng(1).normal(0, 0.1, (2, RATE)).astype(np.float32)
    assert np.allclose(mixed(np.stack([left, right])), (left + right) / 2)
    assert np.allclose(mixed(np.stack([left, -left])), left)
    assert not mixed(np.zeros((2, 100), np.float32)).any()
