"""The graph of what replaced what: cycles, live ends, and who is hidden. Pure, linear."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from seoga.search.statuses import Standing, Stated

# Successors that are told of one document.
MOST_ENDS: Final = 5
_SILENT: Final = Stated()


class Edge(NamedTuple):
    """`new` replaced `old` (file ids)."""

    old: int
    new: int


@dataclass(frozen=True, slots=True)
class Graph:
    """What documents state, and the relations between them that resolved."""

    stated: Mapping[int, Stated]
    edges: Sequence[Edge]


class Fate(NamedTuple):
    """A document that does not simply live: what it is called, since when (an ISO day, or ""),
    and what lives in its place."""

    standing: Standing
    word: str
    since: str = ""
    ends: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """`fates` of all documents that are retired, drafts or of unknown status; `retired` those to be
    hidden; `loops` the relations that contradict one another."""

    fates: Mapping[int, Fate]
    retired: frozenset[int]
    loops: tuple[Edge, ...]

    def ends(self, file_id: int) -> tuple[int, ...]:
        """What lives in the place of a retired document; () for any other."""
        fate = self.fates.get(file_id)
        return fate.ends if fate else ()


def judge(graph: Graph, day: str = "") -> Verdict:
    """Who is retired, on an ISO day or (with "") whenever: a relation or a status that is known to
    be later than the day does not count yet, and a document that is later is not there yet."""
    stated = _dated(graph) if day else graph.stated
    known = [edge for edge in graph.edges if not day or _since(stated, edge) <= day]
    loops = _loops(known)
    after: dict[int, list[int]] = defaultdict(list)
    for edge in known:
        if edge not in loops:
            after[edge.old].append(edge.new)
    retired = _retired(stated, after, day)
    ends = _ends(after, retired)
    fates = dict(_fates(stated, after, (retired, ends), day))
    return Verdict(
        fates,
        frozenset(retired),
        tuple(edge for edge in known if edge in loops),
    )


def _dated(graph: Graph) -> Mapping[int, Stated]:
    """The same statements; what was in force and does not say when it ended did so on the first day
    of what replaced it, unless it is younger than that itself."""
    first: dict[int, str] = {}
    for old, new in graph.edges:
        one = graph.stated.get(new, _SILENT)
        if one.date and one.took_effect and one.standing is not Standing.DRAFT:
            first[old] = min(first.get(old, one.date), one.date)
    out = dict(graph.stated)
    for old, day in first.items():
        one = out.get(old, _SILENT)
        ended = one.standing is Standing.RETIRED and one.took_effect
        if ended and not one.until and one.date <= day:
            out[old] = replace(one, until=day)
    return out


def _since(stated: Mapping[int, Stated], edge: Edge) -> str:
    """The day a relation took effect, as far as it is told."""
    return stated.get(edge.old, _SILENT).until or stated.get(edge.new, _SILENT).date


def _loops(edges: Sequence[Edge]) -> frozenset[Edge]:
    """The relations inside a cycle: both ends in one strongly connected component (Kosaraju's
    algorithm, without recursion)."""
    after: dict[int, list[int]] = defaultdict(list)
    before: dict[int, list[int]] = defaultdict(list)
    for edge in edges:
        after[edge.old].append(edge.new)
        before[edge.new].append(edge.old)
    part: dict[int, int] = {}
    for root in reversed(_finished(after)):
        if root not in part:
            waiting = [root]
            while waiting:
                node = waiting.pop()
                if node not in part:
                    part[node] = root
                    waiting += before.get(node, ())
    return frozenset(edge for edge in edges if part[edge.old] == part[edge.new])


def _finished(after: Mapping[int, list[int]]) -> list[int]:
    """All documents in the order in which a walk along the relations is done with them."""
    seen: set[int] = set()
    out: list[int] = []
    for root in after:
        walk = [(root, iter(after[root]))] if root not in seen else []
        seen.add(root)
        while walk:
            node, rest = walk[-1]
            other = next((each for each in rest if each not in seen), None)
            if other is None:
                walk.pop()
                out.append(node)
            else:
                seen.add(other)
                walk.append((other, iter(after.get(other, ()))))
    return out


def _retired(stated: Mapping[int, Stated], after: Mapping[int, list[int]], day: str) -> set[int]:
    out = {
        file_id
        for file_id, one in stated.items()
        if (day and (one.date > day or _expired(one, day)))
        or (one.standing is Standing.RETIRED and (one.refused or not (day and one.until > day)))
    }
    # What is no draft and was once in force retires what it replaced, edited or not.
    out |= {old for old, news in after.items() if any(_retires(stated, new) for new in news)}
    return out


def _expired(one: Stated, day: str) -> bool:
    return bool(day and one.ends) and one.ends < day


def _retires(stated: Mapping[int, Stated], new: int) -> bool:
    one = stated.get(new, _SILENT)
    return one.standing is not Standing.DRAFT and one.took_effect


def _ends(after: Mapping[int, list[int]], retired: set[int]) -> dict[int, tuple[int, ...]]:
    """Retired document → the ones at the ends of its chains that are not retired; a draft where it
    is all there is."""
    ends: dict[int, tuple[int, ...]] = {}
    for root in retired:
        walk = [root]
        while walk:
            node = walk[-1]
            if node in ends:
                walk.pop()
                continue
            news = after.get(node, ())
            if waiting := [each for each in news if each in retired and each not in ends]:
                walk += waiting
                continue
            found: dict[int, None] = {}
            for each in news:
                found.update(dict.fromkeys(ends[each] if each in retired else (each,)))
            ends[node] = tuple(found)[:MOST_ENDS]
    return ends


_Resolved = tuple[set[int], Mapping[int, tuple[int, ...]]]


def _fates(
    stated: Mapping[int, Stated], after: Mapping[int, list[int]], resolved: _Resolved, day: str
) -> Iterator[tuple[int, Fate]]:
    retired, ends = resolved
    for file_id in retired:
        one = stated.get(file_id, _SILENT)
        if day and one.date > day:
            yield file_id, Fate(Standing.RETIRED, f"not before {one.date}")
            continue
        word = one.word if one.standing is Standing.RETIRED else "superseded"
        ended = one.ends if _expired(one, day) else ""
        if ended and word == "superseded" and not after.get(file_id):
            word = "expired"
        days = [
            one.until,
            ended,
            *(stated.get(new, _SILENT).date for new in after.get(file_id, ())),
        ]
        yield (
            file_id,
            Fate(Standing.RETIRED, word, next(filter(None, days), ""), ends.get(file_id, ())),
        )
    for file_id, one in stated.items():
        if file_id not in retired and one.standing in (Standing.DRAFT, Standing.UNKNOWN):
            yield file_id, Fate(one.standing, one.word)
