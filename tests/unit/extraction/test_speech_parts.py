"""The parts of speech that need no model: windows, phrases, repetition, unfinished transcripts."""

from __future__ import annotations

import json
import wave
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import pytest

from seoga.errors import ExtractionFailed, Reason
from seoga_extraction.checkpoint import Checkpoint, key_of
from seoga_extraction.detect import choose, formats
from seoga_extraction.engine import FORMATS
from seoga_extraction.format import Input
from seoga_extraction.formats.audio import clock
from seoga_extraction.limits import Limits
from seoga_extraction.speech import media
from seoga_extraction.speech.media import Recording, quiet_moment
from seoga_extraction.speech.phrases import Phrase, languages_of
from seoga_extraction.speech.recogniser import most_tokens
from seoga_extraction.speech.repetition import Repetitions, collapse
from seoga_extraction.speech.runs import Run, runs

RATE = 16000


def wav(path: Path, samples: np.ndarray, rate: int = RATE) -> Path:
    with wave.open(str(path), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(rate)
        out.writeframes(samples.astype("<i2").tobytes())
    return path


@pytest.mark.parametrize(
    ("heard", "kept"),
    [
        ("감사합니다. " * 30, "감사합니다."),
        ("Thank you. Thank you. Thank you. Thank you. Thank you.", "Thank you."),
        ("우리는 수업을 하고 있다. 우리는 수업을 하고 있다.",) * 2,
        ("no, no, no", "no, no, no"),
        ("The sum is 10000000000 won.",) * 2,
        ("하하하하하하하하하하하하", "하"),
        ("and then " + "and then " * 9 + "he left", "and then he left"),
    ],
)
def test_only_what_repeats_without_end_is_taken_out(heard: str, kept: str) -> None:
    assert collapse(heard) == kept


def test_a_loop_of_lines_ends_after_three_and_a_fresh_line_is_kept() -> None:
    filtered = Repetitions()
    lines = ["안녕하세요.", *["자막 제공", "시청해 주셔서"] * 20, "다음 주제입니다."]
    kept = [line for line in lines if filtered.kept(line)]
    assert kept[0] == "안녕하세요."
    assert kept[-1] == "다음 주제입니다."
    assert len(kept) <= 10


def test_short_answers_between_questions_stay() -> None:
    filtered = Repetitions()
    lines = [text for number in range(9) for text in (f"질문 {number}번입니다.", "네.")]
    assert [filtered.kept(line) for line in lines] == lines


def test_figures_in_a_loop_are_there_once_and_long_numbers_stay() -> None:
    assert collapse("call 1-1" + "-0" * 60) == "call 1-1-0"
    for said in ("10000000000000000", "3.33333333333333", "1,000,000,000,000", "010-1010-1010"):
        assert collapse(said) == said


def test_a_short_piece_is_not_written_about_at_length() -> None:
    assert most_tokens(2.0) == 90
    assert most_tokens(0.1) == 42
    assert most_tokens(30.0) is None


def test_hostile_lines_cost_bounded_time() -> None:
    for text in ("a" * 100_000, "ab" * 50_000, "".join(chr(0xAC00 + i % 997) for i in range(9999))):
        assert len(collapse(text)) <= 2000


def test_each_phrase_has_the_language_it_is_surely_in() -> None:
    found = [Phrase(i * RATE * 3, i * RATE * 3 + RATE * 2) for i in range(6)]
    heard = iter([("ko", 0.9), ("zh", 0.6), ("en", 0.9), ("en", 0.3), ("en", 0.9), ("ko", 0.9)])
    judged = languages_of(found, lambda _: next(heard), "")
    assert judged == ["ko", "ko", "en", "en", "en", "ko"]


def test_an_unclear_beginning_takes_the_language_that_follows() -> None:
    found = [Phrase(0, RATE // 2), Phrase(RATE, 4 * RATE)]
    heard = iter([("cy", 0.99), ("ko", 0.8)])
    assert languages_of(found, lambda _: next(heard), "") == ["ko", "ko"]
    assert languages_of(found[:1], lambda _: ("la", 0.4), "") == ["la"]
    assert languages_of(found[:1], lambda _: ("la", 0.4), "en") == ["en"]


def test_one_phrase_in_another_language_is_found_after_any_number_of_one() -> None:
    found = [Phrase(i * RATE * 3, i * RATE * 3 + RATE * 2) for i in range(40)]
    spoken = ["ko" if i in (13, 22, 39) else "en" for i in range(40)]
    heard = iter(spoken)
    assert languages_of(found, lambda _: (next(heard), 0.9), "") == spoken


def test_an_unclear_phrase_has_the_language_of_its_own_side_of_a_long_pause() -> None:
    seconds = [(0, 3), (20, 23), (24, 27), (28, 31), (60, 63), (90, 93)]
    found = [Phrase(start * RATE, end * RATE) for start, end in seconds]
    shares = [("ko", 0.9), ("haw", 0.2), ("en", 0.9), ("cy", 0.3), ("ko", 0.5), ("la", 0.3)]
    heard = iter(shares)
    judged = languages_of(found, lambda _: next(heard), "")
    assert judged == ["ko", "en", "en", "en", "ko", "ko"]


def test_neighbours_of_one_language_are_one_run_without_their_long_silences() -> None:
    found = [
        Phrase(0, 10),
        Phrase(20, 30),
        Phrase(30 + 3 * RATE, 40 + 3 * RATE),
        Phrase(9**9, 9**9 + 5),
    ]
    first, second = runs(found, ["ko", "ko", "ko", "en"])
    assert first == Run("ko", (Phrase(0, 30), Phrase(30 + 3 * RATE, 40 + 3 * RATE)))
    assert second == Run("en", (Phrase(9**9, 9**9 + 5),))


def test_times_of_a_run_are_those_of_the_recording_and_within_speech() -> None:
    run = Run("ko", (Phrase(RATE, 3 * RATE), Phrase(10 * RATE, 12 * RATE)))
    sound = np.arange(20 * RATE, dtype=np.float32)
    joined = run.sound(sound)
    # Two seconds, half a second of the pause on either side, two seconds.
    assert len(joined) == 5 * RATE
    assert joined[-1] == 12 * RATE - 1

    def said(start_s: float, end_s: float) -> list[tuple[float, float]]:
        return [(one.start / RATE, one.end / RATE) for one in run.spans(start_s, end_s)]

    assert said(0.0, 1.5) == [(1.0, 2.5)]
    # An end in the pause, or a little behind it, is the end of the speech before.
    assert said(0.5, 2.4) == said(0.5, 2.9) == said(0.5, 3.3) == [(1.5, 3.0)]
    # A beginning in the pause, or a little before it, is the beginning of the speech after.
    assert said(1.8, 5.0) == said(2.3, 5.0) == said(2.8, 99.0) == [(10.0, 12.0)]
    assert said(0.0, 5.0) == [(1.0, 3.0), (10.0, 12.0)]
    assert said(2.2, 2.3) == [(3.0, 3.0)]
    assert said(3.5, 3.6) == [(10.5, 10.6)]
    assert said(99.0, 99.0) == [(12.0, 12.0)]


def test_a_recording_is_cut_at_its_quietest_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = np.random.default_rng(1).normal(0, 0.2, 30 * RATE).astype(np.float32)
    sound[20 * RATE : 21 * RATE] *= 0.01
    assert 20 * RATE <= quiet_moment(sound) <= 21 * RATE
    monkeypatch.setattr(media, "SEARCH_S", 5)
    assert quiet_moment(sound) >= 25 * RATE


def test_windows_hold_every_sample_once_and_can_begin_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(media, "WINDOW_S", 4)
    monkeypatch.setattr(media, "SEARCH_S", 2)
    samples = np.random.default_rng(2).integers(-9000, 9000, 15 * RATE).astype(np.int16)
    path = wav(tmp_path / "x.wav", samples)
    with Recording(path, Limits()) as recording:
        windows = list(recording.windows())
        assert recording.seconds == pytest.approx(15, abs=0.1)
    whole = np.concatenate([window.sound for window in windows])
    assert len(windows) >= 4
    assert np.allclose(whole, samples / 32768, atol=1e-4)
    assert windows[-1].end_s == 15
    with Recording(path, Limits()) as recording:
        rest = list(recording.windows(windows[2].start_s))
    assert [one.start_s for one in rest] == [one.start_s for one in windows[2:]]
    assert np.array_equal(rest[0].sound, windows[2].sound)


def test_hours_of_sound_never_lie_in_memory_whole(tmp_path: Path) -> None:
    hours = 2
    path = wav(tmp_path / "long.wav", np.zeros(hours * 3600 * 8000, np.int8), 8000)
    before = psutil.Process().memory_info().rss
    most = 0
    with Recording(path, Limits()) as recording:
        for window in recording.windows():
            assert len(window.sound) <= media.WINDOW_S * RATE
            most = max(most, psutil.Process().memory_info().rss - before)
    assert window.end_s == hours * 3600
    assert most < hours * 3600 * RATE * 4 / 2


def test_more_hours_than_allowed_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = replace(Limits(), audio_hours=1)
    path = wav(tmp_path / "long.wav", np.zeros(3700 * 8000, np.int16), 8000)
    # By what it says, before anything is decoded.
    with pytest.raises(ExtractionFailed) as failed:
        Recording(path, few)
    assert failed.value.reason is Reason.TOO_LARGE
    # Where it says nothing, as soon as it is heard.
    monkeypatch.setattr(Recording, "seconds", 0.0)
    with Recording(path, few) as recording, pytest.raises(ExtractionFailed) as failed:
        list(recording.windows())
    assert failed.value.reason is Reason.TOO_LARGE


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"RIFF\0\0\0\0WAVEfmt ", "audio"),
        (b"\0\0\0\x20ftypM4A \0\0\0\0", "audio"),
        (b"\0\0\0\x20ftypisom\0\0\0\0", "audio"),
        (b"ID3\x04\0\0\0\0\0\0", "audio"),
        (b"\xff\xfb\x90\x64\0\0\0\0", "audio"),
        (b"fLaC\0\0\0\x22", "audio"),
        (b"OggS\0\x02\0\0", "audio"),
        (b"\x1aE\xdf\xa3\x01\0\0\0", "audio"),
        (b"\xff\xfeh\0e\0l\0l\0o\0", "text"),
        ("\N{BYTE ORDER MARK}회의록".encode(), "text"),
    ],
)
def test_recordings_are_known_by_their_content(tmp_path: Path, head: bytes, name: str) -> None:
    path = tmp_path / "x"
    path.write_bytes(head + b"\0" * 32 * (name == "audio"))
    assert choose(Input(path, "x.bin", Limits()), formats(FORMATS)).name == name


