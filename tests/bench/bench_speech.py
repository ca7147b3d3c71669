"""Recordings through the extraction engine: word error rate, and speed beside bare faster-whisper.

Both use the same weights, threads, number format, beam, temperatures and voice detection.
"""

from __future__ import annotations

import csv
import os
import re
import tempfile
import wave
from collections.abc import Sequence
from pathlib import Path

from bench import HANDED, Clock
from faster_whisper import WhisperModel, decode_audio

from seoga.models import Section
from seoga.settings import Settings
from seoga_extraction.engine import ExtractionEngine
from seoga_extraction.speech.choice import COMPUTE
from seoga_extraction.speech.recogniser import BEAM, TEMPERATURES

JFK = (
    "And so my fellow Americans, ask not what your country can do for you, "
    "ask what you can do for your country."
)
ENGLISH = (
    "audio/whisper__jfk.flac",
    "audio/whisper.cpp__jfk.mp3",
    "audio/fieldcuredocumentparsers__kennedy.mp3",
    "audio/leopard__test.wav",
    "audio/wyomingfasterwhisper__living_room_light_en.wav",
    "audio_derived/en_jfk.webm",
)
LONG = ("audio/fieldcuredocumentparsers__kennedy.mp3", "audio/whisper__jfk.flac")
REPEATS = 4
ROUNDS = 2


def main() -> None:
    cores = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory(prefix="seoga-bench-") as name:
        settings = Settings(
            cache_path=Path(name), offline=True, whisper_model="base", whisper_device="cpu"
        )
        engine = ExtractionEngine(settings)
        print(engine.speech())
        errors = words = 0
        for clip in ENGLISH:
            wrong, said = word_errors(truth(clip), heard(engine, HANDED / clip))
            errors, words = errors + wrong, words + said
            print(f"{clip:58} {wrong:3d} of {said:3d} words wrong", flush=True)
        print(f"word error rate   {errors / words:8.3f}   (mark: 0.10)", flush=True)
        long = Path(name) / "long.wav"
        seconds = joined([HANDED / clip for clip in LONG] * REPEATS, long)
        folder = Path(name) / "whisper-models" / "packaged-base"
        bare = WhisperModel(
            str(folder), device="cpu", compute_type=COMPUTE["cpu"], cpu_threads=cores
        )
        ours, theirs = [], []
        for _ in range(ROUNDS):
            with Clock() as clock:
                heard(engine, long)
            ours.append(clock.seconds)
            with Clock() as clock:
                transcribe(bare, long)
            theirs.append(clock.seconds)
            print(f"{seconds:.0f} s of speech: ours {ours[-1]:.1f} s, bare {theirs[-1]:.1f} s")
        engine.close()
    print(f"real-time factor  {min(ours) / seconds:8.3f}   bare {min(theirs) / seconds:.3f}")
    print(f"ratio             {min(ours) / min(theirs):8.2f}   (mark: 1.15)")


def heard(engine: ExtractionEngine, path: Path) -> str:
    lines = [one.text for one in engine.extract(path, path.name) if isinstance(one, Section)]
    return " ".join(line.partition("] ")[2] for line in lines)


def transcribe(model: WhisperModel, path: Path) -> str:
    segments, _ = model.transcribe(
        str(path),
        beam_size=BEAM,
        temperature=TEMPERATURES,
        condition_on_previous_text=False,
        vad_filter=True,
    )
    return " ".join(segment.text for segment in segments)


def truth(clip: str) -> str:
    if "jfk" in clip:
        return JFK
    with (HANDED / "MANIFEST.tsv").open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE):
            if row["path"] == clip:
                return row["ground_truth"].strip('"')
    raise LookupError(clip)


def word_errors(said: str, heard_text: str) -> tuple[int, int]:
    """Words wrong, missing or too many (edit distance), and words said."""
    right, got = (re.findall(r"[\w']+", text.casefold()) for text in (said, heard_text))
    row = list(range(len(got) + 1))
    for count, word in enumerate(right, 1):
        before, row[0] = row[0], count
        for index, other in enumerate(got, 1):
            best = min(before + (word != other), row[index] + 1, row[index - 1] + 1)
            before, row[index] = row[index], best
    return row[-1], len(right)


def joined(clips: Sequence[Path], target: Path) -> float:
    """All clips with half a second between them as one WAV file; its seconds."""
    frames = b""
    for clip in clips:
        samples = decode_audio(str(clip))
        frames += (samples * 32767).astype("<i2").tobytes() + b"\0" * 16000
    with wave.open(str(target), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(16000)
        out.writeframes(frames)
    return len(frames) / 32000


if __name__ == "__main__":
    main()
