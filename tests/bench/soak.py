"""The soak: many chunks through a provider of which one call in twenty goes wrong, in every way.

What is there at the least: the batches that hold all texts, one more call for each mishap that can
only be made good by another, log2(n) for each batch that a refused text is in, and the later tries
of the bad ones.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

SHARE = 0.05
BATCH = 16
ONE_BAD_IN = 2000
TOO_LONG = "이 문장은 너무 길다. "
# Every class of error, in turn; after each of the first group the same texts must be sent again.
AGAIN: list[dict[str, Any]] = [
    {"status": 429, "retry_after": "0.05", "message": "Rate limit reached"},
    {"status": 500, "message": "internal"},
    {"kind": "cut"},
    {"status": 503, "message": "overloaded"},
    {"kind": "error_in_200", "status": 429, "message": "Rate limit exceeded"},
    {"status": 529, "retry_after": "0.02"},
    {"status": 408, "message": "request timed out", "after": 0.2},
    {"kind": "html"},
    {"kind": "dimension"},
    {"kind": "slow", "seconds": 9.0},
]
# How long a call may take here: less than the slow one.
PATIENCE_S = 6.0
# A text is refused for good after three tries; a run makes two.
RUNS = 2
# A part of the texts, or all of them, have no vector: the retry of the run sends those again.
SPOILT: list[dict[str, Any]] = [{"kind": "nan"}, {"kind": "zero"}, {"kind": "fewer"}]
# The batch is halved, and its texts arrive in two calls.
HALVED: list[dict[str, Any]] = [{"status": 413, "message": "payload too large"}]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run left, and what it cost."""

    chunks: int
    states: dict[str, int]
    doubled: int
    wrong: list[str]
    calls: int
    least: int

    @property
    def ratio(self) -> float:
        """Calls made for one that had to be."""
        return self.calls / self.least


def rules() -> dict[str, Any]:
    """What the fake is told: one call in twenty meets a mishap; two words are never taken."""
    mishaps = [one for group in (AGAIN, SPOILT, HALVED) for one in group]
    return {
        "mishaps": mishaps,
        "mishap_share": SHARE,
        "seed": 5,
        "max_tokens": 2000,
        "refuse": ["forbidden-word"],
        "nan": "hopeless-word",
    }


def begin(fake: str) -> None:
    """From here on calls go wrong, and are counted."""
    with httpx.Client(transport=httpx.HTTPTransport(retries=8)) as client:
        client.delete(f"{fake}/fake").raise_for_status()
    httpx.put(f"{fake}/fake/rules", json=rules()).raise_for_status()


def write(docs: Path, chunks: int) -> set[str]:
    """A file a chunk; names those that can never have a vector: of 2,000 one of each kind."""
    bad = set()
    for number in range(chunks):
        text = f"chunk number {number} says something of its own"
        name = f"{number // 500:03}/{number:05}.md"
        kind = number % ONE_BAD_IN
        if kind in (333, 666, 999):
            text += {333: " forbidden-word", 666: " hopeless-word", 999: TOO_LONG * 300}[kind]
            bad.add(name)
        path = docs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return bad


def configure(folder: Path, docs: Path, fake: str) -> None:
    """A knowledge base over the files, with the fake as its provider."""
    folder.mkdir(parents=True)
    embedding = {
        "provider": "openai",
        "model": "text-embedding-3-small",
        "dimension": 64,
        "baseUrl": fake,
        "batchSize": BATCH,
    }
    chunking = {"targetChars": 4000}
    config = {"id": folder.name, "sourcePaths": [str(docs)]}
    config |= {"embedding": embedding, "chunking": chunking}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")


def outcome(database: Path, fake: str, bad: set[str]) -> Outcome:
    """Reads the index and the fake's tally."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as conn:
        rows = conn.execute(
            "SELECT f.path, c.state, c.last_error,"
            " (SELECT count(*) FROM vectors v WHERE v.chunk_id = c.id)"
            " FROM chunks c JOIN files f ON f.id = c.file_id"
        ).fetchall()
    states = Counter(state for _, state, *_ in rows)
    wrong = [
        f"{path} {state} {error!r} {vectors}"
        for path, state, error, vectors in rows
        if (state == "Indexed") != (vectors == 1)
        or (path in bad) != (state == "Failed")
        or (state == "Failed" and not _own_reason(path, error))
    ]
    doubled = len(rows) - len({path for path, *_ in rows})
    tally = httpx.get(f"{fake}/fake/tally").json()["counts"]
    calls = sum(count for name, count in tally.items() if name != "texts")
    return Outcome(len(rows), dict(states), doubled, wrong, calls, _least(tally, len(rows), bad))


def _own_reason(path: str, error: str) -> bool:
    """Whether an error says what is wrong with the text of this file."""
    kind = int(Path(path).stem) % ONE_BAD_IN
    # The last try of one that never has a vector may be the one that loses it on the way.
    reasons = {
        333: ("cannot be embedded",),
        666: ("not finite", "gave no vector"),
        999: ("context length",),
    }
    return any(reason in error for reason in reasons[kind])


def _least(tally: dict[str, int], chunks: int, bad: set[str]) -> int:
    """The calls that had to be made, given what went wrong."""
    kinds = [int(Path(path).stem) % ONE_BAD_IN for path in bad]
    refused = sum(1 for kind in kinds if kind != 666)
    spoilt = sum(tally.get(kind, 0) for kind in ("nan", "zero", "fewer"))
    again = sum(
        count
        for name, count in tally.items()
        if name not in ("ok", "texts", "400", "413", "nan", "zero", "fewer")
    )
    # Each answer halves what is left: fewer calls cannot tell which of so many texts it is.
    isolation = refused * math.ceil(math.log2(BATCH))
    # Twice more, by then only with texts that were spoilt or are as bad: one call each.
    later = 2 * len(bad) + math.ceil(spoilt / BATCH)
    batches = math.ceil(chunks / BATCH)
    return batches + again + 2 * tally.get("413", 0) + isolation + later
