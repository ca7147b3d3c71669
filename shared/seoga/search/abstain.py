"""What is evidence enough to be shown, how it is labelled, and what is said when nothing is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from seoga.errors import beginning
from seoga.search.asked import idf_of
from seoga.search.fusion import Candidate

# The share of a query's idf mass that is evidence enough beside a cosine. Half of what is needed of
# one and half of the other is enough as well. Measured with questions asked of their own and of
# other corpora: README, "What is shown".
BESIDE_COSINE: Final = 0.8
# Where no cosine is known: the share that is enough of words which come together as they would by
# chance in fewer than one passage. `of_two_words` is enough by itself.
MIN_COVERAGE: Final = 0.3
TOGETHER: Final = 1.15
# A passage in another language shares no words with the query; noise across languages is lower.
OTHER_LANGUAGE: Final = 0.85
# What is doubted has to be nearer: in the query's language, when nobody wrote a word of it; under
# `gated`, beside passages that hold all of a short query.
DOUBT: Final = 1.25
# Among few passages the best by chance is lower (the largest of n normal values grows like the root
# of 2 ln n): below this number the bars come down, by 15 % at most.
MANY: Final = 500
_FEWER: Final = 0.27
_LEAST: Final = 0.85
# Words are named in a label from here on.
_TOLD: Final = 0.3
# So many words that nobody wrote are named.
_NAMED: Final = 10

NOTHING_TO_SEARCH: Final = "There is nothing to search for: the query holds no letter and no digit."


def for_size(passages: int) -> float:
    """What the bars are multiplied with in a knowledge base of so many passages."""
    less = math.sqrt(2 * math.log(MANY)) - math.sqrt(2 * math.log(max(passages, 1)))
    return max(_LEAST, min(1.0, 1 - _FEWER * less))


def of_two_words(passages: int) -> float:
    """The share of a word that only two of so many passages hold, beside one that none does: a
    name, of which something is asked in words of one's own. A little under a half."""
    two, none = idf_of(passages, min(2, passages)), idf_of(passages, 0)
    return max(MIN_COVERAGE, two / (two + none))


@dataclass(frozen=True, slots=True)
class Bar:
    """What a hit must reach. `threshold`: the cosine that is enough by itself (None: no semantic
    track), times `across` in another language than the query's. Where a hit has no cosine, `alone`
    is the share of the query's idf mass that is enough by itself (None: as `coverage`), and
    `coverage` (None: no keyword track) that which is enough of words that stand `together`;
    `beside`: that which is enough beside a cosine (None: words count for nothing). `doubt`: what
    the threshold is multiplied with for a doubted one, `within`: for one in the query's language.
    """

    threshold: float | None
    coverage: float | None
    beside: float | None = None
    across: float = 1.0
    alone: float | None = None
    together: float = 0.0
    doubt: float = 1.0
    within: float = 1.0

    def threshold_of(self, candidate: Candidate) -> float | None:
        """The cosine that is enough for this one; None without a semantic track."""
        if self.threshold is None:
            return None
        if candidate.doubted:
            return self.threshold * self.doubt
        return self.threshold * (self.within if candidate.same_language else self.across)

    def by_meaning(self, candidate: Candidate) -> bool:
        """True when the cosine alone is evidence enough."""
        threshold = self.threshold_of(candidate)
        return (
            threshold is not None and candidate.cosine is not None and candidate.cosine >= threshold
        )

    def by_words(self, candidate: Candidate) -> bool:
        """True when the shared words alone are: enough of them, or the very one asked for."""
        if self.coverage is None or not candidate.keyword:
            return False
        return candidate.exact or candidate.otherwise or self._words(candidate) >= 1

    def evidence(self, candidate: Candidate) -> float:
        """What there is of what is needed: the part of the cosine and the part of the words."""
        meaning, threshold = 0.0, self.threshold_of(candidate)
        if threshold is not None and candidate.cosine is not None and threshold > 0:
            meaning = max(0.0, candidate.cosine) / threshold
        return meaning + self._words(candidate)

    def _words(self, candidate: Candidate) -> float:
        if candidate.cosine is not None:
            return _part(candidate.coverage, self.beside)
        few = _part(candidate.coverage, self.coverage)
        if self.alone is None:
            return few
        near = _part(candidate.together, self.together)
        return max(_part(candidate.coverage, self.alone), min(few, near))

    def admits(self, candidate: Candidate) -> bool:
        """True when meaning, words, or both together are evidence enough."""
        alone = self.by_meaning(candidate) or self.by_words(candidate)
        return alone or self.evidence(candidate) >= 1


def _part(there: float, enough: float | None) -> float:
    """What is there of what is enough; None: it counts for nothing, 0: anything is."""
    if enough is None:
        return 0.0
    return there / enough if enough else 1.0


def label_of(candidate: Candidate, bar: Bar) -> str:
    """The provenance: `[both 0.688]`, `[semantic 0.712]` (the number is the cosine); of words
    alone `[exact match]`, where all that was asked for (or an identifier) is there as typed, else
    `[keyword match]`."""
    by_words = "[exact match]" if candidate.exact or candidate.whole else "[keyword match]"
    words, threshold = bar.by_words(candidate), bar.threshold_of(candidate)
    if candidate.cosine is None or threshold is None:
        return by_words
    told = words or bool(candidate.keyword and candidate.coverage >= _TOLD)
    # A chosen word shows what is far in meaning; so do many words with half of the cosine missing.
    if told and candidate.cosine < (threshold if words else threshold / 2):
        return by_words
    return f"[{'both' if told else 'semantic'} {candidate.cosine:.3f}]"


@dataclass(frozen=True, slots=True)
class Findings:
    """What there is to say of a search: `keyword_only` when the scores are keyword shares, `absent`
    the identifiers that were typed and that no document holds, `guessed` the words for which words
    spelt like them stood in."""

    shown: int
    best: float | None
    bar: float | None
    keyword_only: bool
    dropped: int
    hidden: int
    folders: tuple[str, ...] = ()
    filtered: bool = False
    absent: tuple[str, ...] = ()
    guessed: tuple[str, ...] = ()


def message_of(found: Findings) -> str:
    """Why there is nothing, or what more there would be; "" when there is nothing to add."""
    parts = []
    if found.absent:
        parts.append(f"{_unwritten(found.absent)} in no document.")
    if found.guessed:
        parts.append(f"{_unwritten(found.guessed)} in no document; like spellings were looked for.")
    if not found.shown:
        parts.append(_nothing(found))
    if found.hidden:
        some = "1 document" if found.hidden == 1 else f"{found.hidden} documents"
        where = ", ".join(found.folders)
        parts.append(f"{some} hidden ({where}); search_all shows what is there.")
    if not found.shown and found.filtered:
        parts.append("Only documents that pass the filters were searched.")
    return " ".join(parts)


def _unwritten(words: tuple[str, ...]) -> str:
    names = ", ".join(f'"{beginning(word)}"' for word in words[:_NAMED])
    more = f" and {len(words) - _NAMED} more" if len(words) > _NAMED else ""
    return f"{names}{more} {'occurs' if len(words) == 1 else 'occur'}"


def _nothing(found: Findings) -> str:
    if found.best is None:
        return "No relevant results (nothing matches)."
    what = "keyword share" if found.keyword_only else "score"
    bar = "" if found.bar is None else f", threshold {found.bar:.2f}"
    dropped = ""
    if found.dropped:
        some = "1 passage" if found.dropped == 1 else f"{found.dropped} passages"
        dropped = f" {some} below it dropped."
    return f"No relevant results (best {what} {found.best:.2f}{bar}).{dropped}"
