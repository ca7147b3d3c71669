"""Marks of lists and numbers of headings in OpenDocument texts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from seoga_extraction.formats.odt.package import Level
from seoga_extraction.numerals import shown

_SHAPES = {
    "1": "decimal",
    "a": "lowerLetter",
    "A": "upperLetter",
    "i": "lowerRoman",
    "I": "upperRoman",
    "가, 나, 다, ...": "ganada",
    "ㄱ, ㄴ, ㄷ, ...": "chosung",
    "일, 이, 삼, ...": "koreanCounting",
    "一, 二, 三, ...": "chineseCounting",
    "①, ②, ③, ...": "decimalEnclosedCircle",
}


class Counters:
    """Counts by list style and level."""

    def __init__(self, styles: Mapping[str, Mapping[int, Level]]) -> None:
        self._styles = styles
        self._counts: dict[str, dict[int, int]] = defaultdict(dict)

    def begin(self, style: str, level: int, continued: bool) -> None:
        """A list begins: its level counts from its start, unless it continues one before."""
        if continued:
            return
        counts = self._counts[style]
        for deeper in [one for one in counts if one >= level]:
            del counts[deeper]

    def mark(self, style: str, level: int, start: int = -1) -> str:
        """The mark of the next item; "-" for a bullet."""
        own = self._styles.get(style, {}).get(level, Level())
        self._next(style, level, own, start)
        return self._shown(style, level, own) or "-" if own.shape else "-"

    def heading(self, level: int) -> str:
        """The number of the next heading; "" where headings have none."""
        own = self._styles.get("", {}).get(level, Level())
        self._next("", level, own, -1)
        return self._shown("", level, own) if own.shape else ""

    def _next(self, style: str, level: int, own: Level, start: int) -> None:
        counts = self._counts[style]
        counts[level] = start if start >= 0 else counts.get(level, own.start - 1) + 1
        for deeper in [one for one in counts if one > level]:
            del counts[deeper]

    def _shown(self, style: str, level: int, own: Level) -> str:
        parts = []
        for above in range(max(level - own.shown, 0) + 1, level + 1):
            defined = self._styles.get(style, {}).get(above, own)
            if defined.shape:
                count = self._counts[style].get(above, defined.start)
                parts.append(shown(count, _SHAPES.get(defined.shape, "decimal")))
        return f"{own.before}{'.'.join(parts)}{own.after}".strip()
