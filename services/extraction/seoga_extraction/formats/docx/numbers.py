"""The numbers that Word shows before list items and headings, counted as Word counts them."""

from __future__ import annotations

import re
from collections import defaultdict

from seoga_extraction.formats.docx.package import Level, Numbering

_PLACE = re.compile(r"%([1-9])")
_GANADA = "가나다라마바사아자차카타파하"
_CHOSUNG = "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ"
_ROMAN = (
    (1000, "m"),
    (900, "cm"),
    (500, "d"),
    (400, "cd"),
    (100, "c"),
    (90, "xc"),
    (50, "l"),
    (40, "xl"),
    (10, "x"),
    (9, "ix"),
    (5, "v"),
    (4, "iv"),
    (1, "i"),
)


class Counters:
    """Counts the items of every list of a document, in the order they stand."""

    def __init__(self, numbering: Numbering) -> None:
        self._numbering = numbering
        self._counts: dict[str, dict[int, int]] = defaultdict(dict)
        self._seen: set[tuple[str, int]] = set()

    def mark(self, list_id: str, level: int) -> str:
        """The mark of the next item: "-" for a bullet, "3." or "2.1" for a number, "" for none."""
        abstract = self._numbering.abstract.get(list_id)
        if abstract is None:
            return ""
        levels = self._numbering.levels.get(abstract, {})
        own = levels.get(level, Level())
        counts = self._counts[abstract]
        start = self._numbering.starts.get((list_id, level))
        if start is not None and (list_id, level) not in self._seen:
            counts[level] = start
        else:
            counts[level] = counts.get(level, own.start - 1) + 1
        self._seen.add((list_id, level))
        for deeper in [one for one in counts if one > level]:
            del counts[deeper]
        if own.kind in ("bullet", "none") or not _PLACE.search(own.text):
            return "-" if own.kind == "bullet" else own.text.strip()
        return _PLACE.sub(lambda found: self._one(int(found[1]) - 1, levels, counts), own.text)

    def _one(self, level: int, levels: dict[int, Level], counts: dict[int, int]) -> str:
        definition = levels.get(level, Level("decimal"))
        return shown(counts.get(level, definition.start), definition.kind)


def shown(number: int, kind: str) -> str:
    """A number in one of Word's formats (ECMA-376 part 1, 17.18.59); decimal for the rare ones."""
    if number < 1:
        return str(number)
    if kind in ("lowerLetter", "upperLetter"):
        # Word goes on with aa, bb, cc.
        letter = chr(ord("a") + (number - 1) % 26) * min((number - 1) // 26 + 1, 10)
        return letter if kind == "lowerLetter" else letter.upper()
    if kind in ("lowerRoman", "upperRoman"):
        roman = _roman(number)
        return roman if kind == "lowerRoman" else roman.upper()
    if kind in ("ganada", "chosung"):
        row = _GANADA if kind == "ganada" else _CHOSUNG
        return row[(number - 1) % len(row)]
    if kind.startswith("decimalEnclosedCircle") and number <= 20:
        return chr(0x245F + number)
    if kind == "decimalZero":
        return f"{number:02d}"
    return str(number)


def _roman(number: int) -> str:
    out = ""
    for value, letters in _ROMAN:
        count, number = divmod(number, value)
        out += letters * min(count, 10)
    return out
