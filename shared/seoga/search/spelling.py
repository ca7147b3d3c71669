"""Terms of the index that an unknown word may be a slip of: found by shared trigrams, kept by edit
distance (Damerau 1964, restricted). Digits are never guessed: ADR-0005 is not ADR-0006."""

from __future__ import annotations

import re
import sqlite3
from typing import Final

MIN_LETTERS: Final = 5
# A second slip only in long words: short ones are all alike.
_LONG: Final = 9
_LOOKED_AT: Final = 200
_KEPT: Final = 3
_LATIN: Final = re.compile(r"[a-z_./@:+-]*[a-z][a-z_./@:+-]*")
_DIGITS: Final = re.compile(r"\d+")


def alike(conn: sqlite3.Connection, word: str, typed: str = "") -> dict[str, int]:
    """The nearest terms with their number of chunks, at most three, all equally near; empty for a
    word of under five letters, of digits only, or that is like nothing. The first letter is right
    (people rarely miss it), so are digits. `typed`: the word of which `word` is the stem."""
    letters = _DIGITS.sub("", word)
    if not word.isascii() or len(letters) < MIN_LETTERS or not _LATIN.fullmatch(letters):
        return {}
    most = 2 if max(len(letters), len(typed)) >= _LONG else 1
    parts = dict.fromkeys(word[at : at + 3] for at in range(len(word) - 2))
    asked = " OR ".join('"' + part.replace('"', '""') + '"' for part in list(parts)[:24])
    rows = conn.execute(
        "SELECT t.term, t.df FROM terms_trigram x JOIN terms t ON t.id = x.rowid"
        " WHERE terms_trigram MATCH ? AND t.df > 0 AND length(t.term) BETWEEN ? AND ?"
        " AND substr(t.term, 1, 1) = ? ORDER BY x.rank LIMIT ?",
        (asked, len(word) - most, len(word) + most, word[0], _LOOKED_AT),
    ).fetchall()
    digits = _DIGITS.findall(word)
    near = [
        (distance(word, term), -df, term) for term, df in rows if _DIGITS.findall(term) == digits
    ]
    near = sorted(each for each in near if each[0] <= most)
    return {term: -df for far, df, term in near[:_KEPT] if far == near[0][0]}


def distance(one: str, other: str) -> int:
    """Insertions, deletions, exchanges and swaps of neighbours that lead from one to the other."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(other, 1):
            cost = min(last[j] + 1, row[-1] + 1, last[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, last = last, row
    return last[-1]
