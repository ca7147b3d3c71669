"""The noise floor of a corpus and a model: how alike passages are that have nothing to do with each
other, and how well the best of all passages fits a question that none of them answers."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from seoga.models import ModelCard
from seoga.storage import generations
from seoga.storage import stored as stored_value
from seoga.storage.vectors import unpack

Float32 = NDArray[np.float32]
Embed = Callable[[Sequence[str]], Sequence[Float32]]

KEY: Final = "calibration"
PAIRS: Final = 2_000
_SAMPLE: Final = 2_000
# Among fewer passages one pair in a hundred is of texts that do belong together.
ENOUGH: Final = 60
_PER_BAND: Final = 30
# Words of a pseudo-query.
_BANDS: Final = {"1-2 words": 2, "3-6 words": 5, "7+ words": 12}
_QUANTILE: Final = 0.99
_STEP: Final = 0.05
# Two-sided 95 % of a normal distribution.
_Z: Final = 1.96
_FEW: Final = 4


@dataclass(frozen=True, slots=True)
class Calibration:
    """`p99` of the cosine over `pairs` random pairs of chunks from different documents, with its
    95 % interval `low` to `high`; `suggested`: the next 0.05 above it. `best_of`: per length of a
    pseudo-query (words cut from one document, asked of the others) `queries`, `p50` and `p99` of
    the best of `passages`. `model`: the identity these numbers hold for; `state` the vectors."""

    model: str
    state: str
    pairs: int
    p99: float
    low: float
    high: float
    suggested: float
    passages: int
    best_of: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def line(self, in_use: float, origin: str) -> str:
        """The sentence that a run prints."""
        noise = f"background noise p99 = {self.p99:.3f} over {self.pairs:,} random pairs"
        used = f"(in use: {in_use:.2f}, from {origin})"
        return f"Calibration: {noise} -> {self.advice} {used}"

    @property
    def advice(self) -> str:
        """What follows of it: the value, or that so few passages say little."""
        if self.passages < ENOUGH:
            some = "1 passage says" if self.passages == 1 else f"{self.passages} passages say"
            return f"{some} too little to suggest a minScore"
        return f"suggested minScore {self.suggested:.2f}"


def calibrate(conn: sqlite3.Connection, embed: Embed | None = None) -> Calibration | None:
    """Measures the live generation; None where two documents with vectors are not there.

    `embed` makes the vectors of query texts, for the pseudo-queries; None leaves them out. The
    same index gives the same numbers.
    """
    live = generations.live(conn)
    if live is None:
        return None
    generation, card = live
    chance = np.random.default_rng(list(card.key.encode()))
    sample = _sample(conn, generation, chance)
    cosines = _pairs(sample, chance)
    if not cosines:
        return None
    ordered = sorted(cosines)
    low, middle, high = _interval(ordered)
    return Calibration(
        model=card.key,
        state=state(conn, generation, card),
        pairs=len(ordered),
        p99=round(middle, 4),
        low=round(low, 4),
        high=round(high, 4),
        suggested=round((math.floor(middle / _STEP + 1e-9) + 1) * _STEP, 2),
        passages=len(sample),
        best_of=_best_of(sample, embed, chance) if embed is not None else {},
    )


def state(conn: sqlite3.Connection, generation: int, card: ModelCard) -> str:
    """What the numbers depend on: the model and which vectors there are."""
    row = conn.execute(
        "SELECT count(*), coalesce(max(chunk_id), 0) FROM vectors WHERE generation = ?",
        (generation,),
    ).fetchone()
    return f"{card.key}:{row[0]}:{row[1]}"


def stored(conn: sqlite3.Connection) -> Calibration | None:
    """The last calibration; None without one, or when it is of another model than is searched."""
    row = conn.execute("SELECT value FROM meta WHERE key = ?", (KEY,)).fetchone()
    live = generations.live(conn)
    if row is None or live is None:
        return None
    known = Calibration.__dataclass_fields__
    values = {
        name: value for name, value in stored_value.parsed(row[0], dict).items() if name in known
    }
    try:
        found = Calibration(**values)
    except TypeError as error:
        raise stored_value.damaged("a stored calibration is not whole") from error
    return found if found.model == live[1].key else None


def is_fresh(conn: sqlite3.Connection, found: Calibration | None) -> bool:
    """True when nothing changed since, or when there is nothing to measure."""
    live = generations.live(conn)
    return live is None or (found is not None and found.state == state(conn, *live))


def to_text(found: Calibration) -> str:
    """The form in which it is stored."""
    return json.dumps(asdict(found), ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class _Passage:
    file: int
    text: str
    windows: Float32
    penalties: Float32

    def score(self, query: Float32) -> float:
        return float((self.windows @ query - self.penalties).max())


def _sample(
    conn: sqlite3.Connection, generation: int, chance: np.random.Generator
) -> list[_Passage]:
    """At most _SAMPLE passages, drawn by id: listing a million of them would cost more than the
    measurement."""
    first, last = conn.execute(
        "SELECT min(chunk_id), max(chunk_id) FROM vectors WHERE generation = ?", (generation,)
    ).fetchone()
    if first is None:
        return []
    if last - first < 2 * _SAMPLE:
        drawn = chance.permutation(np.arange(first, last + 1))
    else:
        drawn = chance.integers(first, last + 1, 2 * _SAMPLE)
    rows = conn.execute(
        "SELECT c.file_id, c.text, v.count, v.data, v.penalties FROM vectors v"
        " JOIN chunks c ON c.id = v.chunk_id WHERE v.generation = ?"
        " AND v.chunk_id IN (SELECT value FROM json_each(?)) LIMIT ?",
        (generation, json.dumps(drawn.tolist()), _SAMPLE),
    )
    return [
        _Passage(file, text, unpack(data, count), np.frombuffer(penalties, "<f4"))
        for file, text, count, data, penalties in rows
    ]


def _pairs(sample: Sequence[_Passage], chance: np.random.Generator) -> list[float]:
    """Cosines of a window of one passage with the best of another document's: as a search has it.
    A small corpus has fewer pairs than are asked for, each counted once."""
    if len({each.file for each in sample}) < 2:
        return []
    out: dict[tuple[int, int], float] = {}
    most = min(PAIRS, len(sample) * (len(sample) - 1))
    for _ in range(_FEW * most):
        a, b = map(int, chance.integers(len(sample), size=2))
        if sample[a].file != sample[b].file and (a, b) not in out:
            # The last window may be a heading, which is no passage.
            plain = sample[a].windows[sample[a].penalties <= 0]
            windows = plain if len(plain) else sample[a].windows
            out[a, b] = sample[b].score(windows[int(chance.integers(len(windows)))])
            if len(out) == most:
                break
    return list(out.values())


def _interval(ordered: Sequence[float]) -> tuple[float, float, float]:
    """The quantile with its 95 % interval, from order statistics (Conover 1999, section 3.2)."""
    count = len(ordered)
    spread = _Z * math.sqrt(count * _QUANTILE * (1 - _QUANTILE))
    places = (count * _QUANTILE - spread, count * _QUANTILE, count * _QUANTILE + spread)
    low, middle, high = (min(count - 1, max(0, math.ceil(place) - 1)) for place in places)
    return ordered[low], ordered[middle], ordered[high]


def _best_of(
    sample: Sequence[_Passage], embed: Embed, chance: np.random.Generator
) -> dict[str, dict[str, float]]:
    asked = [
        (name, sample[at], _cut(sample[at].text, words, chance))
        for name, words in _BANDS.items()
        for at in chance.permutation(len(sample))[:_PER_BAND]
    ]
    found: dict[str, list[float]] = {name: [] for name in _BANDS}
    queries = embed([text for _, _, text in asked])
    for (name, passage, _), query in zip(asked, queries, strict=True):
        others = [each.score(query) for each in sample if each.file != passage.file]
        if others:
            found[name].append(max(others))
    out = {}
    for name, best in found.items():
        if best:
            low, high = np.quantile(best, (0.5, _QUANTILE))
            out[name] = {
                "queries": float(len(best)),
                "p50": round(float(low), 4),
                "p99": round(float(high), 4),
            }
    return out


def _cut(text: str, words: int, chance: np.random.Generator) -> str:
    parts = text.split()
    at = int(chance.integers(max(1, len(parts) - words + 1)))
    return " ".join(parts[at : at + words])


def in_use(kb_min_score: float | None, card: ModelCard) -> tuple[float, str]:
    """The threshold that searches use, and where it comes from."""
    if kb_min_score is not None:
        return kb_min_score, "search.minScore"
    return card.threshold, "the model registry"


def line_of(conn: sqlite3.Connection, found: Calibration | None, min_score: float | None) -> str:
    """The sentence of the stored calibration; "" without one."""
    live = generations.live(conn)
    return "" if found is None or live is None else found.line(*in_use(min_score, live[1]))


def report(conn: sqlite3.Connection, min_score: float | None) -> dict[str, Any] | None:
    """The stored calibration as JSON types, with the threshold in use; None without one."""
    found, live = stored(conn), generations.live(conn)
    if found is None or live is None:
        return None
    value, origin = in_use(min_score, live[1])
    return {
        **asdict(found),
        "suggested": found.suggested if found.passages >= ENOUGH else None,
        "advice": found.advice,
        "in_use": value,
        "in_use_from": origin,
        "current": is_fresh(conn, found),
        "line": found.line(value, origin),
    }
