"""Real clips through real weights: words, times, languages, silence, broken files, the command."""

from __future__ import annotations

import csv
import json
import re
import threading
import time
from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import httpx
import pytest

from seoga import metrics
from seoga.cli.main import invoke
from seoga.errors import ExtractionFailed, Reason
from seoga.models import DocumentInfo, Section, SectionKind
from seoga.settings import Settings
from seoga.settings import settings as current
from seoga_extraction.engine import ExtractionEngine

from .recordings import ENGLISH, KOREAN, hangul, heard, joined, words

JFK = (
    "And so my fellow Americans, ask not what your country can do for you, "
    "ask what you can do for your country."
)


def test_lines_have_their_times_and_say_how_they_were_made(
    speech: ExtractionEngine, handed: Path
) -> None:
    info, sections = heard(speech, handed / "audio" / "whisper__jfk.flac")
    assert info.format == "audio"
    expected = {"audio.device": "cpu", "audio.language": "en"}
    assert expected.items() <= info.meta.items()
    assert info.meta["audio.model_size"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", info.meta["audio.transcribed_at"])
    last = 0.0
    for one in sections:
        assert one.kind is SectionKind.TRANSCRIPT
        assert re.match(r"\[00:00:\d\d\] \S", one.text)
        assert one.meta == info.meta
        assert one.place.start_s is not None
        assert one.place.end_s is not None
        assert last <= one.place.start_s < one.place.end_s <= 11.1
        last = one.place.start_s
    assert "ask not what your country can do for you" in words(sections)


def test_few_words_of_english_clips_are_wrong(speech: ExtractionEngine, handed: Path) -> None:
    with (handed / "MANIFEST.tsv").open(encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        truth = {row["path"]: row["ground_truth"].strip('"') for row in rows}
    wrong = said = 0
    for clip in ENGLISH:
        _, sections = heard(speech, handed / clip)
        right = JFK if "jfk" in clip else truth[clip]
        errors, count = word_errors(right, words(sections))
        wrong, said = wrong + errors, said + count
    assert wrong / said <= 0.10


def word_errors(right: str, got: str) -> tuple[int, int]:
    """Words wrong, missing or too many (edit distance), and words said."""
    expected, found = (re.findall(r"[\w']+", text.casefold()) for text in (right, got))
    row = list(range(len(found) + 1))
    for count, word in enumerate(expected, 1):
        before, row[0] = row[0], count
        for index, other in enumerate(found, 1):
            best = min(before + (word != other), row[index] + 1, row[index - 1] + 1)
            before, row[index] = row[index], best
    return row[-1], len(expected)


@pytest.mark.parametrize("suffix", ["flac", "m4a", "mp3", "ogg", "webm"])
def test_every_container_gives_the_same_korean(
    speech: ExtractionEngine, handed: Path, suffix: str
) -> None:
    info, sections = heard(speech, handed / "audio_derived" / f"ko_leopard.{suffix}")
    assert info.meta["audio.language"] == "ko"
    assert hangul(words(sections)) >= 12
    assert "걸어갔다" in words(sections).replace(" ", "")


def test_the_audio_track_of_a_video_is_read(speech: ExtractionEngine, handed: Path) -> None:
    _, film = heard(speech, handed / "audio" / "docling__sample_10s_video-mp4.mp4")
    _, sound = heard(speech, handed / "audio" / "docling__sample_10s_audio-mp3.mp3")
    wrong, said = word_errors(words(sound), words(film))
    assert said > 10
    assert wrong <= said * 0.1


def test_a_recording_that_changes_its_language_keeps_both(
    speech: ExtractionEngine, handed: Path, tmp_path: Path
) -> None:
    path = joined([handed / ENGLISH[3], handed / KOREAN], tmp_path / "mixed.wav")
    for mixed in (path, handed / "audio_derived" / "mixed_ko_en_ko.mp3"):
        _, sections = heard(speech, mixed)
        by_language = {one.meta["audio.language"]: one for one in sections}
        assert set(by_language) == {"ko", "en"}
        assert hangul(by_language["ko"].text) >= 5
        assert hangul(by_language["en"].text) == 0
        assert re.search("room|country", by_language["en"].text)


@pytest.mark.parametrize(
    "name",
    ["audio/docling__silent_1s.wav", "audio/leopard__empty.wav", "audio_derived/silence_5s.mp3"],
)
def test_silence_gives_no_text(speech: ExtractionEngine, handed: Path, name: str) -> None:
    info, sections = heard(speech, handed / name)
    assert info.format == "audio"
    assert info.meta["note"] == "No speech was heard in it."
    assert sections == []


@pytest.mark.parametrize(
    "name",
    [
        "audio_derived/broken_header_only.wav",
        "audio_derived/broken_truncated_300b.webm",
        "audio_derived/broken_zeroed_header.m4a",
        "audio/tika__testMP4_truncated.m4a",
    ],
)
def test_broken_recordings_are_corrupt(speech: ExtractionEngine, handed: Path, name: str) -> None:
    with pytest.raises(ExtractionFailed) as failed:
        heard(speech, handed / name)
    assert failed.value.reason is Reason.CORRUPT


def test_answers_to_questions_about_recordings_are_heard(
    speech: ExtractionEngine, handed: Path
) -> None:
    lines = (handed / "ground_truth" / "file_qa.jsonl").read_text(encoding="utf-8").splitlines()
    asked = [one for one in map(json.loads, lines) if one["files"][0].startswith("audio")]
    assert asked
    for one in asked:
        _, sections = heard(speech, handed / one["files"][0])
        text = words(sections).casefold()
        assert text
        assert all(answer.casefold() in text for answer in one["answer_contains"])


def test_a_recording_attached_to_a_mail_is_heard_and_nothing_comes_twice(
    speech: ExtractionEngine, handed: Path, tmp_path: Path
) -> None:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "a@b.c", "d@e.f", "Speech"
    # So long that some of it is told before the recording is met.
    mail.set_content("\n\n".join(f"paragraph {number} of the mail" for number in range(9000)))
    sound = (handed / "audio" / "whisper__jfk.flac").read_bytes()
    mail.add_attachment(sound, maintype="audio", subtype="flac", filename="jfk.flac")
    mail.add_attachment("and *text*", filename="after.md")
    path = tmp_path / "mail.eml"
    path.write_bytes(mail.as_bytes())
    info, *sections = speech.extract(path, "mail.eml")
    assert isinstance(info, DocumentInfo)
    assert info.format == "eml"
    texts = [one.text for one in sections if isinstance(one, Section)]
    assert len(texts) == len(set(texts)) > 9000
    heard = [one for one in sections if getattr(one, "kind", "") is SectionKind.TRANSCRIPT]
    assert heard[0].heading_path == ("Speech", "Attachment: jfk.flac")
    assert "ask not what your country" in " ".join(one.text for one in heard)
    assert texts[-1] == "and *text*"


def test_documents_are_read_while_a_recording_is(
    speech: ExtractionEngine, handed: Path, tmp_path: Path
) -> None:
    path = tmp_path / "note.md"
    path.write_text("# 회의록")
    lines = speech.extract(handed / ENGLISH[1], "kennedy.mp3")
    assert isinstance(next(lines), DocumentInfo)
    read: list[object] = []
    reader = threading.Thread(target=lambda: read.extend(speech.extract(path, path.name)))
    reader.start()
    reader.join(30)
    assert len(read) == 2
    assert len(list(lines)) > 1


def test_work_and_sound_are_counted(speech: ExtractionEngine, handed: Path) -> None:
    def counted() -> tuple[float, float]:
        values = [
            metric.real.collect()[0].samples[0].value
            for metric in (metrics.SPEECH_AUDIO, metrics.SPEECH_SECONDS)
        ]
        return values[0], values[1]

    before = counted()
    heard(speech, handed / KOREAN)
    after = counted()
    assert after[0] - before[0] == pytest.approx(2.2, abs=0.1)
    assert after[1] > before[1]


def test_without_a_model_the_file_waits_for_a_person(handed: Path, tmp_path: Path) -> None:
    engine = ExtractionEngine(
        Settings(cache_path=tmp_path, whisper_model="small", offline=True, whisper_device="cpu")
    )
    try:
        with pytest.raises(ExtractionFailed, match="'small'") as failed:
            heard(engine, handed / KOREAN)
        described = engine.describe()["formats"]["audio"]
    finally:
        engine.close()
    assert failed.value.reason is Reason.MISSING_MODEL
    assert described["available"] is False
    assert "small" in described["why"]


@pytest.fixture
def smoke(
    speech_settings: Settings, handed: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., int]:
    """Runs `seoga smoke-audio --file` on a handed file; variables without their SEOGA_."""

    def run(name: str, **variables: str) -> int:
        fixed = {"CACHE_PATH": str(speech_settings.cache_path), "WHISPER_DEVICE": "cpu"}
        for variable, value in (fixed | variables).items():
            monkeypatch.setenv(f"SEOGA_{variable}", value)
        current.cache_clear()
        return invoke(["smoke-audio", "--file", str(handed / name)])

    return run


def test_smoke_audio_prints_what_is_said(
    smoke: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert smoke(KOREAN) == 0
    assert hangul(capsys.readouterr().out) >= 5


@pytest.mark.parametrize(
    ("name", "variables", "says"),
    [
        ("audio/docling__silent_1s.wav", {}, "empty result"),
        ("audio_derived/broken_truncated_300b.webm", {}, "unreadable file"),
        ("MANIFEST.tsv", {}, "no recording"),
        ("nowhere.wav", {}, "not there"),
        (KOREAN, {"WHISPER_MODEL": "medium"}, "missing model"),
        (KOREAN, {"WHISPER_MODEL": "/nowhere"}, "missing model"),
    ],
)
def test_smoke_audio_says_what_is_wrong(
    smoke: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
    name: str,
    variables: dict[str, str],
    says: str,
) -> None:
    assert smoke(name, **variables) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert says in said.err
    assert "Traceback" not in said.err


def answered(url: str, enough: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """What /ready says, asked until it says enough."""
    deadline = time.monotonic() + 60
    while True:
        answer: dict[str, Any] = httpx.get(f"{url}/ready", timeout=10).json()
        if enough(answer) or time.monotonic() > deadline:
            return answer
        threading.Event().wait(0.1)


def test_the_service_says_what_speech_runs_on(
    speech_settings: Settings, start_service: Callable[..., str]
) -> None:
    url = start_service(
        "extraction", SEOGA_CACHE_PATH=str(speech_settings.cache_path), SEOGA_WHISPER_DEVICE="cpu"
    )
    answer = answered(url, lambda found: found["speech"]["device"])
    assert answer["ready"] is True
    assert answer["speech"]["device"] == "cpu"
    assert 'speech_device_state{device="cpu"' in httpx.get(f"{url}/metrics", timeout=10).text


def test_a_service_that_needs_a_gpu_is_not_ready_without_one(
    speech_settings: Settings, start_service: Callable[..., str]
) -> None:
    url = start_service(
        "extraction", SEOGA_CACHE_PATH=str(speech_settings.cache_path), SEOGA_REQUIRE_GPU="1"
    )
    answer = answered(url, lambda found: "REQUIRE_GPU" in found.get("message", ""))
    assert answer["ready"] is False
    assert "No NVIDIA GPU" in answer["message"]
    assert answer["hint"]
