"""What a document's statements about its own life mean: status words, relations, dates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

from seoga.search.days import day_in
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
    was retired (both ISO days, or ""). `took_effect`: False for what was never in force; `faults`:
    what of its statements could not be read; `ends`: the last day that it is valid."""

    word: str = ""
    standing: Standing = Standing.LIVE
    by: tuple[Reference, ...] = ()
    of: tuple[Reference, ...] = ()
    date: str = ""
    until: str = ""
    ids: tuple[str, ...] = ()
    took_effect: bool = True
    faults: tuple[str, ...] = ()
    ends: str = ""

    @property
    def refused(self) -> bool:
        """True for what was in force on no day, however late that was decided."""
        return self.word in _REFUSED


def _words(standing: Standing, text: str) -> dict[str, Standing]:
    return dict.fromkeys(text.split(), standing)


# First the words of the specification, then those that say the same in the dialects that were met
# (CIP, KEP, RFC, Korean regulations).
_RETIRED = (
    "superseded archived deprecated obsolete retired rejected withdrawn"
    " superceded replaced obsoleted inactive abandoned declined cancelled canceled discontinued"
    " void voided expired outdated historic historical sunset sunsetted lapsed revoked repealed"
    " rescinded invalid invalidated terminated decommissioned defunct eol"
    " 보관 구버전 구판 無效 廢止 廢棄 廃止"
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
_REFUSED = frozenset(("rejected", "declined", "반려", "반려됨", "기각", "기각됨"))
# Those that say that there is something in its place.
REPLACED: Final = frozenset(
    ("superseded", "superceded", "replaced", "obsoleted", "대체", "대체됨", "대체된", "대체되었음")
)
# Of what follows "superseded by".
_LONGEST = 400
# Words that may stand before the status word without changing it.
_LOOKED_AT = 6
_NEGATIONS = frozenset(("not", "never", "no"))
_HEDGES = frozenset(("partially", "partly", "be", "soon", "yet", "longer", "almost", "nearly"))
_KOREAN_END = r"(?:됨|됐음|된|되었음|되었습니다|됐습니다|함|하였음|했음|처리|처리됨|완료|문서)?"
_KOREAN_ENDS = "(?:폐기|폐지|대체|철회|반려|기각|취소|만료|종료|실효|중단|중지|무효|파기|해지|보관)"
_KOREAN_GONE = re.compile(_KOREAN_ENDS + _KOREAN_END)
# "취소 규정 승인": what is approved is a paper about cancelling. "승인 취소" takes it back.
_KOREAN_PAPER = re.compile(
    _KOREAN_ENDS
    + r" (?:규정|규칙|정책|절차|지침|기준|방침|계획|안내|요청|신청|사유|조건|양식|안건)"
)
# Words after a Korean one that take it back or put it off.
_KOREAN_HEDGE = re.compile(r"\s*(?:(?:되|하)지\s*(?:않|못)|아님|아닌|예정|검토|안\s*됨|할)")
# What is told by more than a word.
_GONE = re.compile(
    r"\bno longer (?:in )?(?:valid|force|use|used|active|effective|effect|current|applicable"
    r"|maintained|supported|enforced|relevant|accepted|approved|applies)\b"
    r"|\bnot (?:in )?(?:valid|force|use|active|effective|effect|current|applicable)\b"
    r"|\bout[- ]of[- ](?:date|force|use)\b|\bend[- ]of[- ]life\b|\bphased out\b"
    r"|더\s*이상\s*[^\n]{1,20}?(?:않\w*|아님|못\w*|없\w*)"
    r"|(?:유효|사용|시행|적용|운영)(?:하|되)지\s*(?:않|못)\w*"
    r"|효력(?:이|을)?\s*(?:상실|없|잃)\w*"
    r"|(?:사용|시행|적용|운영|이용|효력|서비스)\s*(?:중지|중단|종료|정지|만료|불가)\w*"
    r"|(?:구|이전)\s*버전",
    re.IGNORECASE,
)
_NOT_YET = re.compile(r"\bnot yet (?:in )?\w+|아직[^\n]{1,20}?(?:않|아님|전)\w*", re.IGNORECASE)
_STRUCK = re.compile(r"~~[^~]{0,200}~~|<(s|del|strike)>[^<>]{0,200}</\1>", re.IGNORECASE)
# "{proposed | accepted | superseded by …}": a template that nobody filled in.
_CHOICE = re.compile(r"\||(?<=[^\W\d_])\s?/\s?(?=[^\W\d_])")
_OFFERS = re.compile(
    r"\b(?:such as|one of|choose|pick)\b|\be\.g\.|\betc\b|중 하나|중 택일", re.IGNORECASE
)
_OFFERED = 3
# What comes after has the last word: "accepted → superseded".
_THEN = re.compile(r"→|->|=>|[,;(]|\b(?:now|then|later|but)\b", re.IGNORECASE)

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
_KOREAN_BY = re.compile(
    r"(?:으?로|에\s*의해|에\s*의하여|에)\s*(?:대체|교체)(?=\s|됨|된|되|하|함|했|\W|$)"
)
_KOREAN_NEXT = re.compile(r"(?:후속|대체)\s*(?:문서|규정|버전)?\s*[::]|→|->")
# "개정됨 (여비 규정 2판)": revised by itself is what is in force.
_KOREAN_REVISED = re.compile(r"개정(?:됨|되었음|되었습니다)?\s*(?:\(|→|->|[::])\s*")
_KOREAN_TOPIC = re.compile(r"^\S{0,20}(?:\s\S{1,20}){0,2}?(?:은|는)\s+")
# Most statuses are one word: nothing more is looked for in those.
_TELLING = re.compile(
    r"\bsupers|\bsuperc|\breplace|\bobsolete|대체|교체|후속|개정|→|->|[\d\[]", re.IGNORECASE
)
_HEDGED = re.compile(
    r"\b(?:partially|partly|in part|will be|to be|may be|might be|should be|must be|not|never"
    r"|can be)\s*$",
    re.IGNORECASE,
)
_LINKED = re.compile(r"\[[^\[\]]{0,200}\](?:\([^()]{0,300}\))?|`[^`]{1,300}`")
_CLAUSE_END = re.compile(r"[.;](?:\s|$)")


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
        self.either: dict[Reference, None] = {}
        self.faults: list[str] = []

    def take(self, field: str, text: str) -> None:
        if field in ("status", "line"):
            text = _STRUCK.sub(" ", text)
        if field == "status":
            self._status(text)
            if not is_choice(text):
                self._relations(text)
        elif field == "line":
            self._line(text)
        elif field == "by":
            self.by.update(dict.fromkeys(values_in(text)))
        elif field == "either":
            self.either.update(dict.fromkeys(values_in(text)))
        elif field == "of":
            self.of.update(dict.fromkeys(values_in(text)))
        elif field == "reason":
            self._relations(text)
            self._instead(text)
        elif field in ("date", "created", "until", "ends"):
            self.dates.setdefault(field, day_in(text))
        else:
            self._named(field, text)

    def _named(self, field: str, text: str) -> None:
        if field == "id":
            self.ids[text[:60]] = None
        elif field == "fault":
            self.faults.append(text)

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
        starts = first is not None and first[0].casefold() == word.partition(" ")[0]
        told = starts or _unhedged(_BY, text) or _replaced_in_korean(text)
        retired = standing is Standing.RETIRED and told
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
        self._in_korean(text)
        retired = self.standing is Standing.RETIRED
        if retired and not self.by and (self.word in REPLACED or _KOREAN_NEXT.search(text)):
            # "Superseded [0019](0019-x.md)"
            self.by.update(dict.fromkeys(references_in(text)))
        if day := day_in(text):
            which = "until" if self.standing is Standing.RETIRED else "date"
            self.dates.setdefault(which, day)

    def _in_korean(self, text: str) -> None:
        if revised := _KOREAN_REVISED.match(text):
            self._add(self.by, text[revised.end() :])
        korean = _KOREAN_BY.search(text)
        if korean is None or _KOREAN_HEDGE.match(text, korean.end()):
            return
        before = text[: korean.start()]
        self._add(self.by, before)
        if topic := _KOREAN_TOPIC.match(before):
            # "이 규정은 새 규정으로 대체됨"
            self._add(self.by, before[topic.end() :])

    def _instead(self, text: str) -> None:
        for found in _INSTEAD.finditer(text):
            self._add(self.by, text[found.end() :])

    def _add(self, into: dict[Reference, None], rest: str) -> None:
        rest = rest[:_LONGEST]
        # "[2. Title](file.md)" is one reference, whatever stands in it.
        bare = _LINKED.sub(lambda link: "x" * len(link[0]), rest)
        for pattern in (_CLAUSE_END, _BY, _OF):
            bare = _before(pattern, bare)
        rest = rest[: len(bare)]
        words = rest.strip(" \t:*_\"'()")
        loose = [Reference(words, (words,), loose=True)] if 0 < len(words) <= 100 else []
        found = references_in(rest, numbers=True)
        # "Use HTTP 2" may be a title that has an identifier in it.
        titled = all(one.targets[0] == one.text for one in found)
        into.update(dict.fromkeys([*found, *(loose if titled else ())]))

    def result(self) -> Stated:
        if self.standing is Standing.RETIRED or not self.word:
            # "대체: x" of a document in force may as well be what it replaced.
            self.by.update(self.either)
        return Stated(
            self.word,
            self.standing,
            tuple(self.by),
            tuple(self.of),
            self.dates.get("date", "") or self.dates.get("created", ""),
            self.dates.get("until", ""),
            tuple(self.ids),
            self.word not in _NEVER,
            tuple(self.faults),
            self.dates.get("ends", ""),
        )


def _before(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return text[: found.start()] if found else text


def _unhedged(pattern: re.Pattern[str], text: str) -> bool:
    return any(not _HEDGED.search(text[: one.start()][-20:]) for one in pattern.finditer(text))


def _replaced_in_korean(text: str) -> bool:
    return any(not _KOREAN_HEDGE.match(text, one.end()) for one in _KOREAN_BY.finditer(text))


@lru_cache(maxsize=4096)
def status_of(text: str) -> tuple[str, Standing]:
    """The word that a status text comes down to, and what it means: "Inactive (superseded by
    CIP-0121)" is `superseded`. ("", LIVE) for a text without words."""
    text = _STRUCK.sub(" ", text)
    if not _WORD.search(text[:200]):
        return "", Standing.LIVE
    if is_choice(text):
        return " ".join(_WORD.findall(text.casefold())[:_OFFERED]), Standing.UNKNOWN
    if _unhedged(_BY, text):
        return "superseded", Standing.RETIRED
    if _replaced_in_korean(text):
        return "대체됨", Standing.RETIRED
    text = text[:200]
    clauses = [clause for clause in _THEN.split(text)[:_LOOKED_AT] if _WORD.search(clause)]
    parts = [_in_a_clause(clause) for clause in clauses]
    for clause, (word, standing) in reversed(list(zip(clauses, parts, strict=True))[1:]):
        # Further clauses are sentences as often as not: only the end of a life counts there.
        if standing is Standing.RETIRED and clause.strip().casefold().startswith(word):
            return word, standing
    known = [one for one in parts if one[1] is not Standing.UNKNOWN]
    return (known or parts)[0]


def is_choice(text: str) -> bool:
    """True for a status that offers several to choose from, as templates do, and states none."""
    bare = _LINKED.sub(" ", text[:200])
    parts = _CHOICE.split(bare)
    if len(parts) < _OFFERED and _OFFERS.search(bare):
        parts = re.split(r"[,/|]|\bor\b|또는", bare)
    if _BY.search(parts[0]):
        # What follows is a path.
        return False
    words = (_WORD.findall(part.casefold())[:_LOOKED_AT] for part in parts)
    return sum(any(_is_known(word) for word in each) for each in words) >= _OFFERED


def _is_known(word: str) -> bool:
    return _meaning(word) is not Standing.UNKNOWN


def _in_a_clause(text: str) -> tuple[str, Standing]:
    words = [found.casefold() for found in _WORD.findall(text)][:40]
    for pattern, standing in ((_NOT_YET, Standing.DRAFT), (_GONE, Standing.RETIRED)):
        if (found := pattern.search(text)) and not _KOREAN_HEDGE.match(text, found.end()):
            return " ".join(found[0].casefold().split()), standing
    lowered = " ".join(words[:_LOOKED_AT])
    for phrase, standing in _PHRASES.items():
        if lowered.startswith(phrase):
            return phrase, standing
    for at, word in enumerate(words[:_LOOKED_AT]):
        if _KOREAN_PAPER.match(" ".join(words[at : at + 2])) or _taken_back(words[at : at + 3]):
            continue
        standing = _meaning(word)
        if standing is not Standing.UNKNOWN:
            before, after = words[at - 1] if at else "", " ".join(words[at + 1 : at + 3])
            hedged = before in _NEGATIONS or before in _HEDGES or "longer" in words[:at]
            if hedged or _KOREAN_HEDGE.match(after):
                break
            return word, standing
    return " ".join(words[:3]), Standing.UNKNOWN


def _taken_back(words: Sequence[str]) -> bool:
    paper = _KOREAN_PAPER.match(" ".join(words[1:]))
    korean = "가" <= words[0][0] <= "힣" and _meaning(words[0]) is Standing.LIVE
    return korean and len(words) > 1 and not paper and bool(_KOREAN_GONE.fullmatch(words[1]))


def _meaning(word: str) -> Standing:
    if _KOREAN_GONE.fullmatch(word):
        return Standing.RETIRED
    return _VOCABULARY.get(word, Standing.UNKNOWN)
