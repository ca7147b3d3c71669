"""What is wrong with what documents say of themselves, and which of them retrieve badly."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import starmap
from typing import Any, Final

from seoga.kb import Kb
from seoga.search.days import day_in
from seoga.search.engine import SearchRequest, search
from seoga.search.globs import path_filter
from seoga.search.lifecycle import LIFECYCLES, Lifecycle, Problem, today
from seoga.search.readers import reading
from seoga.search.statuses import REPLACED, Standing
from seoga.storage.records import SIDECAR

# Titles that are asked for: a search each.
SAMPLE: Final = 200
TOP_K: Final = 10
_ERRORS: Final = frozenset(("cycle", "dangling"))
_MOST_TITLE = 200


@dataclass(frozen=True, slots=True)
class Report:
    """`problems` by document; `asked` of `titled` documents were asked for by their titles."""

    kb_id: str
    problems: tuple[Problem, ...]
    asked: int
    titled: int

    @property
    def errors(self) -> int:
        """How many speak of relations that are broken or contradict one another."""
        return sum(one.kind in _ERRORS for one in self.problems)

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return {
            "kb_id": self.kb_id,
            "errors": self.errors,
            "warnings": len(self.problems) - self.errors,
            "titles_asked": self.asked,
            "titles": self.titled,
            "problems": [{"level": level_of(one.kind), **one._asdict()} for one in self.problems],
        }


def level_of(kind: str) -> str:
    """`error` for broken and cyclic relations, else `warning`."""
    return "error" if kind in _ERRORS else "warning"


def lint(kb: Kb, sample: int = SAMPLE) -> Report:
    """Looks at all statements, and asks the keyword search for at most `sample` documents by their
    own titles, spread evenly. Raises NotFound where nothing is indexed."""
    with reading(kb.db_path) as conn:
        life = LIFECYCLES.get(conn, kb)
        problems = [*_relations(life), *_statuses(life), *_rules(conn, kb), *_beside(conn, life)]
        titled = _titled(conn, life)
    step = max(1, -(-len(titled) // sample)) if sample else len(titled) + 1
    asked = titled[::step] if sample else []
    problems += [one for title, name in asked if (one := _unfound(kb, title, name))]
    order = sorted(problems, key=lambda one: (level_of(one.kind), one.kind, one.document))
    return Report(kb.id, tuple(order), len(asked), len(titled))


def _relations(life: Lifecycle) -> Iterator[Problem]:
    for edge in life.on().loops:
        old, new = life.document(edge.old), life.document(edge.new)
        if old == new:
            yield Problem("cycle", old, "It says that it replaces itself.")
        else:
            yield Problem("cycle", old, f"{new} replaced it, and it replaced {new} in the end.")
    for file_id, reference in life.dangling:
        what = f"{reference.text[:100]!r} names no document, or several."
        yield Problem("dangling", life.document(file_id), what)


def _statuses(life: Lifecycle) -> Iterator[Problem]:
    for file_id, stated in life.stated.items():
        name = life.document(file_id)
        for fault in stated.faults:
            yield Problem("unreadable", name, fault)
        if stated.standing is Standing.UNKNOWN:
            yield Problem("unknown_status", name, f"The status {stated.word!r} is not known.")
        if stated.word and not (stated.date or stated.until):
            yield Problem("undated", name, f"It is {stated.word}, but gives no date.")
        if stated.date > today():
            yield Problem("future", name, f"Its date, {stated.date}, is yet to come: not shown.")
        if "" < stated.ends < today():
            yield Problem("expired", name, f"It was valid until {stated.ends}: not shown.")
        if stated.word in REPLACED and not life.on().ends(file_id):
            lacks = "nothing in its place lives" if stated.by else "names no successor"
            yield Problem("no_successor", name, f"It is {stated.word}, but {lacks}.")


def _rules(conn: sqlite3.Connection, kb: Kb) -> Iterator[Problem]:
    """What is wrong with the rules of the config."""
    config = kb.config
    if not (config.lifecycle or config.search.path_boosts):
        return
    files = conn.execute("SELECT label, path FROM files").fetchall()

    def nothing(glob: str) -> bool:
        return not any(starmap(path_filter(glob), files))

    for glob in filter(nothing, config.search.path_boosts):
        yield Problem("rule", "config.json: search.pathBoosts", f"{glob!r} matches no document.")
    for at, rule in enumerate(config.lifecycle):
        name = f"config.json: lifecycle[{at}]"
        if nothing(rule.path):
            yield Problem("rule", name, f"Its path {rule.path!r} matches no document.")
        for key, day in (("date", rule.date), ("supersededOn", rule.superseded_on)):
            if day and not day_in(day):
                yield Problem("rule", name, f"Its {key} {day!r} is no day such as 2026-03-01.")


def _beside(conn: sqlite3.Connection, life: Lifecycle) -> Iterator[Problem]:
    """Files that speak of others, but of none that is there, or say nothing that is understood."""
    files = "SELECT id, label, path FROM files"
    asked = (f"{files} WHERE path LIKE ?", (f"%{SIDECAR}",))
    for _, label, path in conn.execute(*asked).fetchall():
        of = (label, path[: -len(SIDECAR)])
        row = conn.execute(f"{files} WHERE label = ? AND path = ?", of).fetchone()
        stated = life.stated.get(row[0]) if row else None
        if row is None:
            yield Problem("sidecar", f"{label}/{path}", "It speaks of a file that is not there.")
        elif stated is None or not (stated.word or stated.by or stated.of):
            yield Problem("sidecar", f"{label}/{path}", "It says nothing that is understood.")


def _titled(conn: sqlite3.Connection, life: Lifecycle) -> list[tuple[str, str]]:
    """Titles and names of living documents that have text."""
    gone = life.on().retired | life.sidecars
    rows = conn.execute(
        "SELECT id, title, label || '/' || path FROM files WHERE chunk_count > 0 AND title != ''"
        " ORDER BY id"
    )
    return [(title, name) for file_id, title, name in rows if file_id not in gone]


def _unfound(kb: Kb, title: str, name: str) -> Problem | None:
    request = SearchRequest(
        title[:_MOST_TITLE], top_k=TOP_K, mode="bm25", per_document=1, include_excluded=True
    )
    if any(hit.document == name for hit in search([kb], request).hits):
        return None
    shown = f"Its own title, {title[:80]!r}, does not find it among the first {TOP_K}."
    return Problem("retrieves_badly", name, shown)
