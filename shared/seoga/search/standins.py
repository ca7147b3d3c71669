"""What a search shows in place of retired documents, and what it says of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from seoga.search.fusion import Candidate, in_order
from seoga.search.lifecycle import Lifecycle
from seoga.search.request import Retired
from seoga.search.statuses import Standing
from seoga.search.succession import Fate, Verdict

# Documents that a message names.
_NAMED = 3


@dataclass(slots=True)
class Standins:
    """Settles one search. `best_of` gives the best passage of each of these documents, as far as
    the request's filters let them through; `admits` is the bar; `shows` is True when retired
    documents are asked for."""

    life: Lifecycle
    verdict: Verdict
    top_k: int
    shows: bool
    admits: Callable[[Candidate], bool]
    best_of: Callable[[Iterable[int]], dict[int, Candidate]]
    retired: list[Retired] = field(default_factory=list)

    def settle(self, ranked: Sequence[Candidate]) -> list[Candidate]:
        """Ranked candidates, best first, with the successors' best passages where retired ones
        stood (beside those, when they are asked for)."""
        kept, stood = self._parted(ranked)
        if not stood:
            return kept
        found = self._passages(kept, {end for fate, _ in stood.values() for end in fate.ends})
        for old, (fate, score) in stood.items():
            for end in fate.ends:
                if end in found:
                    self._raise(found[end], old, math.nextafter(score, -math.inf))
        held = {each.chunk_id for each in found.values()}
        kept = [each for each in kept if each.chunk_id not in held] + list(found.values())
        if not self.shows:
            self.retired = [self._told(old, fate, found) for old, (fate, _) in stood.items()]
        return in_order(kept)

    def _parted(
        self, ranked: Sequence[Candidate]
    ) -> tuple[list[Candidate], dict[int, tuple[Fate, float]]]:
        """What stays, and the retired documents that would be among the first `top_k`, each with
        the score of its best passage."""
        kept: list[Candidate] = []
        stood: dict[int, tuple[Fate, float]] = {}
        living = 0
        for each in ranked:
            retired = each.file_id in self.verdict.retired
            if retired and living < self.top_k and self.admits(each):
                fate = self.verdict.fates[each.file_id]
                stood.setdefault(each.file_id, (fate, each.rank_score))
            if not retired or self.shows:
                kept.append(each)
                living += living < self.top_k and self.admits(each)
        return kept, stood

    def _passages(self, kept: Sequence[Candidate], ends: set[int]) -> dict[int, Candidate]:
        found: dict[int, Candidate] = {}
        for each in kept:
            if each.file_id in ends and each.file_id not in found and self.admits(each):
                found[each.file_id] = each
        return found | self.best_of(ends - set(found))

    def _raise(self, passage: Candidate, old: int, score: float) -> None:
        name = self.life.shown(old, self.life.name(passage.file_id).label)
        passage.supersedes = (*passage.supersedes, name)
        if not passage.attached and not self.admits(passage):
            passage.rank_score = score
        passage.attached = True
        passage.rank_score = max(passage.rank_score, score)

    def _told(self, old: int, fate: Fate, found: dict[int, Candidate]) -> Retired:
        full = self.life.document
        shown = any(end in found for end in fate.ends)
        return Retired(full(old), fate.word, fate.since, tuple(map(full, fate.ends)), shown)


def label_with(
    label: str, candidate: Candidate, life: Lifecycle, verdict: Verdict, evidence: bool
) -> str:
    """The provenance with the lifecycle: `[semantic 0.61; supersedes reference/old-auth.md]`,
    `[superseded → reference/auth.md; 2026-03-01]`, `[both 0.69; draft]`. `evidence`: False for a
    passage that is here for its predecessor alone and has no score to show."""
    fate = verdict.fates.get(candidate.file_id)
    if fate is not None and fate.standing is Standing.RETIRED:
        own = life.name(candidate.file_id).label
        ends = ", ".join(life.shown(end, own) for end in fate.ends)
        parts = [f"{fate.word} → {ends}" if ends else fate.word, fate.since]
    else:
        parts = [label.strip("[]")] if evidence else []
        if candidate.supersedes:
            parts.append(f"supersedes {', '.join(candidate.supersedes)}")
        if fate is not None and fate.standing is Standing.DRAFT:
            parts.append(fate.word)
    return f"[{'; '.join(filter(None, parts))}]"


def message_about(retired: Sequence[Retired]) -> str:
    """How many were hidden, and what lives in their place; "" for none."""
    if not retired:
        return ""
    some = "1 retired document" if len(retired) == 1 else f"{len(retired)} retired documents"
    named = "; ".join(map(_named, retired[:_NAMED]))
    more = f"; and {len(retired) - _NAMED} more" if len(retired) > _NAMED else ""
    return f"{some} hidden: {named}{more}. search_all shows what is hidden."


def _named(one: Retired) -> str:
    if not one.successors:
        return f"{one.document} ({one.status})"
    known = ", ".join(one.successors)
    where = "shown" if one.shown else "outside the filters of this search"
    return f"{one.document} ({one.status} → {known}, {where})"
