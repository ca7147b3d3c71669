"""What a document says of its own life without a key: in its title, or in a sentence at its top."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_GONE: Final = "deprecated|obsolete|outdated|archived|retired|withdrawn|superseded"
_KOREAN_GONE: Final = "폐지|폐기|폐지됨|폐기됨|구버전"
# "[DEPRECATED] Sails", "주차 안내 (폐지)": words that a title is about stand in no brackets.
_IN_TITLE: Final = re.compile(
    rf"[\[(【]\s*({_GONE}|{_KOREAN_GONE})\s*[\])】](?=\s*$)"
    rf"|^\s*[\[(【]\s*({_GONE}|{_KOREAN_GONE})\s*[\])】]",
    re.IGNORECASE,
)
# An item of a list explains a word, code names one.
_ALONE: Final = re.compile(
    rf"(?![\s>]*[-*+] )[^\w`]*({_GONE}|{_KOREAN_GONE})[^\w`]*", re.IGNORECASE
)
# "> **Deprecated**: use the new one", above everything.
_BANNER: Final = re.compile(
    rf"\s*>[\s>]*\W{{0,3}}(?:\*\*|__)({_GONE}|{_KOREAN_GONE})[\s.:!]{{0,2}}(?:\*\*|__)(.*)",
    re.IGNORECASE,
)
_PAPER: Final = (
    "document|page|policy|guide|guideline|decision|adr|record|procedure|specification|spec|standard"
    "|note|article|version|manual|proposal|plan|rule|process"
)
_SAYS: Final = re.compile(
    r"(?:(?:warning|note|notice|important|caution|danger|attention)\s?[:!]\s{0,3})?"
    rf"this (?:{_PAPER}) (?:is|was|has been) (?:now )?"
    rf"((?:{_GONE}|no longer (?:valid|in force|in use|in effect|maintained|supported|current"
    r"|applicable))\b[^.;]{0,100})(.*)",
    re.IGNORECASE,
)
_LOOK: Final = re.compile(r"\b(?:see|use|read|refer to)\b", re.IGNORECASE)
_KOREAN_SAYS: Final = re.compile(
    r"(?:이|본|해당|위|동)\s?(?:문서|규정|지침|규칙|정책|절차|기준|방침|안내|페이지|결정|표준|매뉴얼|양식)"
    r"(?:은|는|이|가)?\s((?:[^.]|\.(?=\w)){0,200}?)"
    # "이 규정은 종전 규정을 폐지하였다" speaks of another.
    r"(?<![이가을를]\s)((?:폐지|폐기|실효|만료|철회|대체)(?:되었|됐|됨)\w{0,3}|(?:폐지|폐기|철회)(?:하였|했|한다)\w{0,3}"
    r"|더\s*이상\s[^.]{1,20}않\w{0,3}|효력[이을]\s(?:상실|잃)\w{0,3})\s*(?:\.|$)"
)


def of_title(title: str) -> Iterator[tuple[str, str]]:
    """Statements of a title with a status in brackets before or behind it."""
    if found := _IN_TITLE.search(title[:200]):
        yield "status", next(filter(None, found.groups())).casefold()


def of_line(line: str, text: str, title: bool = False) -> Iterator[tuple[str, str]]:
    """Statements of a line of a document's top: a status alone, or a sentence about itself. `text`:
    the same without marks before it. The `title` of a document may be such a word because all of it
    is about that."""
    if found := _ALONE.fullmatch(line[:80]):
        if not title:
            yield "status", found[1].casefold()
    elif found := _BANNER.match(line) or _SAYS.match(text):
        yield "status", found[1].strip(" *_")
        if look := _LOOK.search(found[2]):
            yield "reason", f"in favour of {found[2][look.end() :]}"
    elif found := _KOREAN_SAYS.search(text):
        if not found[2].startswith("대체"):
            yield "status", found[2].replace("한다", "함")
        yield "line", text[found.start() :]
