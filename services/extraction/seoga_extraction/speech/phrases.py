"""Speech in a sound: phrases between silences, and runs of phrases in one language."""

from __future__ import annotations

from bisect import bisect_right
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
# Silence up to this length stays within what is transcribed: it tells sentences apart.
KEPT_S = 2.0
# Two seconds tell a language; they are the beginning of what is judged.
JUDGED_S = 2.0
SHORTEST_S = 0.8
# After so many phrases of one language only every second one is judged.
SETTLED = 4
# How sure a phrase must be to change the language: other languages than these two are often a
# mishearing of a short phrase.
SURE = {"ko": 0.6, "en": 0.6}
SURE_OTHER = 0.85


@dataclass(frozen=True, slots=True)
class Phrase:
    """Samples `start` to `end` of a sound."""

    start: int
    end: int

    @property
    def seconds(self) -> float:
        """Its length."""
        return (self.end - self.start) / RATE


@dataclass(frozen=True, slots=True)
class Run:
    """Speech in one language: pieces of the sound, with longer silence between them left out."""

    language: str
    pieces: tuple[Phrase, ...]

    def sound(self, whole: Sound) -> Sound:
        """Its pieces one after the other."""
        import numpy as np

        return np.concatenate([whole[piece.start : piece.end] for piece in self.pieces])

    def seconds_in(self, moment: float, end: bool = False) -> float:
        """The second of the whole sound that `moment` (seconds of the joined pieces) stands for.

        The end of a line may fall on the last sample of a piece, its start only on the next one.
        """
        at = max(round(moment * RATE), 0)
        ends, total = [], 0
        for piece in self.pieces:
            total += piece.end - piece.start
            ends.append(total)
        index = bisect_right(ends, at - 1 if end else at)
        index = min(index, len(self.pieces) - 1)
        before = ends[index] - (self.pieces[index].end - self.pieces[index].start)
        second = (self.pieces[index].start + at - before) / RATE
        return min(second, self.pieces[index].end / RATE)


def phrases(sound: Sound) -> list[Phrase]:
    """Where there is speech; empty for silence."""
    from faster_whisper.vad import VadOptions, get_speech_timestamps

    options = VadOptions(min_silence_duration_ms=PAUSE_MS, max_speech_duration_s=PHRASE_S)
    found = get_speech_timestamps(sound, options)
    return [Phrase(one["start"], one["end"]) for one in found if one["end"] > one["start"]]


def runs(found: Sequence[Phrase], languages: Sequence[str]) -> list[Run]:
    """Neighbouring phrases of one language as one run; `languages` has one for each phrase."""
    made: list[Run] = []
    for phrase, language in zip(found, languages, strict=True):
        if not made or made[-1].language != language:
            made.append(Run(language, (phrase,)))
            continue
        *earlier, last = made[-1].pieces
        if phrase.start - last.end <= KEPT_S * RATE:
            pieces = (*earlier, Phrase(last.start, phrase.end))
        else:
            pieces = (*earlier, last, phrase)
        made[-1] = Run(language, pieces)
    return made


def languages_of(
    found: Sequence[Phrase], judge: Callable[[Phrase], tuple[str, float]], before: str
) -> list[str]:
    """The language of each phrase. `judge` says one and how sure it is, and costs time.

    `before` is the language that was spoken last, "" at the beginning.
    """
    told = _Told(judge)
    current = before
    settled = 0
    languages: list[str] = []
    for index, phrase in enumerate(found):
        skipped = settled >= SETTLED and index % 2 == 1 and index + 1 < len(found)
        language = "" if skipped else told.sure(phrase)
        if language and language != current:
            # The one before was not judged: it may have been the first of the new language.
            if current and settled > SETTLED and (index - 1) % 2 == 1:
                languages[-1] = told.sure(found[index - 1]) or current
            settled = 0
            current = language
        settled += 1
        languages.append(current)
    first = next((one for one in languages if one), told.likeliest)
    return [one or first for one in languages]


class _Told:
    """What was judged so far."""

    def __init__(self, judge: Callable[[Phrase], tuple[str, float]]) -> None:
        self._judge = judge
        self._sums: dict[str, float] = {}

    def sure(self, phrase: Phrase) -> str:
        """Its language, "" when it is too short or unclear."""
        language, share = self._judge(phrase)
        self._sums[language] = self._sums.get(language, 0.0) + share
        clear = share >= SURE.get(language, SURE_OTHER)
        return language if clear and phrase.seconds >= SHORTEST_S else ""

    @property
    def likeliest(self) -> str:
        """The language with most weight over all that was judged."""
        return max(self._sums, key=lambda one: self._sums[one], default="")
