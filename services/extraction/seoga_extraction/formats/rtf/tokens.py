"""RTF bytes as tokens: groups, control words, characters (RTF specification 1.9.1)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\(.)|([{}])|([^\\{}\r\n]+)", re.DOTALL
)
# Bytes by the charset number of a font; 0 and 1 are the document's own.
CHARSETS = {
    77: "mac_roman",
    128: "cp932",
    129: "cp949",
    130: "johab",
    134: "gbk",
    136: "big5",
    161: "cp1253",
    162: "cp1254",
    163: "cp1258",
    177: "cp1255",
    178: "cp1256",
    186: "cp1257",
    204: "cp1251",
    222: "cp874",
    238: "cp1250",
    254: "cp437",
    255: "cp850",
}
SYMBOL_CHARSET = 2


@dataclass(frozen=True, slots=True)
class Token:
    """`kind` is "{", "}", "word" (with `name` and `number`), "sign" (`name` is the character
    after the back-slash) or "bytes" (`data`, with `escaped` for one written as hex)."""

    kind: str
    name: str = ""
    number: int | None = None
    data: bytes = b""
    escaped: bool = False


def tokens(data: bytes, cuts: list[int]) -> Iterator[Token]:
    """All tokens; line ends of the file mean nothing, and the data of `\\bin` is left out. Where
    that is said to be longer than the file, `cuts` gets its place."""
    at, size = 0, len(data)
    while at < size:
        found = _TOKEN.match(data, at)
        if found is None:
            at += 1
            continue
        at = found.end()
        token = _token(found)
        if token.name == "bin" and token.number:
            at += max(token.number, 0)
            if at > size:
                cuts.append(found.start())
        yield token


def _token(found: re.Match[bytes]) -> Token:
    word, number, escaped, sign, brace, text = found.groups()
    if word:
        return Token("word", word.decode("ascii"), int(number) if number else None)
    if text:
        return Token("bytes", data=text)
    if escaped:
        return Token("bytes", data=bytes([int(escaped, 16)]), escaped=True)
    if brace:
        return Token(brace.decode("ascii"))
    return Token("sign", (sign or b"").decode("latin-1"))


def codepage(number: int | None) -> str:
    """The codec of a Windows code page; cp1252 for those Python does not know."""
    import codecs

    name = {65001: "utf-8", 10000: "mac_roman", 1361: "johab"}.get(number or 0, f"cp{number}")
    try:
        codecs.lookup(name)
    except LookupError:
        return "cp1252"
    return name
