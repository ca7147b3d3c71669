"""Recordings: what is said in audio files and in the audio track of videos, line by line."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from typing import Any

from seoga.errors import ExtractionFailed, Reason
from seoga.models import DocumentInfo, Place, Section, SectionKind
from seoga.text.places import clock
from seoga_extraction.checkpoint import Checkpoint, key_of
from seoga_extraction.format import Format, Input, Parsed
from seoga_extraction.speech.config import SpeechConfig
from seoga_extraction.speech.media import MOST_TRACKS, WINDOW_S, Recording, Window
from seoga_extraction.speech.recogniser import Recogniser, recogniser, status
from seoga_extraction.speech.repetition import Repetitions
from seoga_extraction.speech.tracks import worth_hearing
from seoga_extraction.speech.weights import lacks

# Raise it when the same file may give other lines: unfinished transcripts are not continued then.
VERSION = "3"
# A download of the largest model over a slow line.
DOWNLOAD_S = 3600.0
# Decoding without transcribing is hundreds of times faster than the sound.
SKIPPING = 0.05

_STILL_IMAGES = (
    *(b"heic", b"heix", b"hevc", b"heim", b"heis"),
    *(b"mif1", b"msf1", b"avif", b"avis"),
)
_RIFF = (b"RIFF", b"RF64")
_MPEG_LAYERS = (1, 2)


def _sniff(source: Input) -> bool:
    head = source.head
    if head[:4] in _RIFF:
        return head[8:12] in (b"WAVE", b"AVI ")
    if head[4:8] == b"ftyp":
        return head[8:12] not in _STILL_IMAGES
    if head[4:8] in (b"moov", b"mdat", b"wide"):
        return source.extension in (".mov", ".mp4", ".m4a")
    return head[:4] in (b"fLaC", b"OggS", b"\x1aE\xdf\xa3") or head[:3] == b"ID3" or _mpeg(head)


def _mpeg(head: bytes) -> bool:
    """Whether it begins with an MPEG audio frame (layer II or III, or AAC in ADTS)."""
    if len(head) < 4 or head[0] != 0xFF:
        return False
    if head[1] & 0xF6 == 0xF0:
        return True
    layer = head[1] >> 1 & 3
    known = head[1] >> 3 & 3 != 1 and head[2] >> 4 != 15 and head[2] >> 2 & 3 != 3
    return head[1] & 0xE0 == 0xE0 and layer in _MPEG_LAYERS and known


def _parse(source: Input) -> Parsed:
    if "speech" not in source.options:
        raise ExtractionFailed(
            "This is a recording inside another file, which is not transcribed.",
            "Save it as a file of its own.",
            Reason.UNSUPPORTED,
        )
    config = SpeechConfig.from_json(source.options)
    with Recording(source.path, source.limits) as recording:
        if not recording.has_sound:
            yield DocumentInfo("audio", recording.title, {"note": "It has no sound track."})
            return
        speech = recogniser(config, partial(source.more_time, DOWNLOAD_S))
        yield from Transcript(source, config, recording, speech).events()


class Transcript:
    """One recording on its way to text."""

    def __init__(
        self, source: Input, config: SpeechConfig, recording: Recording, speech: Recogniser
    ) -> None:
        self._source = source
        self._config = config
        self._recording = recording
        self._speech = speech
        self._repetitions = Repetitions()
        self._language = ""
        self._heading: tuple[str, ...] = ()
        self._now = datetime.now(UTC).isoformat(timespec="seconds")

    def events(self) -> Parsed:
        """The document as soon as its language is known, then the lines as they are heard."""
        sections = self._sections()
        first = next(sections, None)
        silent = {"note": "No speech was heard in it."}
        meta = first.meta if first is not None else silent | self._meta("")
        yield DocumentInfo("audio", self._recording.title, meta)
        if first is not None:
            yield first
        yield from sections

    def _meta(self, language: str) -> dict[str, Any]:
        meta = {
            "audio.model_size": self._speech.model,
            "audio.transcribed_at": self._now,
            "audio.device": self._speech.device,
        }
        if self._recording.tracks > MOST_TRACKS:
            meta["note"] = f"Of {self._recording.tracks} sound tracks, {MOST_TRACKS} are read."
        return {**meta, "audio.language": language} if language else meta

    def _sections(self) -> Iterator[Section]:
        count = min(self._recording.tracks, MOST_TRACKS)
        self._source.more_time(self._recording.seconds * count * SKIPPING)
        tracks = worth_hearing(self._source.path, self._source.limits, self._recording.tracks)
        failed: ExtractionFailed | None = None
        with ExitStack() as held:
            kept = self._checkpoint(held)
            for track in tracks:
                try:
                    yield from self._track(track, len(tracks) > 1, kept)
                except ExtractionFailed as error:
                    # What the other tracks say is read first.
                    failed = failed or error
            if failed is not None:
                raise failed
            if kept:
                kept.finish()

    def _track(self, track: int, named: bool, kept: Checkpoint | None) -> Iterator[Section]:
        start, self._language = 0.0, ""
        for part in kept.parts if kept else ():
            if part["track"] == track:
                start, self._language = part["end_s"], part["language"]
                yield from map(Section.from_json, part["sections"])
        self._source.more_time(start * SKIPPING)
        self._repetitions = Repetitions()
        with Recording(self._source.path, self._source.limits, track) as recording:
            title = f"Track {track + 1}: {recording.track_title}".removesuffix(": ")
            self._heading = (title,) if named else ()
            for window in recording.windows(start):
                made = []
                for section in self._window(window):
                    made.append(section.to_json())
                    yield section
                if kept:
                    part = {"end_s": window.end_s, "language": self._language, "sections": made}
                    kept.add({"track": track, **part})

    def _checkpoint(self, held: ExitStack) -> Checkpoint | None:
        """Only for what has more than one window."""
        if 0 < self._recording.seconds <= WINDOW_S and self._recording.tracks == 1:
            return None
        key = key_of(self._source.path, VERSION, self._speech.model, self._speech.device)
        return held.enter_context(Checkpoint(self._config.transcripts, key))

    def _window(self, window: Window) -> Iterator[Section]:
        seconds = window.end_s - window.start_s
        self._source.more_time(seconds * self._config.seconds_per_second)
        started = time.monotonic()
        for line in self._speech.lines(window.sound, self._language):
            self._language = line.language
            if not (text := self._repetitions.kept(line.text)):
                continue
            start = window.start_s + line.start_s
            place = Place(start_s=round(start, 2), end_s=round(window.start_s + line.end_s, 2))
            yield Section(
                f"[{clock(start)}] {text}",
                SectionKind.TRANSCRIPT,
                self._heading,
                place=place,
                meta=self._meta(line.language),
            )
        figures = self._source.figures
        figures["audio_s"] = figures.get("audio_s", 0.0) + seconds
        figures["work_s"] = figures.get("work_s", 0.0) + time.monotonic() - started


def _check(options: Mapping[str, Any]) -> dict[str, Any]:
    return status(SpeechConfig.from_json(options))


FORMAT = Format(
    name="audio",
    parse=_parse,
    extensions=(
        *(".mp3", ".wav", ".m4a", ".aac", ".ogg", ".oga", ".opus", ".flac", ".webm", ".mka"),
        *(".mp4", ".m4v", ".mov", ".mkv", ".avi"),
    ),
    sniff=_sniff,
    needs=("faster_whisper", "av"),
    lane="speech",
    version=VERSION,
    check=_check,
    lacks=lacks,
)