def test_a_recording_inside_another_file_is_not_transcribed(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"RIFF\0\0\0\0WAVE" + b"\0" * 100)
    source = Input(path, "x.wav", Limits(), depth=1)
    with pytest.raises(ExtractionFailed) as failed:
        list(choose(source, formats(FORMATS)).parse(source))
    assert failed.value.reason is Reason.UNSUPPORTED


def test_clock_times_pass_an_hour() -> None:
    assert [clock(0.99), clock(61.2), clock(3 * 3600 + 59)] == ["00:00:00", "00:01:01", "03:00:59"]


def test_parts_outlive_a_process_that_dies_and_half_a_line_is_dropped(tmp_path: Path) -> None:
    with Checkpoint(tmp_path, "a") as kept:
        kept.add({"end_s": 1})
        kept.add({"end_s": 2, "text": "가"})
    with (tmp_path / "a.jsonl").open("a", encoding="utf-8") as stream:
        stream.write('{"end_s": 3, "te')
    with Checkpoint(tmp_path, "a") as kept:
        assert [part["end_s"] for part in kept.parts] == [1, 2]
        kept.add({"end_s": 3})
    with Checkpoint(tmp_path, "a") as kept:
        assert [part["end_s"] for part in kept.parts] == [1, 2, 3]
        kept.finish()
    assert list(tmp_path.iterdir()) == []


def test_two_readers_of_one_file_do_not_mix_their_parts(tmp_path: Path) -> None:
    with Checkpoint(tmp_path, "a") as first, Checkpoint(tmp_path, "a") as second:
        first.add({"n": 1})
        second.add({"n": 2})
        second.finish()
    lines = (tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == [{"n": 1}]


def test_a_broken_file_and_an_empty_start_leave_nothing(tmp_path: Path) -> None:
    with Checkpoint(tmp_path, "empty"):
        pass
    with suppress(ExtractionFailed), Checkpoint(tmp_path, "broken") as kept:
        kept.add({"n": 1})
        raise ExtractionFailed("broken off")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_costs_only_the_convenience(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with Checkpoint(tmp_path / "file" / "below", "a") as kept:
        kept.add({"n": 1})
        assert kept.parts == []


def test_a_key_names_the_content_and_how_it_is_read(tmp_path: Path) -> None:
    one, same, other = (tmp_path / name for name in "abc")
    one.write_bytes(b"x")
    same.write_bytes(b"x")
    other.write_bytes(b"y")
    assert key_of(one, "base") == key_of(same, "base")
    assert len({key_of(one, "base"), key_of(one, "small"), key_of(other, "base")}) == 3
