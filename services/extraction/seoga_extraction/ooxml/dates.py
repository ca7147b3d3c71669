"""Serial numbers of spreadsheets as the dates and times that a number format shows.

Source of the rules: ECMA-376 part 1, 18.17.4 (date systems) and 18.8.31 (number formats).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_CJK_DAYS = {"ko": ("월화수목금토일", "요일"), "ja": ("月火水木金土日", "曜日")}
_LAST_SERIAL = 2958466  # 10000-01-01
_LEAP_BUG = 60  # 1900-02-29, a day that never was, kept from Lotus 1-2-3
_EPOCH_1904 = datetime(1904, 1, 1, tzinfo=UTC)
_EPOCH_1900 = datetime(1899, 12, 30, tzinfo=UTC)


class Piece(NamedTuple):
    """A piece of a date format: `code` such as "yyyy", "nn" (minutes) or "[h]"; "" is a literal
    that shows `text`."""

    code: str
    text: str


class _Moment(NamedTuple):
    when: datetime
    seconds: float
    leap_bug: bool


class DateFormat:
    """One section of a number format that shows dates or times. `language` is "ko", "ja" or ""."""

    def __init__(self, pieces: Sequence[Piece], language: str) -> None:
        self._pieces = pieces
        self._language = language
        codes = {piece.code for piece in pieces}
        self._decimals = max((len(code) - 1 for code in codes if code.startswith(".")), default=0)
        self._exact = bool(codes & {"s", "ss", "[s]", "[ss]"})
        self._halved = any("/" in code for code in codes)

    def show(self, serial: float, date1904: bool) -> str | None:
        """The text; None where the number is no date (before 1900 or after 9999)."""
        moment = _moment(serial, date1904, self._decimals if self._exact else 3)
        if moment is None:
            return None
        return "".join(
            self._shown(piece.code, moment) if piece.code else piece.text for piece in self._pieces
        )

    def _shown(self, code: str, moment: _Moment) -> str:
        kind, when = code[:1], moment.when
        if "/" in code:
            return self._half(code, when.hour >= 12)
        if kind == "[":
            return _elapsed(code.strip("[]"), moment.seconds)
        if kind == ".":
            return f"{moment.seconds % 1:.{self._decimals}f}"[1:]
        if kind == "y":
            return f"{when.year % 100:02d}" if len(code) < 3 else f"{when.year:04d}"
        if kind in "msn":
            value = {"m": when.month, "s": when.second, "n": when.minute}[kind]
            return self._month(code, value) if len(code) > 2 else f"{value:0{len(code)}d}"
        if kind in "da":
            return self._day(code, 29 if moment.leap_bug else when.day, when.weekday())
        hour = (when.hour % 12 or 12) if self._halved else when.hour
        return f"{hour:0{min(len(code), 2)}d}" if kind == "h" else ""

    def _month(self, code: str, month: int) -> str:
        if self._language:
            return f"{month}월" if self._language == "ko" else f"{month}月"
        name = _MONTHS[month - 1]
        return {3: name[:3], 5: name[:1]}.get(len(code), name)

    def _day(self, code: str, day: int, weekday: int) -> str:
        if code in ("d", "dd"):
            return f"{day:0{len(code)}d}"
        language = self._language or ("ko" if code[0] == "a" else "")
        if language:
            names, suffix = _CJK_DAYS[language]
            return names[weekday] + (suffix if len(code) > 3 else "")
        return _DAYS[weekday][:3] if len(code) == 3 else _DAYS[weekday]

    def _half(self, code: str, afternoon: bool) -> str:
        """AM/PM keeps its case only in the short form, as the program does."""
        if self._language:
            names = {"ko": ("오전", "오후"), "ja": ("午前", "午後")}[self._language]
        elif len(code) == 3:
            names = (code[0], code[2])
        else:
            names = ("AM", "PM")
        return names[afternoon]


def _moment(serial: float, date1904: bool, decimals: int) -> _Moment | None:
    if not 0 <= serial < _LAST_SERIAL:
        return None
    days, rest = divmod(serial, 1)
    whole, ticks = int(days), 10 ** min(decimals, 6)
    seconds = int(rest * 86400 * ticks + 0.5) / ticks
    bug = not date1904 and whole == _LEAP_BUG
    epoch = _EPOCH_1904 if date1904 else _EPOCH_1900
    early = not date1904 and whole < _LEAP_BUG
    when = epoch + timedelta(days=whole + early - bug, seconds=seconds)
    return _Moment(when, whole * 86400 + seconds, bug)


def _elapsed(code: str, seconds: float) -> str:
    unit = {"h": 3600, "m": 60, "s": 1}[code[0]]
    return f"{int(seconds // unit):0{min(len(code), 9)}d}"
