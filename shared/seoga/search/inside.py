"""Terms of the index that an unknown one stands inside of."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from itertools import islice
from typing import Final

MAX_EXPANSIONS: Final = 24
# What SQLite's trigram tokenizer finds nothing under, in characters.
_SHORTEST: Final = 3
_DIGIT, _LETTER = r"\d", r"[^\W\d_]"


def containing(conn: sqlite3.Connection, text: str, *, named: bool) -> dict[str, int]:
    """The commonest terms that contain this one, with their number of chunks; of a single syllable,
    those that begin with it. Digits inside a longer number are another number; of what is `named`
    (an identifier), letters inside a longer word are another name, too."""
    if len(text) == 1 and "가" <= text <= "힣":
        sql = "SELECT term, df FROM terms WHERE term BETWEEN ?1 AND ?1 || '힣'"
        value = text
    elif len(text) >= _SHORTEST and not text.isdigit():
        sql = (
            "SELECT t.term, t.df FROM terms_trigram x JOIN terms t ON t.id = x.rowid"
            " WHERE terms_trigram MATCH ?"
        )
        value = '"' + text.replace('"', '""') + '"'
    else:
        return {}
    rows = conn.execute(f"{sql} ORDER BY df DESC", (value,))
    apart = _apart(text, named=named)
    return dict(islice(((term, df) for term, df in rows if df > 0 and apart(term)), MAX_EXPANSIONS))


def _apart(text: str, *, named: bool) -> Callable[[str], object]:
    """Whether the number (the word, too, of what is named) that a text begins or ends with is whole
    in a term that holds it: ERR-10 is not ERR-100, DR-5 not ADR-5."""
    kinds = (_DIGIT, _LETTER) if named else (_DIGIT,)
    head = next((kind for kind in kinds if re.match(kind, text[0])), "")
    tail = next((kind for kind in kinds if re.match(kind, text[-1])), "")
    before, behind = f"(?<!{head})" if head else "", f"(?!{tail})" if tail else ""
    return re.compile(f"{before}{re.escape(text)}{behind}").search
