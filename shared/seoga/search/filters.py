"""Which documents a search may look at: filters of the request, and folders that stay out."""

from __future__ import annotations

import json
import re
import sqlite3
from dataclasses import dataclass, replace
from typing import Final

from seoga.kb import Kb
from seoga.search.folders import FOLDERS
from seoga.search.globs import path_filter
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


def scopes(conn: sqlite3.Connection, request: SearchRequest, kb: Kb) -> Scopes:
    """What a request sees of a KB. An explicit exclude always holds; `search_all` lifts the KB's
    own defaultExclude."""
    only = _matching(conn, request)
    out = FOLDERS.files(conn, kb.db_path, request.exclude)
    hidden = FOLDERS.files(conn, kb.db_path, kb.config.search.default_exclude) - out
    if only is not None:
        hidden &= only
    asked = Scope(only, lang=request.lang).less(out)
    if request.search_all or request.include_excluded or not hidden:
        return Scopes(asked, None)
    return Scopes(asked.less(hidden), Scope(hidden, lang=request.lang))


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
    if not parts and not request.path_glob:
        return None
    rows = conn.execute(
        f"SELECT id, path, label FROM files WHERE {' AND '.join(parts) or '1'}", tuple(values)
    )
    if not request.path_glob:
        return frozenset(row[0] for row in rows)
    matches = path_filter(request.path_glob)
    return frozenset(file for file, path, label in rows if matches(label, path))


def _literal(text: str) -> str:
    return re.sub(r"([\\%_])", r"\\\1", text)


def boosted(factors: dict[str, float], label: str, path: str) -> float:
    """The product of the factors of `search.pathBoosts` whose globs match."""
    out = 1.0
    for glob, factor in factors.items():
        if path_filter(glob)(label, path):
            out *= factor
    return out
