"""Which rows and columns of a sheet are one table: blocks between empty rows, split at columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from seoga.models import Place, Section, SectionKind
from seoga_extraction.format import pipes
from seoga_extraction.formats.xlsx.rows import Row, column_letters

# A part of a long table ends at whichever comes first.
PART_ROWS = 100
PART_CHARS = 16_000
PART_CELLS = 10_000
# A longer column of short texts is a list with a header, a shorter one is remarks.
_REMARKS = 3
_REMARK_CHARS = 80


class _Island(NamedTuple):
    """Neighbouring columns that hold something; `top` and `bottom` are their first and last row."""

    columns: list[int]
    top: int
    bottom: int


@dataclass(slots=True)
class _Group:
    """The columns of one table inside a block; `header` is set with its first part."""

    columns: list[int]
    after: int
    before: int
    header: dict[int, str] = field(default_factory=dict)

    def own(self, cells: Mapping[int, str]) -> dict[int, str]:
        """The cells of a row that lie in this table."""
        return {at: text for at, text in cells.items() if self.after < at < self.before}


class Tables:
    """Takes the rows of one sheet in their order and gives its tables in parts of bounded size."""

    def __init__(self, sheet: str, path: tuple[str, ...], meta: Mapping[str, Any]) -> None:
        self._sheet, self._path, self._meta = sheet, path, meta
        self._rows: list[Row] = []
        self._groups: list[_Group] = []
        self._chars = self._cells = self._last = 0
        self._span = (0, 0)

    def add(self, row: Row, joined: bool = False) -> Iterator[Section]:
        """One more row; `joined` says that a merged cell ties it to the row before."""
        number, cells = row
        first, last = min(cells), max(cells)
        gap = number != self._last + 1 and not joined
        if self._last and (gap or self._beside(first, last)):
            yield from self.end()
        self._span = (min(self._span[0] or first, first), max(self._span[1], last))
        self._rows.append(row)
        self._last = number
        self._cells += last - first + 1
        self._chars += sum(map(len, cells.values()))
        full = self._chars >= PART_CHARS or self._cells >= PART_CELLS
        if full or len(self._rows) >= PART_ROWS:
            yield from self._part()

    def end(self) -> Iterator[Section]:
        """What is left of the current block; the next row begins another."""
        yield from self._part()
        self._groups = []
        self._span = (0, 0)
        self._last = 0

    def _beside(self, first: int, last: int) -> bool:
        """Whether a row of several cells shares no column with the block above it."""
        low, high = self._span
        return last > first and (first > high or last < low)

    def _part(self) -> Iterator[Section]:
        rows, self._rows = self._rows, []
        self._chars = self._cells = 0
        if not rows:
            return
        if not self._groups:
            self._groups = _groups(rows)
        for group in self._groups:
            own = [(number, group.own(cells)) for number, cells in rows]
            own = [row for row in own if row[1]]
            if own:
                yield from self._table(group, own)

    def _table(self, group: _Group, rows: list[Row]) -> Iterator[Section]:
        if not group.header:
            titles = _titles(rows)
            for row in rows[:titles]:
                yield self._text([row])
            rows = rows[titles:]
            if _is_prose(rows):
                yield self._text(rows)
                return
            group.header, columns = rows[0][1], sorted({at for _, cells in rows for at in cells})
            shown = [cells for _, cells in rows]
        else:
            # Columns that say nothing in this part are left out of it.
            columns = sorted({at for _, cells in rows for at in cells})
            shown = [group.header, *(cells for _, cells in rows)]
        text = pipes([[cells.get(at, "") for at in columns] for cells in shown])
        yield self._section(text, SectionKind.TABLE, rows, columns)

    def _text(self, rows: list[Row]) -> Section:
        lines = [text for _, cells in rows for _, text in sorted(cells.items())]
        columns = sorted({at for _, cells in rows for at in cells})
        return self._section("\n".join(lines), SectionKind.PARAGRAPH, rows, columns)

    def _section(
        self, text: str, kind: SectionKind, rows: Sequence[Row], columns: Sequence[int]
    ) -> Section:
        first = f"{column_letters(columns[0])}{rows[0][0]}"
        last = f"{column_letters(columns[-1])}{rows[-1][0]}"
        place = Place(sheet=self._sheet, cells=first if first == last else f"{first}:{last}")
        return Section(text, kind, self._path, place=place, meta=self._meta)


def _titles(rows: Sequence[Row]) -> int:
    """How many rows of a single cell stand above the first row of several (0 when none is)."""
    for count, (_, cells) in enumerate(rows):
        if len(cells) > 1:
            return count
    return 0


def _is_prose(rows: Sequence[Row]) -> bool:
    if any(len(cells) > 1 for _, cells in rows) or len({next(iter(c)) for _, c in rows}) > 1:
        return False
    longest = max(len(text) for _, cells in rows for text in cells.values())
    return len(rows) <= _REMARKS or longest > _REMARK_CHARS


def _groups(rows: Sequence[Row]) -> list[_Group]:
    """The tables that stand side by side: split at an empty column where both sides have several
    columns and do not begin and end together (a spacer inside a table keeps its rows whole)."""
    joined: list[_Island] = []
    for island in _islands(rows):
        last = joined[-1] if joined else None
        if last is None or _apart(last, island):
            joined.append(island)
        else:
            columns = last.columns + island.columns
            top, bottom = min(last.top, island.top), max(last.bottom, island.bottom)
            joined[-1] = _Island(columns, top, bottom)
    groups = []
    for index, island in enumerate(joined):
        after = island.columns[0] - 1 if index else 0
        before = joined[index + 1].columns[0] if index + 1 < len(joined) else 1 << 20
        groups.append(_Group(island.columns, after, before))
    return groups


def _apart(left: _Island, right: _Island) -> bool:
    if len(left.columns) < 2 or len(right.columns) < 2:
        return False
    return (left.top, left.bottom) != (right.top, right.bottom)


def _islands(rows: Sequence[Row]) -> list[_Island]:
    tops: dict[int, int] = {}
    bottoms: dict[int, int] = {}
    for number, cells in rows:
        for at in cells:
            tops.setdefault(at, number)
            bottoms[at] = number
    islands: list[_Island] = []
    for at in sorted(tops):
        if islands and islands[-1].columns[-1] == at - 1:
            last = islands[-1]
            last.columns.append(at)
            islands[-1] = _Island(
                last.columns, min(last.top, tops[at]), max(last.bottom, bottoms[at])
            )
        else:
            islands.append(_Island([at], tops[at], bottoms[at]))
    return islands
