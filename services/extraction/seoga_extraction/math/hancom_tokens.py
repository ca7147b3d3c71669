"""Hancom equation script in tokens: words, numbers, text, signs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from seoga_extraction.math.hancom_words import PREFIXES, SIGNS, Does, find
from seoga_extraction.math.symbols import symbol


class Kind(Enum):
    """What a token is."""

    WORD = auto()
    NUMBER = auto()
    TEXT = auto()
    SIGN = auto()
    SPACE = auto()
    OPEN = auto()  # {
    CLOSE = auto()  # }
    COLUMN = auto()  # &
    ROW = auto()  # #
    SCRIPT = auto()  # ^ and _
    END = auto()


@dataclass(slots=True)
class Token:
    """A piece of the script; `gap` tells whether white space stands before it."""

    kind: Kind
    value: str
    gap: bool = False
    start: int = 0


_SINGLE = {
    "{": Kind.OPEN,
    "}": Kind.CLOSE,
    "&": Kind.COLUMN,
    "#": Kind.ROW,
    "^": Kind.SCRIPT,
    "_": Kind.SCRIPT,
    "~": Kind.SPACE,
    "`": Kind.SPACE,
}
# Unicode files these with the operators.
_TERM_SIGNS = "∞∂∇√∛∜∅∀∃∄∠∡∢∟△▽°′″"
_PATTERN = re.compile(
    r"(?P<gap>\s+)|(?P<word>[A-Za-z]+)|(?P<number>[0-9]+(?:[.,][0-9]+)*)"
    r'|"(?P<quoted>[^"]*)"?|(?P<sign>'
    + "|".join(re.escape(sign) for sign in sorted(SIGNS, key=len, reverse=True))
    + r")|(?P<single>.)",
    re.DOTALL,
)


def tokens(script: str) -> list[Token]:
    """All tokens, an END one last. Linear in the script's length."""
    found: list[Token] = []
    gap = False
    for match in _PATTERN.finditer(script):
        group, value = match.lastgroup or "", match[match.lastgroup or 0]
        if group == "gap":
            gap = True
            continue
        for token in _made(group, value):
            token.gap, token.start = gap, match.start()
            _add(found, token)
            gap = False
    found.append(Token(Kind.END, "", gap, len(script)))
    return found


def _made(group: str, value: str) -> Iterator[Token]:
    if group == "word":
        yield from (Token(Kind.WORD, piece) for piece in _split(value))
    elif group == "number":
        yield Token(Kind.NUMBER, value)
    elif group == "quoted":
        yield Token(Kind.TEXT, f'"{value}')
    elif value in _SINGLE:
        yield Token(_SINGLE[value], value)
    elif value.isascii() or not unicodedata.category(value).startswith(("L", "M")):
        yield Token(Kind.SIGN, value)
    elif not symbol(value).startswith("\\text"):  # a Greek letter, or one of an alphabet for math
        yield Token(Kind.SIGN, symbol(value))
    else:
        yield Token(Kind.TEXT, value)


def _add(found: list[Token], token: Token) -> None:
    """Appends it, as part of the text before it where nothing stands between the two."""
    last = found[-1] if found else None
    joined = last is not None and last.kind is token.kind is Kind.TEXT and not token.gap
    if last is None or not joined or '"' in (last.value[:1], token.value[:1]):
        found.append(token)
    else:
        last.value += token.value


def _split(word: str) -> list[str]:
    """A function's name and the variable glued to it, as `sinx`; other words stay whole."""
    if find(word) is not None:
        return [word]
    for name in PREFIXES:
        rest = word[len(name) :]
        if word.startswith(name) and rest:
            entry = find(rest)
            if len(rest) == 1 or (entry is not None and entry.does is Does.SIGN):
                return [name, rest]
    return [word]


def is_operator(sign: str) -> bool:
    """Whether a sign stands between terms; the others are parts of one."""
    if sign.isascii():
        return sign not in "!%$@" and not sign.startswith("\\")
    return unicodedata.category(sign) == "Sm" and sign not in _TERM_SIGNS
