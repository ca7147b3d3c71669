"""Runs of phrases in one language: joined for the model, with times led back to the recording."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from seoga_extraction.speech.phrases import PAUSE_S, RATE, Phrase

if TYPE_CHECKING:
    from seoga_extraction.speech.phrases import Sound

# Of a longer pause this much stays on either side: the model hears that a sentence has ended.
MARGIN = RATE // 2
# The model's times are off by as much: less than this of a line in a piece is not said there.
SLACK = round(0.6 * RATE)


@dataclass(frozen=True, slots=True)
class Run:
    """Speech in one language: pieces of the sound, with most of the long pauses between left out.

    Between two pieces there are at least `PAUSE_S` seconds of the sound.
    """

    language: str
    pieces: tuple[Phrase, ...]

    def sound(self, whole: Sound) -> Sound:
        """Its pieces one after the other, with the edges of the pauses between them."""
        import numpy as np

        return np.concatenate([whole[one.start : one.end] for one in self._wide()])

    def spans(self, start_s: float, end_s: float) -> list[Phrase]:
        """Where a line (seconds of the joined sound) is said: one stretch a piece that it reaches.

        Always within speech; never empty.
        """
        first, last = (self._sample(second) for second in (start_s, max(start_s, end_s)))
        reached = [
            Phrase(max(piece.start, first), min(piece.end, last))
            for piece in self.pieces
            if piece.start < last and first < piece.end
        ]
        long = [one for one in reached if one.end - one.start >= SLACK]
        longest = max(reached, key=lambda one: one.end - one.start, default=None)
        return long or [longest or self._nearest(first)]

    def _nearest(self, sample: int) -> Phrase:
        """The end or beginning of speech that lies nearest, as a stretch of no length."""
        edges = [edge for piece in self.pieces for edge in (piece.start, piece.end)]
        edge = min(edges, key=lambda one: abs(one - sample))
        return Phrase(edge, edge)

    def _sample(self, second: float) -> int:
        """The sample of the whole sound for a second of the joined one."""
        at, wide = max(round(second * RATE), 0), list(self._wide())
        begins, total = [], 0
        for one in wide:
            begins.append(total)
            total += one.end - one.start
        index = bisect_right(begins, at) - 1
        return min(wide[index].start + at - begins[index], wide[index].end)

    def _wide(self) -> Iterator[Phrase]:
        last = len(self.pieces) - 1
        for index, piece in enumerate(self.pieces):
            before, after = MARGIN * (index > 0), MARGIN * (index < last)
            yield Phrase(piece.start - before, piece.end + after)


def runs(found: Sequence[Phrase], languages: Sequence[str]) -> list[Run]:
    """Neighbouring phrases of one language as one run; `languages` has one for each phrase."""
    made: list[Run] = []
    for phrase, language in zip(found, languages, strict=True):
        if not made or made[-1].language != language:
            made.append(Run(language, (phrase,)))
            continue
        *earlier, last = made[-1].pieces
        if phrase.start - last.end < PAUSE_S * RATE:
            pieces = (*earlier, Phrase(last.start, phrase.end))
        else:
            pieces = (*earlier, last, phrase)
        made[-1] = Run(language, pieces)
    return made
