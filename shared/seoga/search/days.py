"""Days that a text names."""

from __future__ import annotations

import re
from datetime import date

_ISO = re.compile(r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_KOREAN_DAY = re.compile(r"(?<!\d)(\d{4})년\s{0,2}(\d{1,2})월\s{0,2}(\d{1,2})일")
_DAY_MONTH = re.compile(r"(?<!\d)(\d{1,2})[- ]([A-Za-z]{3})[a-z]*[- ,]{1,2}(\d{4})(?!\d)")
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]


def day_in(text: str) -> str:
    """The first day that a text names, in ISO form; "" for none."""
    if found := _ISO.search(text):
        return _day(*map(int, found.groups()))
    if found := _KOREAN_DAY.search(text):
        return _day(*map(int, found.groups()))
    if found := _DAY_MONTH.search(text):
        month = found[2].casefold()
        if month in _MONTHS:
            return _day(int(found[3]), _MONTHS.index(month) + 1, int(found[1]))
    return ""


def _day(year: int, month: int, day: int) -> str:
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return ""
