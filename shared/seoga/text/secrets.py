"""Text that others wrote, without a secret that they may have been shown."""

from __future__ import annotations

from typing import Final

# So many characters of a secret in a row are a part of it, and no word.
_PART: Final = 8


def without(text: str, secret: str) -> str:
    """`text` with a mark in the place of the secret and of any eight characters of it in a row,
    whatever their case; of a shorter secret all of it."""
    if not secret:
        return text
    least = min(_PART, len(secret))
    folded = secret.casefold()
    parts = {folded[at : at + least] for at in range(len(folded) - least + 1)}
    out, shown, at = [], 0, 0
    while at <= len(text) - least:
        if text[at : at + least].casefold() not in parts:
            at += 1
            continue
        end = at + least
        while end < len(text) and text[end - least + 1 : end + 1].casefold() in parts:
            end += 1
        out += [text[shown:at], "…"]
        shown = at = end
    return "".join([*out, text[shown:]])
