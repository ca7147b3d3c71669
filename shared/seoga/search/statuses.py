"""What a document's statements about its own life mean: status words, relations, dates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import lru_cache
from typing import Final

from seoga.search.references import Reference, references_in, values_in


class Standing(StrEnum):
    """What becomes of a document: RETIRED is hidden, DRAFT is shown and labelled and retires
    nothing, UNKNOWN is shown and reported by lint, LIVE says nothing more."""

    LIVE = "live"
    DRAFT = "draft"
    RETIRED = "retired"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Stated:
    """The statements of one document, understood. `word` is its status in one word, as it is
    shown; `by` names what replaced it, `of` what it replaces; `date` is its own, `until` when it
    was retired (both ISO days, or ""). `took_effect`: False for what was never in force."""

    word: str = ""
    standing: Standing = Standing.LIVE
    by: tuple[Reference, ...] = ()
    of: tuple[Reference, ...] = ()
    date: str = ""
    until: str = ""
    ids: tuple[str, ...] = ()
    took_effect: bool = True


def _words(standing: Standing, text: str) -> dict[str, Standing]:
    return dict.fromkeys(text.split(), standing)


# First the words of the specification, then those that say the same in the dialects that were met
# (CIP, KEP, Korean regulations).
_RETIRED = (
    "superseded archived deprecated obsolete retired rejected withdrawn"
    " superceded replaced obsoleted inactive abandoned declined cancelled canceled discontinued"
    " 폐기 폐기됨 폐지 폐지됨 대체됨 반려 반려됨 기각 철회 철회됨 보관"
)
_DRAFT = (
    "draft proposed"
    " proposal provisional wip review pending stagnant idea experimental deferred hold candidate"
    " rfc 초안 제안 제안됨 검토 검토중 보류"
)
_LIVE = (
    "accepted approved active adopted final living implemented implementable decided current"
    " published stable done valid effective released complete completed resolved closed open"
    " ratified agreed standard maintained supported live official confirmed enforced fixed"
    " 승인 승인됨 확정 확정됨 시행 유효 채택 채택됨 완료 발행 현행"
)
_VOCABULARY: Final = {
    **_words(Standing.LIVE, _LIVE),
    **_words(Standing.DRAFT, _DRAFT),
    **_words(Standing.RETIRED, _RETIRED),
}
_PHRASES: Final = {
    "last call": Standing.DRAFT,
    "in progress": Standing.DRAFT,
    "to do": Standing.DRAFT,
    "in force": Standing.LIVE,
    "in use": Standing.LIVE,
}
_NEVER = frozenset(("rejected", "withdrawn", "declined", "abandoned", "반려", "반려됨", "기각"))
# Words that may stand before the status word without changing it.
_LOOKED_AT = 6
_NEGATIONS = frozenset(("not", "never", "no"))

_WORD = re.compile(r"[^\W\d_]+")
_BY = re.compile(
    r"\b(superseded|superceded|replaced|obsoleted|succeeded|deprecated|retired)"
    r"(?: by| in favou?r of)\b",
    re.IGNORECASE,
)
_OF = re.compile(r"\b(?:supersedes|supercedes|replaces|obsoletes)\b", re.IGNORECASE)
# What an author writes who gave something up for another thing.
_INSTEAD = re.compile(
    r"\b(?:in favou?r of|prefers?|pursue|moved (?:in)?to|merged into|incorporated into"
    r"|implemented (?:in|with|by)|covered by|absorbed by)\b",
    re.IGNORECASE,
)
_KOREAN_BY = re.compile(r"(\S{1,120}?)(?:으?로|에 의해|에)\s*대체")
# Most statuses are one word: nothing more is looked for in those.
_TELLING = re.compile(r"\bsupers|\bsuperc|\breplace|\bobsolete|대체|[\d\[]", re.IGNORECASE)
_HEDGED = re.compile(
    r"\b(?:partially|partly|in part|will be|to be|may be|might be|should be|must be|not|never"
    r"|can be)\s*$",
    re.IGNORECASE,
)
_LINKED = re.compile(r"\[[^\[\]]{0,200}\](?:\([^()]{0,300}\))?|`[^`]{1,300}`")
_CLAUSE_END = re.compile(r"[.;](?:\s|$)")
_ISO = re.compile(r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_DAY_MONTH = re.compile(r"(?<!\d)(\d{1,2})[- ]([A-Za-z]{3})[a-z]*[- ,]{1,2}(\d{4})(?!\d)")
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]


def understood(statements: Iterable[Sequence[str]]) -> Stated:
    """The meaning of stored statements (`seoga_indexer.statements` says which fields there are).
    Linear in their length; unknown fields say nothing."""
    reading = _Reading()
    for field, text in statements:
        reading.take(field, text)
    return reading.result()


class _Reading:
    def __init__(self) -> None:
        self.word, self.standing = "", Standing.LIVE
        self.by: dict[Reference, None] = {}
        self.of: dict[Reference, None] = {}
        self.dates: dict[str, str] = {}
        self.ids: dict[str, None] = {}

    def take(self, field: str, text: str) -> None:
        if field == "status":
            self._status(text)
            self._relations(text)
        elif field == "line":
            self._line(text)
        elif field == "by":
            self.by.update(dict.fromkeys(values_in(text)))
        elif field == "of":
            self.of.update(dict.fromkeys(values_in(text)))
        elif field == "reason":
            self._relations(text)
            self._instead(text)
        elif field == "id":
            self.ids[text[:60]] = None
        elif field in ("date", "created", "until"):
            self.dates.setdefault(field, day_in(text))

    def _status(self, text: str) -> None:
        word, standing = status_of(text)
        if word and (not self.word or standing is Standing.RETIRED):
            self.word, self.standing = word, standing
            if standing is Standing.RETIRED:
                self._instead(text)

    def _line(self, text: str) -> None:
        """A sentence below the status: it may add a relation, or take the document out of force,
        but an odd word in it is no odd status."""
        word, standing = status_of(text)
        first = _WORD.search(text)
        starts = first is not None and first[0].casefold() == word
        retired = standing is Standing.RETIRED and (starts or _unhedged(_BY, text))
        if retired or (starts and not self.word and standing is not Standing.UNKNOWN):
            self.word, self.standing = word, standing
        self._relations(text)

    def _relations(self, text: str) -> None:
        if not _TELLING.search(text):
            return
        for found in _BY.finditer(text):
            if not _HEDGED.search(text[: found.start()][-20:]):
                self._add(self.by, text[found.end() :])
        for found in _OF.finditer(text):
            if not _HEDGED.search(text[: found.start()][-20:]):
                self._add(self.of, text[found.end() :])
        if found_korean := _KOREAN_BY.search(text):
            self.by.update(dict.fromkeys(references_in(found_korean[1])))
        retired = self.standing is Standing.RETIRED and self.word in ("superseded", "superceded")
        if retired and not self.by:
            # "Superseded [0019](0019-x.md)"
            self.by.update(dict.fromkeys(references_in(text)))
        if day := day_in(text):
            which = "until" if self.standing is Standing.RETIRED else "date"
            self.dates.setdefault(which, day)

    def _instead(self, text: str) -> None:
        for found in _INSTEAD.finditer(text):
            self._add(self.by, text[found.end() :])

    def _add(self, into: dict[Reference, None], rest: str) -> None:
        # "[2. Title](file.md)" is one reference, whatever stands in it.
        bare = _LINKED.sub(lambda link: "x" * len(link[0]), rest)
        for pattern in (_CLAUSE_END, _BY, _OF):
            bare = _before(pattern, bare)
        rest = rest[: len(bare)]
        words = rest.strip(" \t:*_\"'()")
        loose = [Reference(words, (words,), loose=True)] if 2 < len(words) <= 100 else []
        found = references_in(rest, numbers=True)
        # "Use HTTP 2" may be a title that has an identifier in it.
        titled = all(one.targets[0] == one.text for one in found)
        into.update(dict.fromkeys([*found, *(loose if titled else ())]))

    def result(self) -> Stated:
        return Stated(
            self.word,
            self.standing,
            tuple(self.by),
            tuple(self.of),
            self.dates.get("date", "") or self.dates.get("created", ""),
            self.dates.get("until", ""),
            tuple(self.ids),
            self.word not in _NEVER,
        )


def _before(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return text[: found.start()] if found else text


def _unhedged(pattern: re.Pattern[str], text: str) -> bool:
    return any(not _HEDGED.search(text[: one.start()][-20:]) for one in pattern.finditer(text))


@lru_cache(maxsize=4096)
def status_of(text: str) -> tuple[str, Standing]:
    """The word that a status text comes down to, and what it means: "Inactive (superseded by
    CIP-0121)" is `superseded`. ("", LIVE) for a text without words."""
    words = [found.casefold() for found in _WORD.findall(text[:200])][:40]
    if not words:
        return "", Standing.LIVE
    if _unhedged(_BY, text):
        return "superseded", Standing.RETIRED
    lowered = " ".join(words[:_LOOKED_AT])
    for phrase, standing in _PHRASES.items():
        if lowered.startswith(phrase):
            return phrase, standing
    for at, word in enumerate(words[:_LOOKED_AT]):
        standing = _VOCABULARY.get(word, Standing.UNKNOWN)
        if standing is not Standing.UNKNOWN:
            before = words[at - 1] if at else ""
            if before in _NEGATIONS or before in ("partially", "partly"):
                break
            return word, standing
    return " ".join(words[:3]), Standing.UNKNOWN


def day_in(text: str) -> str:
    """The first day that a text names, in ISO form; "" for none."""
    if found := _ISO.search(text):
        return _day(*map(int, found.groups()))
    if found := _DAY_MONTH.search(text):
        month = found[2].casefold()
        if month in _MONTHS:
            return _day(int(found[3]), _MONTHS.index(month) + 1, int(found[1]))
    return ""


def _day(year: int, month: int, day: int) -> str:
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return ""
