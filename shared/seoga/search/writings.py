"""Other writings of an identifier: HB1207, HB-1207, hb_1207 and HB 1207 name one thing.

Letters and digits keep their order, and digits that stand apart stay apart: ERR-10 is not ERR-100,
v1.2.3 is not v12.3.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from itertools import pairwise, product
from typing import Final, TypeVar

from seoga.search.query import Query
from seoga.text.tokens import query_terms

_IDENTIFIER: Final = re.compile(r"[a-z]++(?:[-_./]?(?:[a-z]++|\d++)){1,3}")
_RUN: Final = re.compile(r"[a-z]+|\d+")
# Between letters and digits any of these may stand, or nothing.
_LOOSE: Final = ("", "-", "_", ".", "/")
# Between two of one kind one of these for another; a point of a version is no hyphen.
_FIXED: Final = ("-", "_")
# "HB 1207": letters and digits that are long enough to be no chance.
_APART: Final = re.compile(r"(?<![\w./-])([a-z]{2,10})[ \t]+(\d{2,10})(?![\w./-])")
_SHORTEST: Final = 2
# Passages with two tokens in a row are counted up to here.
_MOST: Final = 2000
_Item = TypeVar("_Item")


class OtherWritings:
    """Of the terms of one query, over a reading connection."""

    def __init__(self, conn: sqlite3.Connection, query: Query) -> None:
        self.conn, self.query = conn, query

    def of(self, term: str) -> dict[str, int]:
        """The tokens of the index that are another writing of a term (with a blank inside: two in a
        row), with the number of passages that hold them."""
        asked = self._known.get(term)
        if not asked:
            return {}
        rows = self.conn.execute(
            "SELECT term, df FROM terms WHERE df > 0 AND term IN (SELECT value FROM json_each(?))",
            (json.dumps(sorted(asked)),),
        )
        found = {other: int(df) for other, df in rows}
        for several in (other for other in asked if " " in other):
            if passages := self._in_a_row(several):
                found[several] = passages
        return found

    def _in_a_row(self, tokens: str) -> int:
        found: int = self.conn.execute(
            "SELECT count(*) FROM (SELECT 1 FROM chunks_fts WHERE chunks_fts MATCH ? LIMIT ?)",
            (f'"{tokens}"', _MOST),
        ).fetchone()[0]
        return found

    @cached_property
    def _known(self) -> dict[str, set[str]]:
        out: dict[str, set[str]] = {}
        known = {*self.query.terms, *self.query.identifiers}
        for name in self.query.identifiers:
            for other in writings(name):
                held = set(query_terms(other))
                # What holds a part anyway is no other writing of that.
                for term in ({name, *query_terms(name)} & known) - held:
                    out.setdefault(term, set()).add(other)
        for letters, digits in _APART.findall(self.query.text.casefold()):
            for term in {*query_terms(letters), digits} & known:
                out.setdefault(term, set()).add(f"{letters}{digits}")
        return out


def writings(name: str) -> Iterator[str]:
    """The other writings of an identifier of letters, then digits or more letters; none of any
    other word."""
    runs = _RUN.findall(name)
    if not _IDENTIFIER.fullmatch(name) or all(run.isalpha() for run in runs):
        return
    joints = _RUN.sub("\n", name).split("\n")[1:-1]
    ways = [_ways(*pair, joint) for pair, joint in zip(pairwise(runs), joints, strict=True)]
    for chosen in product(*ways):
        other = runs[0] + "".join(joint + run for joint, run in zip(chosen, runs[1:], strict=True))
        if other != name:
            yield other
    if len(runs) == _SHORTEST and min(map(len, runs)) >= _SHORTEST:
        yield " ".join(runs)


def _ways(before: str, after: str, joint: str) -> tuple[str, ...]:
    if before.isalpha() != after.isalpha():
        return _LOOSE
    return _FIXED if joint in _FIXED else (joint,)


def forms_in(
    fields: Iterable[tuple[float, str]], forms: Collection[str]
) -> Iterator[tuple[float, str]]:
    """Those of the forms that stand in fields (a weight, and tokens separated by blanks), with the
    weight, once for each time; several tokens in a row only where no single one says the same."""
    several = [form for form in forms if " " in form]
    for weight, field in fields if forms else ():
        found = [(weight, token) for token in field.split() if token in forms]
        for form in several if not found else ():
            found += [(weight, form)] * f" {field} ".count(f" {form} ")
        yield from found


def by_form(items: Iterable[tuple[_Item, Iterable[str]]]) -> dict[str, list[_Item]]:
    """Of items and their forms: form → items."""
    out: dict[str, list[_Item]] = {}
    for item, forms in items:
        for form in forms:
            out.setdefault(form, []).append(item)
    return out
