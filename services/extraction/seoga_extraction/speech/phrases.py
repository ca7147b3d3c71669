"""Speech in a sound: phrases between silences, and the language of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Sound = NDArray[np.float32]

RATE = 16000
# Silero VAD, as faster-whisper carries it. A pause of half a second ends a phrase; a longer one
# without any is cut at its shortest pause, so that a change of language is found.
PAUSE_MS = 500
PHRASE_S = 12.0
# So long a pause parts speech: what is on one side tells nothing of the language on the other.
PAUSE_S = 2.0
# Two seconds mostly tell a language; where they do not, more of the phrase is judged.
JUDGED_S = 2.0
AGAIN_S = 6.0
SHORTEST_S = 0.8
# How sure a phrase must be to change the language: other languages than these two are often a
# mishearing of a short phrase.
SURE = {"ko": 0.6, "en": 0.6}
SURE_OTHER = 0.85
LEANING = 0.4


@dataclass(frozen=True, slots=True)
class Phrase:
    """Samples `start` to `end` of a sound."""

    start: int
    end: int

    @property
    def seconds(self) -> float:
        """Its length."""
        return (self.end - self.start) / RATE


def phrases(sound: Sound) -> list[Phrase]:
    """Where there is speech; empty for silence."""
    from faster_whisper.vad import VadOptions, get_speech_timestamps

    options = VadOptions(min_silence_duration_ms=PAUSE_MS, max_speech_duration_s=PHRASE_S)
    found = get_speech_timestamps(sound, options)
    return [Phrase(one["start"], one["end"]) for one in found if one["end"] > one["start"]]


def languages_of(
    found: Sequence[Phrase], judge: Callable[[Phrase], tuple[str, float]], before: str
) -> list[str]:
    """The language of each phrase. `judge` says one and how sure it is, and costs time.

    `before` is the language that was spoken last, "" at the beginning. A phrase that is unclear
    has the language of those it is spoken with: nobody else's on the far side of a long pause.
    """
    current = before
    languages: list[str] = []
    sums: dict[str, float] = {}
    for group in _groups(found):
        heard = [judge(phrase) for phrase in group]
        for language, share in heard:
            sums[language] = sums.get(language, 0.0) + share
        sure = [_sure(phrase, *one) for phrase, one in zip(group, heard, strict=True)]
        begun = next((one for one in sure if one), "") or _leaning(group, heard)
        current = begun or current
        for language in sure:
            current = language or current
            languages.append(current)
    likeliest = max(sums, key=lambda one: sums[one], default="")
    first = next((one for one in languages if one), likeliest)
    return [one or first for one in languages]


def _groups(found: Sequence[Phrase]) -> list[list[Phrase]]:
    """Phrases without a long pause between them."""
    groups: list[list[Phrase]] = []
    for phrase in found:
        if groups and phrase.start - groups[-1][-1].end < PAUSE_S * RATE:
            groups[-1].append(phrase)
        else:
            groups.append([phrase])
    return groups


def clear(language: str, share: float) -> bool:
    """Whether a judgement is sure enough to change the language."""
    return share >= SURE.get(language, SURE_OTHER)


def _sure(phrase: Phrase, language: str, share: float) -> str:
    """The language of a phrase, "" when it is too short or unclear."""
    return language if phrase.seconds >= SHORTEST_S and clear(language, share) else ""


def _leaning(group: Sequence[Phrase], heard: Sequence[tuple[str, float]]) -> str:
    """What phrases that stand alone and are all unclear are rather in, "" for nothing usual."""
    language, share = max(heard, key=lambda one: one[1])
    long = sum(phrase.seconds for phrase in group) >= SHORTEST_S
    return language if long and language in SURE and share >= LEANING else ""
