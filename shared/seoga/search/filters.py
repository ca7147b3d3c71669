"""Which documents a search may look at: filters of the request, and folders that stay out."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from seoga.search.request import SearchRequest, instant
from seoga.storage.matrixfile import LANGUAGE_SQL


@dataclass(frozen=True, slots=True)
class Scope:
    """A set of chunks: of the files `only` (None: all), not of `without`, in `lang` ("": any)."""

    only: frozenset[int] | None = None
    without: frozenset[int] = frozenset()
    lang: str = ""

    @property
    def nothing(self) -> bool:
        """True when no file is left."""
        return self.only is not None and not self.only

    def sql(self) -> tuple[str, tuple[object, ...]]:
        """Conditions over chunks `c` and files `f` beginning with AND, and their values."""
        parts: list[str] = []
        values: list[object] = []
        if self.only is not None:
            parts.append("AND c.file_id IN (SELECT value FROM json_each(?))")
            values.append(json.dumps(sorted(self.only)))
        if self.without:
            parts.append("AND c.file_id NOT IN (SELECT value FROM json_each(?))")
            values.append(json.dumps(sorted(self.without)))
        if self.lang:
            parts.append(f"AND {LANGUAGE_SQL} = ?")
            values.append(self.lang)
        return " ".join(parts), tuple(values)

    def less(self, files: frozenset[int]) -> Scope:
        """The same without these files."""
        if not files:
            return self
        if self.only is not None:
            return replace(self, only=self.only - files)
        return replace(self, without=self.without | files)


NOTHING: Final = Scope(frozenset())


@dataclass(frozen=True, slots=True)
class Scopes:
    """`visible` is searched; `hidden` holds what only the KB's own excludes keep out (None: there
    is nothing)."""

    visible: Scope
    hidden: Scope | None


def scopes(conn: sqlite3.Connection, request: SearchRequest, own: Sequence[str]) -> Scopes:
    """What a request sees of a KB whose defaultExclude is `own`. An explicit exclude always holds;
    `search_all` lifts the KB's own."""
    only = _matching(conn, request)
    hidden = _in_folders(conn, own) - _in_folders(conn, request.exclude)
    if only is not None:
        hidden &= only
    if request.search_all or request.include_excluded or not hidden:
        return Scopes(Scope(only, lang=request.lang), None)
    return Scopes(_less(only, hidden, request.lang), Scope(hidden, lang=request.lang))


def _less(only: frozenset[int] | None, hidden: frozenset[int], lang: str) -> Scope:
    return Scope(None, hidden, lang) if only is None else Scope(only - hidden, lang=lang)


def _matching(conn: sqlite3.Connection, request: SearchRequest) -> frozenset[int] | None:
    """The files that the request's filters let through; None: all."""
    parts: list[str] = []
    values: list[object] = []
    if request.labels:
        parts.append("label IN (SELECT value FROM json_each(?))")
        values.append(json.dumps(list(request.labels)))
    if request.file_types:
        kinds = [kind.lower().lstrip(".") for kind in request.file_types]
        suffixes = " OR ".join(["lower(path) LIKE ? ESCAPE '\\'"] * len(kinds))
        parts.append(f"(format IN (SELECT value FROM json_each(?)) OR {suffixes})")
        values += [json.dumps(kinds), *("%." + _literal(kind) for kind in kinds)]
    if after := instant(request.modified_after, "modified_after"):
        parts.append("mtime_ns >= ?")
        values.append(after)
    if before := instant(request.modified_before, "modified_before", end_of_day=True):
        parts.append("mtime_ns < ?")
        values.append(before)
    excluded = _folders_sql(request.exclude)
    if excluded:
        parts.append(f"NOT ({excluded[0]})")
        values += excluded[1]
    if not parts and not request.path_glob:
        return None
    rows = conn.execute(
        f"SELECT id, path FROM files WHERE {' AND '.join(parts) or '1'}", tuple(values)
    )
    if not request.path_glob:
        return frozenset(row[0] for row in rows)
    matches = glob_pattern(request.path_glob).fullmatch
    return frozenset(row[0] for row in rows if matches(row[1]))


def _in_folders(conn: sqlite3.Connection, segments: Iterable[str]) -> frozenset[int]:
    condition = _folders_sql(segments)
    if condition is None:
        return frozenset()
    rows = conn.execute(f"SELECT id FROM files WHERE {condition[0]}", tuple(condition[1]))
    return frozenset(row[0] for row in rows)


def _folders_sql(segments: Iterable[str]) -> tuple[str, list[object]] | None:
    """Whole path segments, so that `plan` leaves `planning/` alone; no character is a wildcard."""
    names = [name.strip().strip("/").lower() for name in segments]
    names = [name for name in names if name]
    if not names:
        return None
    tests = ["instr(lower('/' || path || '/'), ?) > 0"] * len(names)
    return " OR ".join(tests), [f"/{name}/" for name in names]


def _literal(text: str) -> str:
    return re.sub(r"([\\%_])", r"\\\1", text)


@lru_cache(maxsize=256)
def glob_pattern(glob: str) -> re.Pattern[str]:
    """A path glob as a pattern for `fullmatch`: `*` and `?` stay within a segment, `**` crosses
    them, a glob without a slash is about the file's name. Case does not matter."""
    if "/" not in glob:
        glob = "**/" + glob
    parts = re.findall(r"\*\*/|/\*\*$|\*\*|\*|\?|[^*?]", glob.strip("/"))
    pattern = "".join(_GLOB.get(part) or re.escape(part) for part in parts)
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)


_GLOB: Final = {"**/": "(?:.*/)?", "/**": "(?:/.*)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def boosted(factors: dict[str, float], path: str) -> float:
    """The product of the factors of `search.pathBoosts` whose globs match."""
    out = 1.0
    for glob, factor in factors.items():
        if glob_pattern(glob).fullmatch(path):
            out *= factor
    return out
