"""Recordings of several parts through real weights: languages in turn, a killed process."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from seoga.settings import Settings
from seoga_extraction.engine import ExtractionEngine
from seoga_extraction.formats import audio
from seoga_extraction.speech import media

from .recordings import ENGLISH, KOREAN, heard, joined, placed, told, transcribed, words


@pytest.mark.parametrize("pause_s", [3, 17])
def test_languages_that_take_turns_keep_every_sentence_at_its_time(
    speech: ExtractionEngine, handed: Path, tmp_path: Path, pause_s: float
) -> None:
    """Each clip is said in its own seconds, in its own language, and ends where its speech does."""
    clips = [
        (KOREAN, "ko", "거실"),
        (ENGLISH[0], "en", "country can do for you"),
        ("audio/leopard__test_ko.wav", "ko", "걸어갔다"),
        (ENGLISH[3], "en", "living room"),
        (ENGLISH[0], "en", "country can do for you"),
        (KOREAN, "ko", "거실"),
    ]
    path, starts = placed([handed / clip for clip, _, _ in clips], tmp_path / "x.wav", pause_s)
    _, sections = heard(speech, path)
    ends = [*starts[1:], starts[-1] + 99]
    for (_, language, says), start, end in zip(clips, starts, ends, strict=True):
        here = [one for one in sections if start - 0.5 <= (one.place.start_s or 0.0) < end - 0.5]
        assert says in words(here), (language, start, words(here))
        assert {one.meta["audio.language"] for one in here} == {language}
        assert max(one.place.end_s or 0.0 for one in here) <= end - pause_s + 0.5


def test_a_transcript_that_was_cut_off_goes_on_where_it_was(
    speech_settings: Settings, handed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (media, audio):
        monkeypatch.setattr(module, "WINDOW_S", 8)
    monkeypatch.setattr(media, "SEARCH_S", 4)
    path = joined([handed / ENGLISH[0], handed / KOREAN, handed / ENGLISH[2]], tmp_path / "x.wav")
    whole, seconds = transcribed(path, speech_settings)
    stopped, done = transcribed(path, speech_settings, lines=3)
    kept = list(told(speech_settings).transcripts.iterdir())
    assert len(kept) == 1
    rest, done_later = transcribed(path, speech_settings)
    assert [one.text for one in rest] == [one.text for one in whole]
    assert rest[0].meta == stopped[0].meta
    assert done > 0
    assert done + done_later == pytest.approx(seconds, abs=0.1)
    assert list(told(speech_settings).transcripts.iterdir()) == []


# Reads a recording in windows of a few seconds and says when a line of a window has come.
SLOWLY = """
import sys
from pathlib import Path
from seoga.models import Section
from seoga.settings import Settings
from seoga_extraction.format import Input
from seoga_extraction.formats import audio
from seoga_extraction.lanes import SPEECH, lanes
from seoga_extraction.speech import media

media.WINDOW_S = audio.WINDOW_S = 8
media.SEARCH_S = 4
cache, path = map(Path, sys.argv[1:])
settings = Settings(cache_path=cache, whisper_device="cpu", offline=True, extract_workers=1)
[lane] = [lane for lane in lanes(settings) if lane.name == SPEECH]
source = Input(path, path.name, lane.limits)
source.options = lane.options
for event in audio.FORMAT.parse(source):
    if isinstance(event, Section):
        print(event.place.start_s, flush=True)
"""


def test_a_process_that_is_killed_leaves_its_windows_and_none_is_transcribed_again(
    speech_settings: Settings, handed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (media, audio):
        monkeypatch.setattr(module, "WINDOW_S", 8)
    monkeypatch.setattr(media, "SEARCH_S", 4)
    clips = [handed / ENGLISH[0], handed / KOREAN, handed / ENGLISH[2], handed / ENGLISH[0]]
    path, _ = placed(clips, tmp_path / "x.wav", 1)
    whole, seconds = transcribed(path, speech_settings)
    command = [sys.executable, "-c", SLOWLY, str(speech_settings.cache_path), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        # Lines of later windows come once the earlier ones are on disk.
        assert any(float(line) > 16 for line in child.stdout)
        child.kill()
    assert child.returncode == -signal.SIGKILL
    [kept] = told(speech_settings).transcripts.iterdir()
    parts = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()]
    assert len(parts) >= 2
    rest, done_later = transcribed(path, speech_settings)
    assert [one.text for one in rest] == [one.text for one in whole]
    assert done_later == pytest.approx(seconds - parts[-1]["end_s"], abs=0.1)
    assert list(told(speech_settings).transcripts.iterdir()) == []
