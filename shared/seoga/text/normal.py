"""Normal forms of text: NFC for what is stored, folded (NFKC + casefold) for what is compared."""

from __future__ import annotations

import re
import unicodedata

# What people paste unseen: NUL, soft hyphen, joiners, direction marks, BOM; and half characters,
# which no encoder takes.
_INVISIBLE = re.compile(
    "[\x00\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\ud800-\udfff]"
)


def nfc(text: str) -> str:
    """Text as it is stored: composed (macOS names arrive decomposed), nothing else changed."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def visible(text: str) -> str:
    """Text without NUL, characters of no width and lone surrogates."""
    return _INVISIBLE.sub("", text)


def compatible(text: str) -> str:
    """NFKC of the visible text, case kept: full-width, ligatures, Hanja variants unified."""
    seen = visible(text)
    return seen if seen.isascii() else unicodedata.normalize("NFKC", seen)


def fold(text: str) -> str:
    """Text as it is indexed and queried: visible, NFKC, casefolded."""
    folded = compatible(text).casefold()
    # Casefolding can undo composition (U+0345 and friends); one more pass reaches the fixed point.
    return folded if folded.isascii() else unicodedata.normalize("NFKC", folded)
