"""Which documents are retired, and what lives in their place: resolved per document, from what the
documents state, when somebody searches."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

from seoga.kb import Kb
from seoga.search.globs import path_filter
from seoga.search.nameindex import NameIndex
from seoga.search.names import Name, Names, find_names, wanted_by
from seoga.search.references import Reference
from seoga.search.statuses import Standing, Stated, understood
from seoga.search.succession import Edge, Graph, Verdict, judge
from seoga.storage.reading import commit_number
from seoga.storage.records import SIDECAR, STATED

STATING: Final = (
    f"SELECT id, label, path, json_extract(meta, '$.\"{STATED}\"') FROM files"
    f" WHERE json_extract(meta, '$.\"{STATED}\"') IS NOT NULL"
)
_KBS_KEPT = 64
_DAYS_KEPT = 8


def today() -> str:
    """The ISO day that a search without `as_of` asks about."""
    return datetime.now().astimezone().date().isoformat()


class Problem(NamedTuple):
    """Something that lint reports: `kind` is dangling, ambiguous …, `document` is `label/path`."""

    kind: str
    document: str
    message: str


@dataclass(slots=True)
class Lifecycle:
    """One state of one KB. `stated` by file id; `sidecars` are documents that only speak of
    others, and are never results."""

    commit: int
    stated: dict[int, Stated]
    names: Names
    graph: Graph
    sidecars: frozenset[int] = frozenset()
    dangling: tuple[tuple[int, Reference], ...] = ()
    _days: dict[str, Verdict] = field(default_factory=dict)

    def on(self, day: str = "") -> Verdict:
        """What is retired on an ISO day, or today (in the time zone of this machine)."""
        day = day or today()
        verdict = self._days.get(day)
        if verdict is None:
            verdict = judge(self.graph, day)
            if len(self._days) >= _DAYS_KEPT:
                self._days.clear()
            self._days[day] = verdict
        return verdict

    def name(self, file_id: int) -> Name:
        """A document of the graph by its name."""
        return self.names.by_id[file_id]

    def document(self, file_id: int) -> str:
        """Its full name, `label/path`."""
        name = self.name(file_id)
        return f"{name.label}/{name.path}"

    def told(self, file_id: int) -> tuple[str, tuple[str, ...]]:
        """The status of a document ("" where it states none and nothing replaced it), and the full
        names of what lives in its place."""
        fate, stated = self.on().fates.get(file_id), self.stated.get(file_id)
        if fate is not None:
            return fate.word, tuple(map(self.document, fate.ends))
        return (stated.word if stated else ""), ()

    def shown(self, file_id: int, label: str = "") -> str:
        """Its path; with its label in front where it belongs to another source than `label`."""
        name = self.name(file_id)
        return name.path if label in ("", name.label) else f"{name.label}/{name.path}"


@dataclass(frozen=True, slots=True)
class _Known:
    file: tuple[int, int]
    names: NameIndex = field(default_factory=NameIndex)
    rules: str = ""
    life: Lifecycle | None = None
    read: Mapping[tuple[int, str], Stated] = field(default_factory=dict)


class LifecycleCache:
    """The lifecycle of each KB, resolved again when its content changed; statements that did not
    change are not read again. Threads may share it."""

    def __init__(self) -> None:
        self._known: dict[Path, _Known] = {}
        self._lock = threading.Lock()

    def get(self, conn: sqlite3.Connection, kb: Kb) -> Lifecycle:
        """The lifecycle in the state that this connection sees."""
        rules, commit = repr(kb.config.lifecycle), commit_number(conn)
        stat = kb.db_path.stat()
        file = (stat.st_dev, stat.st_ino)
        with self._lock:
            known = self._known.get(kb.db_path)
        if known is None or known.file != file:
            # Another database under this name, or none was read yet.
            known = _Known(file)
        elif known.life and known.rules == rules and known.life.commit == commit:
            return known.life
        read: dict[tuple[int, str], Stated] = {}
        made = _resolved(conn, kb, commit, _Held(known.read, read, known.names))
        with self._lock:
            self._known.pop(kb.db_path, None)
            if len(self._known) >= _KBS_KEPT:
                self._known.pop(next(iter(self._known)))
            self._known[kb.db_path] = _Known(file, known.names, rules, made, read)
        return made

    def clear(self) -> None:
        """Forgets everything."""
        with self._lock:
            self._known.clear()


LIFECYCLES: Final = LifecycleCache()


class _Held(NamedTuple):
    """What is read once: statements of `before` are taken over into `after`."""

    before: Mapping[tuple[int, str], Stated]
    after: dict[tuple[int, str], Stated]
    names: NameIndex


def _resolved(conn: sqlite3.Connection, kb: Kb, commit: int, held: _Held) -> Lifecycle:
    stated, sidecars = _stated(conn, held)
    stated = dict(_ruled(conn, kb, stated))
    references = [
        (reference, one.name.path)
        for one in stated.values()
        for reference in (*one.stated.by, *one.stated.of)
    ]
    if not stated:
        return Lifecycle(commit, {}, Names(), Graph({}, ()), sidecars)
    ids = {file_id: one.stated.ids for file_id, one in stated.items()}
    names = find_names(conn, held.names, wanted_by(references), ids)
    edges: dict[Edge, None] = {}
    dangling: list[tuple[int, Reference]] = []
    for file_id, one in stated.items():
        lost: list[Reference] = []
        for reference, replaces in (
            *((each, False) for each in one.stated.by),
            *((each, True) for each in one.stated.of),
        ):
            found = names.resolve(reference, one.name)
            if found is None:
                lost += [] if reference.outside else [reference]
            elif found.id not in sidecars:
                edges[Edge(found.id, file_id) if replaces else Edge(file_id, found.id)] = None
        dangling += ((file_id, each) for each in _missed(one.stated, lost))
    meanings = {file_id: one.stated for file_id, one in stated.items()}
    graph = Graph(meanings, tuple(edges))
    return Lifecycle(commit, meanings, names, graph, sidecars, tuple(dangling))


def _missed(stated: Stated, lost: Sequence[Reference]) -> list[Reference]:
    """Those of the references that named nothing which were meant to name something: not words of
    a sentence, unless they are all that a retired document says of its successor."""
    meant = [each for each in lost if not each.loose]
    if meant or stated.standing is not Standing.RETIRED or not stated.by:
        return meant
    return list(stated.by[-1:]) if all(each in lost for each in stated.by) else []


class _Told(NamedTuple):
    name: Name
    stated: Stated


def _stated(conn: sqlite3.Connection, held: _Held) -> tuple[dict[int, _Told], frozenset[int]]:
    """What documents and the files beside them state, by document; the ids of the latter."""
    out: dict[int, _Told] = {}
    beside: list[tuple[Name, Stated]] = []
    for file_id, label, path, raw in conn.execute(STATING).fetchall():
        stated = held.before.get((file_id, raw))
        if stated is None:
            stated = understood(_pairs(raw))
        held.after[file_id, raw] = stated
        name = Name(file_id, label, path)
        if path.casefold().endswith(SIDECAR):
            beside.append((name, stated))
        else:
            out[file_id] = _Told(name, stated)
    for name, stated in beside:
        row = conn.execute(
            "SELECT id, label, path FROM files WHERE label = ? AND path = ?",
            (name.label, name.path[: -len(SIDECAR)]),
        ).fetchone()
        if row is not None:
            # The file beside it was written for this purpose: it has the last word.
            out[row[0]] = _Told(Name(*row), stated)
    return out, frozenset(name.id for name, _ in beside)


def _ruled(
    conn: sqlite3.Connection, kb: Kb, stated: Mapping[int, _Told]
) -> Iterator[tuple[int, _Told]]:
    """The same with what the rules of the KB's config say; a rule speaks where the document itself
    does not."""
    yield from stated.items()
    rules = [(path_filter(rule.path), rule.pairs()) for rule in kb.config.lifecycle]
    if not rules:
        return
    for file_id, label, path in conn.execute("SELECT id, label, path FROM files").fetchall():
        if file_id in stated and stated[file_id].stated.word:
            continue
        pairs = next((pairs for matches, pairs in rules if matches(label, path)), None)
        if pairs:
            yield file_id, _Told(Name(file_id, label, path), understood(pairs))


def _pairs(raw: str) -> Iterable[Sequence[str]]:
    """Stored statements; of what another program may have written there, what has the form."""
    read = json.loads(raw)
    for pair in read if isinstance(read, list) else ():
        if isinstance(pair, list) and len(pair) == 2 and all(isinstance(one, str) for one in pair):
            yield pair


__all__ = ["LIFECYCLES", "Lifecycle", "LifecycleCache", "Standing"]
