"""What is evidence enough to be shown, how it is labelled, and what is said when nothing is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from seoga.search.fusion import Candidate

MIN_COVERAGE: Final = 0.3

NOTHING_TO_SEARCH: Final = "There is nothing to search for: the query holds no letter and no digit."


@dataclass(frozen=True, slots=True)
class Bar:
    """What a hit must reach: `threshold` for its cosine (None: no semantic track), `coverage` for
    its share of the query's idf mass (None: no keyword track)."""

    threshold: float | None
    coverage: float | None

    def by_meaning(self, candidate: Candidate) -> bool:
        """True when the cosine is evidence."""
        return (
            self.threshold is not None
            and candidate.cosine is not None
            and candidate.cosine >= self.threshold
        )

    def by_words(self, candidate: Candidate) -> bool:
        """True when the shared words are evidence: enough of them, or the very one asked for."""
        if self.coverage is None or not candidate.keyword:
            return False
        return candidate.exact or candidate.coverage >= self.coverage

    def admits(self, candidate: Candidate) -> bool:
        """True when either track has evidence."""
        return self.by_meaning(candidate) or self.by_words(candidate)


def label_of(candidate: Candidate, bar: Bar) -> str:
    """The provenance: `[both 0.688]`, `[semantic 0.712]` (the number is the cosine) or
    `[exact match]`."""
    words = bar.by_words(candidate)
    if candidate.cosine is None or (words and not bar.by_meaning(candidate)):
        return "[exact match]"
    return f"[{'both' if words else 'semantic'} {candidate.cosine:.3f}]"


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
    names = ", ".join(f'"{word}"' for word in words)
    return f"{names} {'occurs' if len(words) == 1 else 'occur'}"


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
