"""Sentence spans of Korean and English text: linear in its length, and local to a paragraph."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

_CLOSING = "\"'”’)\\]}」』》〉»"
_MARKER = r"[^\S\n]*+(?:[-*+•▪◦]|\d{1,3}[.)]|[가-힣][.)]|[①-⑳])[^\S\n]"

# The look-behind and the possessive runs keep a row of ten thousand dots linear.
_END = re.compile(
    rf"(?<![.?!…])[.?!…]++[{_CLOSING}]*+(?=\s)"
    rf"|[。！？]++[{_CLOSING}]*+"
    r"|(?<=[다요죠까])[.?!]++(?=[가-힣])"
    rf"|\n(?={_MARKER})"
    r"|(?<=니다|니까|어요|아요|에요|예요|세요|지요|네요)\n"
)
# What every end begins with: a search for these few characters is many times faster than one that
# tries each look-behind at each place.
_MARKS = re.compile(r"[.?!…。！？\n]")
_BLANK = re.compile(r"\n[^\S\n]*+\n\s*+")
_SPACE = re.compile(r"\s*+")
_LAST_WORD = re.compile(r"[^\s(\[{\"“‘「『《〈]*+$")
_WORD_WINDOW = 16

_NEVER = re.compile(
    r"dr|mr|mrs|ms|prof|rev|hon|gen|col|capt|lt|sgt|st|mt|vs|viz|cf|e\.g|i\.e|eg|ie|ca|approx|resp"
)
_BEFORE_NUMBER = re.compile(r"nos?|pp?|vol|ch|sec|art|figs?|eqs?|ref|tab")
_UNLESS_NEW = re.compile(r"etc|inc|ltd|co|corp|jr|sr|al|bros|dept|est|a\.m|p\.m|ph\.d")
_ARTICLE = re.compile(r"제\d+(?:조|항|호|장|절|편|관|목)(?:의\d+)?")
_NUMBER = re.compile(r"\d+")
_DATE = re.compile(r"(?:19|20)\d\d(?:\.\d{1,2}){1,2}")
_DATE_BEFORE = re.compile(r"\d\.\s?$")
_INITIALS = re.compile(r"(?:[A-Z]\.)*[A-Z]")
_QUOTING = re.compile(r"(?:이?라[고는며]|라면서|하[고는며]|고|는|며)(?![가-힣])")

_PAIRS = dict(zip("([{「『《〈“‘（［", ")]}」』》〉”’）］", strict=True))
_MARK = re.compile('["' + re.escape("".join(_PAIRS) + "".join(_PAIRS.values())) + "]")
# A pair further apart than this is two strays, not one remark.
_PAIR_REACH = 400

Span = tuple[int, int]


def sentence_spans(text: str) -> list[Span]:
    """The sentences of `text` as (start, end) in code points, in order, white space trimmed.

    Together they hold every character that is not white space. A blank line always ends a sentence;
    list items begin one. Ends inside matched brackets or quotes, decimals, versions, dates,
    numbering and abbreviations do not count. An unmatched bracket is ignored. Linear time.
    """
    spans: list[Span] = []
    for start, end in _paragraphs(text):
        spans.extend(_paragraph_sentences(text, start, end))
    return spans


def _skip_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _trim_end(text: str, start: int, end: int) -> int:
    while end > start and text[end - 1].isspace():
        end -= 1
    return end


def _paragraphs(text: str) -> Iterator[Span]:
    start = _skip_space(text, 0)
    for blank in _BLANK.finditer(text, start):
        yield start, blank.start()
        start = blank.end()
    yield start, len(text)


def _paragraph_sentences(text: str, start: int, end: int) -> Iterator[Span]:
    enclosed = _enclosed(text, start, end)
    inside = 0
    for found in _ends_in(text, start, end):
        at = found.end()
        if found.start() < start:
            continue
        while inside < len(enclosed) and enclosed[inside][1] < at:
            inside += 1
        if inside < len(enclosed) and enclosed[inside][0] < at:
            continue
        if found[0] != "\n" and not _ends(text, start, found):
            continue
        yield start, _trim_end(text, start, at)
        start = _skip_space(text, at)
    if start < (last := _trim_end(text, start, end)):
        yield start, last


def _ends_in(text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """`_END.finditer`, faster."""
    after = start
    for mark in _MARKS.finditer(text, start, end):
        if mark.start() >= after and (found := _END.match(text, mark.start(), end)):
            after = found.end()
            yield found


def _ends(text: str, start: int, found: re.Match[str]) -> bool:
    """Whether the mark that was found ends the sentence that begins at `start`."""
    mark, after = found[0], _skip_space(text, found.end())
    following = text[after : after + 1]
    if mark[-1] in _CLOSING:
        return not (following.islower() or _QUOTING.match(text, after))
    if mark != ".":
        return True
    word = _last_word(text, start, found.start())
    if (spoken := _abbreviation_ends(word.lower(), following)) is not None:
        return spoken
    return not _is_label(text, start, found.start(), word)


def _last_word(text: str, start: int, end: int) -> str:
    found = _LAST_WORD.search(text, max(start, end - _WORD_WINDOW), end)
    return found[0] if found else ""


def _abbreviation_ends(word: str, following: str) -> bool | None:
    """None when `word` (lower case, without its full stop) is no abbreviation."""
    if _NEVER.fullmatch(word):
        return False
    if _BEFORE_NUMBER.fullmatch(word):
        return not following.isdigit()
    if _UNLESS_NEW.fullmatch(word):
        return not following.islower()
    return None


def _is_label(text: str, start: int, end: int, word: str) -> bool:
    """Numbers, dates, articles of law, initials: a full stop follows and ends nothing."""
    opens = end - len(word) == start
    if _NUMBER.fullmatch(word):
        after = _skip_space(text, end + 1)
        following = text[after : after + 1]
        before = text[max(start, end - len(word) - 3) : end - len(word)]
        return opens or following.isdigit() or bool(_DATE_BEFORE.search(before))
    if opens and len(word) == 1 and "가" <= word <= "힣":
        return True
    return any(shape.fullmatch(word) for shape in (_ARTICLE, _DATE, _INITIALS))


def _enclosed(text: str, start: int, end: int) -> list[Span]:
    """The outermost matched brackets and quotes as (open, close), in order."""
    merged: list[Span] = []
    for opened, closed in sorted(_matched(text, start, end)):
        if merged and opened < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(closed, merged[-1][1]))
        else:
            merged.append((opened, closed))
    return merged


def _matched(text: str, start: int, end: int) -> Iterator[Span]:
    stack: list[tuple[str, int]] = []
    waiting: Counter[str] = Counter()
    quote = -1
    for found in _MARK.finditer(text, start, end):
        at, mark = found.start(), found[0]
        if mark == '"':
            if quote < 0 or _opens_quote(text, at):
                quote = at
            else:
                yield from _near(quote, at)
                quote = -1
        elif mark in _PAIRS:
            stack.append((_PAIRS[mark], at))
            waiting[_PAIRS[mark]] += 1
        elif waiting[mark]:
            yield from _near(_unwind(stack, waiting, mark), at)


def _unwind(stack: list[tuple[str, int]], waiting: Counter[str], mark: str) -> int:
    """Where the bracket that `mark` closes was opened; what was opened after it never closes."""
    while True:
        kind, opened = stack.pop()
        waiting[kind] -= 1
        if kind == mark:
            return opened


def _near(opened: int, closed: int) -> Iterator[Span]:
    if closed - opened <= _PAIR_REACH:
        yield opened, closed


def _opens_quote(text: str, at: int) -> bool:
    before, after = text[at - 1 : at] if at else " ", text[at + 1 : at + 2]
    return (before.isspace() or before in _PAIRS) and not (after.isspace() or not after)
