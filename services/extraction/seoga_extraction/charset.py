"""Which charset bytes are in: BOM, zero-byte patterns, UTF-8, Korean legacy, then statistics."""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

from seoga_extraction.korean import spaced

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE = 64 * 1024
# C0 controls that text does not use (tab, newlines, form feed, vertical tab, backspace, escape and
# the four separators of records are left out).
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\r\f\b\x1a\x1b\x1c\x1d\x1e\x1f")) + b"\x7f"
# Charsets of seven bits (RFC 1557, RFC 1468): the escape that calls them, and their name. Korean
# mail may leave the escape out where a header names the charset.
_ESCAPED = ((b"\x1b$)C", "iso2022_kr"), (b"\x1b$B", "iso2022_jp_2"), (b"\x1b$@", "iso2022_jp_2"))
_SEVEN_BITS = {"iso-2022-kr": "iso2022_kr", "iso-2022-jp": "iso2022_jp_2", "utf-7": "utf-7"}
_SEVEN_BITS["unicode-1-1-utf-7"] = "utf-7"
_WESTERN = frozenset(
    "àâäáãåæçèéêëìíîïñòóôõöøœßùúûüÿÀÂÄÁÃÅÆÇÈÉÊËÍÎÏÑÓÔÕÖØŒÙÚÛÜ¿¡«»‘’“”–—…€£§©®°·•\xa0"
)
# Letters for each place that cannot be decoded: fewer, and it is another charset; of what a file
# says itself, and of plain Korean.
_WHOLE = 20
_LEAST = 4
# Pages that say so are written by Windows, whose tables are supersets.
_WIDER = {
    **dict.fromkeys(("euc-kr", "euc_kr", "ks_c_5601-1987", "ksc5601", "ks_c_5601"), "cp949"),
    **dict.fromkeys(("iso-8859-1", "latin-1", "latin1"), "cp1252"),
}
# What a file is called whose lines are each in one of two.
_BOTH = "utf-8 and cp949"
_WESTERN_TABLES = frozenset(("cp1252", "windows-1252", "us-ascii", "ascii"))
# In these, bytes of another charset are seen: those of one byte a letter take any.
_SEEN = frozenset(
    ("utf_8", "cp949", "johab", "shift_jis", "cp932", "euc_jp", "gbk", "gb2312", "gb18030", "big5")
)
_MARKS = re.compile("[\x00-\x08\x0e-\x19\x1c-\x1f\ufffd\ufffe\uffff]")


def bom(data: bytes) -> tuple[str, int]:
    """The charset that a byte order mark names and the mark's length; ("", 0) without one."""
    for mark, name in _BOMS:
        if data.startswith(mark):
            return name, len(mark)
    return "", 0


