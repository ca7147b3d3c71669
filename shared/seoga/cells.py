"""Cell ranges of spreadsheets such as "A1:D20", as places use them."""

from __future__ import annotations

import re
from typing import NamedTuple

_RANGE = re.compile(r"([A-Z]{1,3})([1-9][0-9]{0,6})(?::([A-Z]{1,3})([1-9][0-9]{0,6}))?")


def _rank(letters: str) -> tuple[int, str]:
    """Orders columns: Z comes before AA."""
    return len(letters), letters


class Cells(NamedTuple):
    """A range of cells, all four ends included: columns as letters, rows from 1."""

    left: str
    top: int
    right: str
    bottom: int

    @staticmethod
    def parse(text: str | None) -> Cells | None:
        """The range of "B3" or "B3:D9"; None for anything else."""
        found = _RANGE.fullmatch(text or "")
        if found is None:
            return None
        left, top, right, bottom = found.groups()
        return Cells(left, int(top), right or left, int(bottom or top))

    def __str__(self) -> str:
        first, last = f"{self.left}{self.top}", f"{self.right}{self.bottom}"
        return first if first == last else f"{first}:{last}"

    def joined(self, other: Cells) -> Cells:
        """The smallest range that holds both."""
        return Cells(
            min(self.left, other.left, key=_rank),
            min(self.top, other.top),
            max(self.right, other.right, key=_rank),
            max(self.bottom, other.bottom),
        )


def joined(first: str | None, last: str | None) -> str | None:
    """The smallest range that holds both; the one that is a range where the other is none."""
    one, other = Cells.parse(first), Cells.parse(last)
    if one is None or other is None:
        return first or last
    return str(one.joined(other))
