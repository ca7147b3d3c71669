"""From ranked candidates to hits: few of one document, no passage twice, texts and places."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final

from seoga.models import Hit
from seoga.search.abstain import label_of
from seoga.search.explain import of_hit
from seoga.search.fusion import Candidate
from seoga.search.kbsearch import Found
from seoga.search.request import SearchRequest
from seoga.search.standins import label_with
from seoga.storage.reading import StoredChunk, chunks
from seoga.text.tokens import query_terms

# Passages that share this part of their distinct tokens say the same.
SAME: Final = 0.85
_BATCH: Final = 32


@dataclass(slots=True)
class Folder:
    """Remembers what was shown, to recognise it when it comes again."""

    active: bool
    folded: int = 0
    _shown: list[frozenset[str]] = field(default_factory=list)

    def repeats(self, text: str) -> bool:
        """True when a near duplicate was shown before; else remembers the text."""
        if not self.active:
            return False
        tokens = frozenset(query_terms(text))
        if any(_alike(tokens, other) for other in self._shown):
            self.folded += 1
            return True
        self._shown.append(tokens)
        return False


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    shared = len(one & other)
    return shared >= SAME * (len(one) + len(other) - shared)


@dataclass(frozen=True, slots=True)
class Picked:
    """The hits of one KB; `capped`: some were passed over because their document had enough."""

    hits: list[Hit]
    capped: bool
    folded: int


def pick(found: Found, request: SearchRequest) -> Picked:
    """The top_k hits of what one KB found, best first."""
    wanted = found.admitted if request.abstain else found.ranked
    folder = Folder(request.fold)
    per_document: Counter[int] = Counter()
    chosen: list[tuple[Candidate, StoredChunk]] = []
    capped = False
    for candidate, chunk in _texts(found.conn, wanted):
        if request.per_document and per_document[candidate.file_id] >= request.per_document:
            capped = True
        elif candidate.attached or not folder.repeats(chunk.text):
            per_document[candidate.file_id] += 1
            chosen.append((candidate, chunk))
            if len(chosen) == request.top_k:
                break
    around = _neighbours(found.conn, [chunk for _, chunk in chosen])
    hits = [_hit(found, candidate, chunk, around) for candidate, chunk in chosen]
    if request.explain:
        reasons = [of_hit(found, candidate) for candidate, _ in chosen]
        hits = [replace(hit, why=why) for hit, why in zip(hits, reasons, strict=True)]
    return Picked(hits, capped, folder.folded)


def _texts(
    conn: sqlite3.Connection, candidates: Sequence[Candidate]
) -> Iterator[tuple[Candidate, StoredChunk]]:
    """Candidates with their chunks, read a batch at a time: most searches need only the first."""
    for at in range(0, len(candidates), _BATCH):
        batch = candidates[at : at + _BATCH]
        stored = chunks(conn, [each.chunk_id for each in batch])
        for each in batch:
            if each.chunk_id in stored:
                yield each, stored[each.chunk_id]


def _neighbours(conn: sqlite3.Connection, shown: Iterable[StoredChunk]) -> dict[int, list[int]]:
    """Chunk id → ids of the chunks before and after it in its document."""
    asked = [[chunk.id, chunk.document_id, chunk.ordinal] for chunk in shown]
    rows = conn.execute(
        "SELECT json_extract(a.value, '$[0]'), c.id FROM json_each(?) a JOIN chunks c"
        " ON c.file_id = json_extract(a.value, '$[1]')"
        " AND c.ordinal IN (json_extract(a.value, '$[2]') - 1, json_extract(a.value, '$[2]') + 1)"
        " ORDER BY c.ordinal",
        (json.dumps(asked),),
    )
    out: dict[int, list[int]] = {}
    for chunk_id, neighbour in rows:
        out.setdefault(chunk_id, []).append(neighbour)
    return out


def _hit(
    found: Found, candidate: Candidate, chunk: StoredChunk, around: dict[int, list[int]]
) -> Hit:
    cosine = candidate.cosine
    score = cosine if cosine is not None else candidate.keyword or 0.0
    return Hit(
        kb_id=found.kb.id,
        kb_name=found.kb.name,
        document_id=chunk.document_id,
        chunk_id=chunk.id,
        path=chunk.path,
        url=chunk.url,
        title=chunk.title,
        heading_path=chunk.heading_path,
        place=chunk.place,
        text=chunk.text,
        header_row=chunk.header_row,
        snippet=found.marker.snippet(chunk.text),
        label=_label(found, candidate),
        score=score,
        rank_score=candidate.rank_score,
        cosine=cosine,
        keyword=candidate.keyword,
        cosine_rank=candidate.cosine_rank,
        keyword_rank=candidate.keyword_rank,
        source_label=chunk.label,
        modified=_iso(chunk.mtime_ns),
        status=_status(found, candidate, chunk),
        superseded_by=tuple(map(found.life.document, found.verdict.ends(candidate.file_id))),
        supersedes=candidate.supersedes,
        neighbours=tuple(around.get(chunk.id, ())),
    )


def _label(found: Found, candidate: Candidate) -> str:
    plain = label_of(candidate, found.bar)
    evidence = candidate.cosine is not None or bool(candidate.keyword)
    return label_with(plain, candidate, found.life, found.verdict, evidence)


def _status(found: Found, candidate: Candidate, chunk: StoredChunk) -> str:
    fate = found.verdict.fates.get(candidate.file_id)
    stated = found.life.stated.get(candidate.file_id)
    if fate or stated:
        return fate.word if fate else stated.word if stated else ""
    return str(chunk.document_meta.get("status", ""))


def _iso(mtime_ns: int) -> str:
    return datetime.fromtimestamp(mtime_ns / 1e9, UTC).isoformat(timespec="seconds")