def is_text(data: bytes) -> bool:
    """Whether the start of a file reads as text of some charset."""
    data = data[:_SAMPLE]
    name = bom(data)[0] or _wide(data)
    if name:
        width = 4 if "32" in name else 2 if "16" in name else 1
        text = data[: len(data) // width * width].decode(name, "replace")
        return len(_MARKS.findall(text)) <= len(text) * 0.02
    if b"\x00" in data:
        return False
    controls = len(data) - len(data.translate(None, _CONTROLS))
    # A single one in a short text is a slip.
    return controls <= max(1, len(data) * 0.01) or _seven_bits(data, "") is not None


def decode(data: bytes, declared: str = "") -> tuple[str, str]:
    """The text and the charset it was in. Never fails; `declared` is what the file itself names.

    Order: BOM, zero bytes (UTF-16, UTF-32), charsets of seven bits by their escapes or where they
    are declared, strict UTF-8, the declared charset, UTF-8 with surrogates, CP949 by the share of
    Hangul, line by line either of the two, UTF-8, the declared charset and then CP949 with few
    broken bytes, CP1252 by its letters, charset-normalizer. CP949 comes before a declared charset
    of Western letters. No-break spaces (A0) in CP949 are blanks.
    """
    name, skip = bom(data)
    if not name:
        name = _wide(data[:_SAMPLE])
    if name:
        return data[skip:].decode(name, "replace"), name
    if (found := _seven_bits(data, declared)) is not None:
        return found
    if (found := _whole(data, declared)) is not None:
        return found
    if (text := nearly(data, "utf-8")) is not None:
        return text, "utf-8"
    if (said := nearly(data, declared)) is not None:
        return said, declared
    if (korean := _korean(data, broken=True)) is not None:
        return korean, "cp949"
    if (western := _western(data)) is not None:
        return western, "cp1252"
    return _guessed(data)


def _whole(data: bytes, declared: str) -> tuple[str, str] | None:
    """The text in the first charset that all bytes are of."""
    if (text := _strict(data, "utf-8")) is not None:
        return text, "utf-8"
    # A charset of one byte a letter, which programs name without looking, takes any bytes.
    single = _table(declared.lower()) in _WESTERN_TABLES
    if single and (korean := _korean(data)) is not None:
        return korean, "cp949"
    if (text := _strict(data, declared)) is not None:
        return text, declared
    if (text := _paired(data)) is not None:
        return text, "utf-8"
    if (korean := _korean(data)) is not None:
        return korean, "cp949"
    return _by_lines(data)


def _by_lines(data: bytes) -> tuple[str, str] | None:
    """The text of a file that programs of both charsets wrote to, such as a log: each line in
    UTF-8 or Korean in CP949."""
    texts: list[str] = []
    for line in data.split(b"\n"):
        text = _strict(line, "utf-8")
        if text is None:
            text = _korean(line)
        if text is None:
            return None
        texts.append(text)
    return "\n".join(texts), _BOTH


def undecoded(data: bytes, text: str, name: str) -> str:
    """Sentences on the bytes that are none of charset `name`, as `decode` gave `text` for them:
    how many and the line of the first. They stand as U+FFFD in it; no-break spaces in CP949 as
    blanks. "" where all are."""
    mended = _mended(data, name)
    said = [_told_blanks(data, mended, name)] if mended is not data else []
    if "\ufffd" in text and name != _BOTH and (own := _lost(mended, name)):
        skip = bom(data)[1]
        line = _line(mended[skip : skip + own[0].start], name)
        count = sum(one.end - one.start for one in own)
        there = "1 byte is" if count == 1 else f"{count:,} bytes are"
        said.append(
            f"{there} not {name}, the first in line {line:,}: each such place reads as \ufffd."
        )
    return " ".join(filter(None, said))


def _told_blanks(data: bytes, mended: bytes, name: str) -> str:
    count = sum(one != other for one, other in zip(data, mended, strict=True))
    if not count:
        return ""
    first = next(at for at, one in enumerate(data) if one != mended[at])
    there = "1 no-break space (A0) is" if count == 1 else f"{count:,} no-break spaces (A0) are"
    line = _line(mended[:first], name)
    return f"{there} not {name}, the first in line {line:,}: each reads as a blank."


def nearly(data: bytes, declared: str) -> str | None:
    """The text in the declared charset where all but a few bytes are of it; None for charsets of
    one byte a letter, which take any."""
    name = _table(declared.lower())
    if name.replace("-", "_") not in _SEEN:
        return None
    text = _mended(data, name).decode(name, "replace")
    broken = text.count("\ufffd")
    foreign = sum(character > "\x7f" for character in text) - broken
    return text if broken * _LEAST <= foreign else None


def _line(before: bytes, name: str) -> int:
    """The line, from 1, that follows these bytes."""
    text = before.decode(_table(name), "ignore")
    return len(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))


def _table(name: str) -> str:
    """What decodes the charset that a file calls so."""
    return _WIDER.get(name.lower(), name)


def _mended(data: bytes, name: str) -> bytes:
    return spaced(data) if _table(name) == "cp949" else data


class _Place(NamedTuple):
    start: int
    end: int


def _lost(data: bytes, name: str) -> list[_Place]:
    """Where bytes cannot be decoded; offsets behind the byte order mark."""
    found: list[_Place] = []

    def keep(error: UnicodeError) -> tuple[str, int]:
        if not isinstance(error, UnicodeDecodeError):
            raise error
        found.append(_Place(error.start, error.end))
        return "", error.end

    codecs.register_error("seoga-undecoded", keep)
    data[bom(data)[1] :].decode(_table(name), "seoga-undecoded")
    return found


