"""Text that may be printed: what would move a terminal's cursor, end a line or turn the direction
of writing around is shown as an escape instead."""

from __future__ import annotations

import re

# C0, delete and C1, the line ends of Unicode, and the controls of writing direction.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")

_ENDS = (".", "?", "!", "…")


def printable(text: str, keep: str = "") -> str:
    """The text with its control characters as `\\n`, `\\x1b`, `\\u202e`; those in `keep` stay."""
    return _CONTROL.sub(lambda found: _escaped(found[0], keep), text)


def _escaped(character: str, keep: str) -> str:
    if character in keep:
        return character
    return character.encode("unicode_escape").decode("ascii")


def sentences(*parts: str) -> str:
    """Parts after one another, each with an end of its own; empty ones are left out."""
    told = (part.strip() for part in parts)
    return " ".join(part if part.endswith(_ENDS) else f"{part}." for part in told if part)
