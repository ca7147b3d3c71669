"""Text that others wrote, without a secret that they may have been shown."""

from __future__ import annotations

import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator
from typing import Final

# So many characters of a secret in a row are a part of it, and no word.
_PART: Final = 8
# A character as addresses and pages write it, or as it is.
_WRITTEN: Final = re.compile(r"%([0-9a-f]{2})|&#([0-9]{1,3});|&#x([0-9a-f]{1,2});|(.)", re.I | re.S)
_BASES: Final = (16, 10, 16)


def without(text: str, secret: str) -> str:
    """`text` with a mark in the place of the secret and of any eight characters of it in a row,
    whatever their case, as they are, in percent or HTML codes, or in base64 at any place of what
    was encoded; of a shorter secret all of it."""
    if not secret:
        return text
    plain, starts = _read(text)
    out, shown = [], 0
    for start, end in _shown(_folded(plain), secret):
        out += [text[shown : starts[start]], "…"]
        shown = starts[end]
    return "".join([*out, text[shown:]])


def _read(text: str) -> tuple[str, list[int]]:
    """The text with codes as the characters that they stand for, and where each of these begins;
    the end is the last."""
    if "%" not in text and "&#" not in text:
        return text, list(range(len(text) + 1))
    plain, starts = [], []
    for found in _WRITTEN.finditer(text):
        *codes, plainly = found.groups()
        coded = [int(code, base) for code, base in zip(codes, _BASES, strict=True) if code]
        plain.append(chr(coded[0]) if coded else plainly)
        starts.append(found.start())
    return "".join(plain), [*starts, len(text)]


def _folded(text: str) -> str:
    """Without case, each character in its place."""
    return "".join(low if len(low := one.casefold()) == 1 else one for one in text)


def _shown(text: str, secret: str) -> list[tuple[int, int]]:
    """From where to where parts of the secret stand, in order."""
    found = sorted(span for least, parts in _parts(secret) for span in _spans(text, least, parts))
    apart: list[tuple[int, int]] = []
    for start, end in found:
        if apart and start < apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        else:
            apart.append((start, end))
    return apart


def _spans(text: str, least: int, parts: frozenset[str]) -> Iterator[tuple[int, int]]:
    at = 0
    while at <= len(text) - least:
        if text[at : at + least] not in parts:
            at += 1
            continue
        end = at + least
        while end < len(text) and text[end - least + 1 : end + 1] in parts:
            end += 1
        yield at, end
        at = end


def _parts(secret: str) -> tuple[tuple[int, frozenset[str]], ...]:
    """What tells of the secret, by length."""
    of_length: dict[int, set[str]] = {}
    least = min(_PART, len(secret))
    for form, length in ((secret, least), *((one, _PART) for one in _encoded(secret))):
        folded = _folded(form)
        parts = (folded[at : at + length] for at in range(len(folded) - length + 1))
        of_length.setdefault(length, set()).update(parts)
    return tuple((length, frozenset(parts)) for length, parts in of_length.items())


def _encoded(secret: str) -> Iterator[str]:
    """Base64 as it comes out behind none, one or two bytes of something else, as far as these and
    what follows do not matter."""
    data = secret.encode("utf-8", "replace")
    for before in range(3):
        whole = b"\0" * before + data
        # Six bits a character.
        first, end = -(-8 * before // 6), 8 * len(whole) // 6
        for encode in (b64encode, urlsafe_b64encode):
            yield encode(whole).decode("ascii")[first:end]
