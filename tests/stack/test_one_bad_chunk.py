"""One chunk in 1,250 that a provider refuses, through whole runs: what it costs, and what the file
is then."""

from __future__ import annotations

import json
import math
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from seoga.kb import Kb, load_kb
from seoga.settings import Settings
from seoga.wiring import Stack
from seoga_indexer.embedstage import BATCH

CHUNKS = 1250
BATCHES = math.ceil(CHUNKS / BATCH)
BAD = 867
# A whole batch, then two calls a halving, then one more for the last pair.
MOST = 2 * math.log2(BATCH) + 2


@pytest.fixture
def kb(fake_provider: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kb]:
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    httpx.delete(f"{fake_provider}/fake").raise_for_status()
    docs, folder = tmp_path / "docs", tmp_path / "base" / "kb"
    docs.mkdir()
    folder.mkdir(parents=True)
    parts = [f"## Part {number}\n\nThe words of part number {number}." for number in range(CHUNKS)]
    (docs / "long.md").write_text("\n\n".join(parts))
    embedding = {"provider": "openai", "baseUrl": fake_provider, "dimension": 64}
    embedding |= {"batchSize": 2048}
    config = {"id": "kb", "sourcePaths": [str(docs)], "embedding": embedding}
    (folder / "config.json").write_text(json.dumps(config))
    yield load_kb(folder)
    httpx.delete(f"{fake_provider}/fake").raise_for_status()


@pytest.fixture
def stack(kb: Kb) -> Iterator[Stack]:
    opened = Stack(Settings(base_path=kb.folder.parent))
    yield opened
    opened.close()


def calls(fake: str) -> list[list[str]]:
    """The texts of each call for vectors, in the order in which they came."""
    found = httpx.get(f"{fake}/fake/calls").json()
    return [call["body"]["input"] for call in found]


def states(kb: Kb) -> tuple[dict[str, int], str]:
    """How many chunks are in each state, and the state of the file."""
    with closing(sqlite3.connect(kb.db_path)) as conn:
        chunks = Counter(row[0] for row in conn.execute("SELECT state FROM chunks"))
        (file,) = conn.execute("SELECT state FROM files").fetchall()
    return dict(chunks), file[0]


def test_where_all_is_well_each_batch_is_one_call(kb: Kb, stack: Stack, fake_provider: str) -> None:
    stack.indexing.run_kb(kb)
    assert sorted(map(len, calls(fake_provider))) == sorted(
        [*[BATCH] * (CHUNKS // BATCH), CHUNKS % BATCH]
    )
    assert states(kb) == ({"Indexed": CHUNKS}, "Ready")


def test_one_bad_chunk_is_found_in_few_calls_and_costs_no_other_its_vectors(
    kb: Kb, stack: Stack, fake_provider: str
) -> None:
    rules = {"refuse": [f"part number {BAD}."]}
    httpx.put(f"{fake_provider}/fake/rules", json=rules).raise_for_status()
    stack.indexing.run_kb(kb)
    assert states(kb)[0]["Indexed"] == CHUNKS - 1
    sent = calls(fake_provider)
    # The retry pass of the run asks once more about the one that is left.
    assert len(sent) <= BATCHES - 1 + MOST + 1
    assert len(sent[-1]) == 1
    stack.indexing.run_kb(kb)
    stack.indexing.run_kb(kb)
    assert states(kb) == ({"Indexed": CHUNKS - 1, "Failed": 1}, "Degraded")
    # Three tries over all runs, each later one a call of its own.
    assert [len(texts) for texts in calls(fake_provider)[len(sent) :]] == [1]
