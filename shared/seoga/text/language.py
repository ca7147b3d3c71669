"""The language of a text as far as ranking needs it: Korean, English (Latin letters) or other."""

from __future__ import annotations

import re
from typing import Literal

Language = Literal["ko", "en", "other"]

_HANGUL = re.compile("[가-힣\u1100-\u11ff\u3131-\u318e]+")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]+")
_LETTERS = re.compile(r"[^\W\d_]+")

# The high bytes of the Hangul syllables (all but the last ones, from U+D700 on), and all bytes but
# those of any Hangul.
_SYLLABLES = bytes(range(0xAC, 0xD7))
_NO_HANGUL = bytes(set(range(256)) - {0x11, 0x31, *range(0xAC, 0xD8)})
_ASCII_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

# Targets of links, addresses and code are Latin in every language.
_FOREIGN = re.compile(r"\]\([^)\s]*\)|https?://\S+|`[^`\n]*`")

# Korean technical prose is full of English names, so a little Hangul decides: a syllable
# counts as a word of Latin does, and one in five is enough.
_KOREAN_SHARE = 0.2
_SAMPLE = 20_000


def language_of(text: str) -> Language:
    """`ko`: Hangul is a fifth of syllables and words; `en`: most letters are Latin; else `other`.

    Looks at the first 20,000 characters, without code and addresses where something else is left; a
    text without letters is `other`.
    """
    sample = text[:_SAMPLE]
    # Most passages have none: three looks for a few characters are many times faster.
    if "](" in sample or "://" in sample or "`" in sample:
        prose = _FOREIGN.sub(" ", sample)
        if _LETTERS.search(prose):
            sample = prose
    if sample.isascii():
        return "en" if _LETTERS.search(sample) else "other"
    return _plainly(sample) or _counted(sample)


def _plainly(sample: str) -> Language | None:
    """What `_counted` says where that shows without looking for words, which is most of any text:
    many times faster. None elsewhere."""
    high = sample.encode("utf-16-le", "replace")[1::2]
    syllables = len(high) - len(high.translate(None, _SYLLABLES))
    # No word is shorter than a character, so these are a fifth of syllables and words.
    if syllables and syllables >= _KOREAN_SHARE * len(sample):
        return "ko"
    if syllables or high.translate(None, _NO_HANGUL) != b"":
        return None
    plain = sample.encode("ascii", "ignore")
    latin = len(plain) - len(plain.translate(None, _ASCII_LETTERS))
    # Were all other characters letters, these would be half of them.
    return "en" if latin and latin >= len(sample) - len(plain) else None


def _counted(sample: str) -> Language:
    hangul = _length(_HANGUL.findall(sample))
    words = _LATIN.findall(sample)
    if hangul and hangul >= _KOREAN_SHARE * (hangul + len(words)):
        return "ko"
    letters = _length(_LETTERS.findall(sample))
    return "en" if letters and 2 * _length(words) >= letters else "other"


def _length(runs: list[str]) -> int:
    return sum(map(len, runs))