def _seven_bits(data: bytes, declared: str) -> tuple[str, str] | None:
    """Text that is written with escapes, or in UTF-7 where that is declared."""
    name = _SEVEN_BITS.get(declared.lower(), "")
    for mark, escaped in _ESCAPED:
        if mark in data[:_SAMPLE]:
            name = escaped
            break
    if not name:
        return None
    if name == "iso2022_kr" and b"\x1b$)C" not in data:
        data = b"\x1b$)C" + data
    # A cut sample may end inside a letter.
    text = data.decode(name, "replace")
    return (text, name) if text.count("\ufffd") <= 1 + 0.02 * len(text) else None


def _strict(data: bytes, name: str) -> str | None:
    if not name:
        return None
    try:
        return _mended(data, name).decode(_table(name), "strict")
    except (LookupError, ValueError):
        return None


def _paired(data: bytes) -> str | None:
    """UTF-8 whose signs above U+FFFF are two surrogates of three bytes each (CESU-8, as Java and
    databases write it); a surrogate alone is none."""
    try:
        text = data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return None
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _wide(data: bytes) -> str:
    """UTF-16 or UTF-32 without a BOM, by where the zero bytes stand; "" otherwise."""
    zeros = data.count(0)
    if not zeros or len(data) < 8:
        return ""
    at = [data[start::4].count(0) for start in range(4)]
    quarter = len(data) // 4
    if at[2] + at[3] >= 1.9 * quarter and at[0] < quarter * 0.5:
        return "utf-32-le"
    if at[0] + at[1] >= 1.9 * quarter and at[3] < quarter * 0.5:
        return "utf-32-be"
    even, odd = at[0] + at[2], at[1] + at[3]
    # Korean in UTF-16 has zeros at its spaces and line ends only, all on one side.
    if min(even, odd) <= 1 + zeros * 0.25 and zeros >= len(data) * 0.02:
        name = "utf-16-le" if odd > even else "utf-16-be"
        text = data[: len(data) // 2 * 2].decode(name, "replace")
        # Zeros on the other side are of letters such as U+AC00: then it must read as words.
        stray = min(even, odd) > zeros * 0.02
        letters = sum(one.isalpha() or one.isspace() for one in text)
        if len(_MARKS.findall(text)) <= len(text) * (0 if stray else 0.02) and (
            not stray or letters >= 0.75 * len(text)
        ):
            return name
    return ""


def _korean(data: bytes, broken: bool = False) -> str | None:
    """CP949 text when it decodes (`broken`: all but a few bytes) and reads as Korean: mostly
    Hangul, mostly of KS X 1001."""
    text = spaced(data).decode("cp949", "replace") if broken else _strict(data, "cp949")
    if text is None:
        return None
    marks = text.count("\ufffd")
    foreign = [character for character in text if character > "\u02ff" and character != "\ufffd"]
    hangul = [character for character in foreign if "\uac00" <= character <= "\ud7a3"]
    letters = [character for character in foreign if character.isalpha()]
    if not hangul or len(hangul) < max(0.75 * len(letters), _LEAST * marks):
        return None
    sample = hangul[:5000]
    common = sum(len(character.encode("euc-kr", "ignore")) == 2 for character in sample)
    # Of few letters with a broken byte, all must be Korean words could have.
    plain = len(hangul) == len(letters) and common == len(sample)
    whole = len(hangul) >= _WHOLE * marks
    return text if (whole or plain) and common >= 0.9 * len(sample) else None


def _western(data: bytes) -> str | None:
    """CP1252 when every sign above ASCII is one of Western European text, and most are not."""
    text = _strict(data, "cp1252")
    if text is None:
        return None
    foreign = [character for character in text if character > "\x7f"]
    known = all(character in _WESTERN for character in foreign)
    return text if known and len(foreign) <= 0.3 * len(text) else None


def _guessed(data: bytes) -> tuple[str, str]:
    from charset_normalizer import from_bytes

    best = from_bytes(data[: 256 * 1024]).best()
    name = best.encoding if best is not None else "cp1252"
    return data.decode(name, "replace"), name
