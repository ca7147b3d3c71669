"""Clips that were handed, put together, and what is heard in them."""

from __future__ import annotations

import re
import wave
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from seoga.models import DocumentInfo, Section
from seoga.settings import Settings
from seoga_extraction.engine import ExtractionEngine
from seoga_extraction.format import Input
from seoga_extraction.formats import audio
from seoga_extraction.lanes import SPEECH, lanes
from seoga_extraction.speech.config import SpeechConfig

KOREAN = "audio/wyomingfasterwhisper__living_room_light_ko.wav"
ENGLISH = (
    "audio/whisper__jfk.flac",
    "audio/fieldcuredocumentparsers__kennedy.mp3",
    "audio/leopard__test.wav",
    "audio/wyomingfasterwhisper__living_room_light_en.wav",
)


def told(settings: Settings) -> SpeechConfig:
    [options] = [lane.options for lane in lanes(settings) if lane.name == SPEECH]
    return SpeechConfig.from_json(options)


def heard(engine: ExtractionEngine, path: Path) -> tuple[DocumentInfo, list[Section]]:
    info, *sections = engine.extract(path, path.name)
    assert isinstance(info, DocumentInfo)
    return info, [one for one in sections if isinstance(one, Section)]


def words(sections: Sequence[Section]) -> str:
    return " ".join(one.text.partition("] ")[2] for one in sections)


def hangul(text: str) -> int:
    return len(re.findall(r"[가-힣]", text))


def transcribed(
    path: Path, settings: Settings, lines: int | None = None
) -> tuple[list[Section], float]:
    """The first `lines` of a recording in this process, and how many seconds were transcribed."""
    [lane] = [lane for lane in lanes(settings) if lane.name == SPEECH]
    source = Input(path, path.name, lane.limits)
    source.options = lane.options
    events = audio.FORMAT.parse(source)
    sections = []
    for event in events:
        if isinstance(event, Section):
            sections.append(event)
            if len(sections) == lines:
                break
    close = getattr(events, "close", None)
    assert close is not None
    close()
    return sections, source.figures.get("audio_s", 0.0)


def joined(clips: Sequence[Path], target: Path) -> Path:
    """The clips with half a second between them, as one WAV file."""
    return placed(clips, target, 0.5)[0]


def placed(clips: Sequence[Path], target: Path, pause_s: float) -> tuple[Path, list[float]]:
    """The clips with silence after each, as one WAV file, and the second where each begins."""
    from faster_whisper import decode_audio

    silence = np.zeros(int(pause_s * 16000), np.float32)
    sound, starts = np.zeros(0, np.float32), []
    for clip in clips:
        starts.append(len(sound) / 16000)
        sound = np.concatenate([sound, decode_audio(str(clip)), silence])
    with wave.open(str(target), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(16000)
        out.writeframes((sound * 32767).astype("<i2").tobytes())
    return target, starts
