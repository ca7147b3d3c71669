"""Three layers before the end of memory: few children, smaller batches, and one passage alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from seoga.contracts.embedding import Passage, PassageVectors
from seoga.errors import EmbeddingFailed, ProviderFault
from seoga.models import EmbeddingSpec
from seoga_embedding.batching import shrunk
from seoga_embedding.memory import CHILD_MB, OURS_MB, affordable, limit_mb, pressed, used_mb
from seoga_embedding.passages import Result
from seoga_embedding.pool import Crashed, Pool

GIB = 1 << 30
SPEC = EmbeddingSpec("hashing")


def some(count: int) -> list[Passage]:
    return [Passage(f"passage number {n}") for n in range(count)]


@pytest.mark.parametrize(
    ("name", "text"), [("memory.max", "{}"), ("memory/memory.limit_in_bytes", "{}\n")]
)
def test_the_limit_of_the_container_counts_and_not_the_hosts(
    tmp_path: Path, name: str, text: str
) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text.format(GIB))
    assert limit_mb(tmp_path) == 1024
    assert affordable(64, tmp_path) == (1024 - OURS_MB) // CHILD_MB
    assert affordable(1, tmp_path) == 1
    file.write_text(text.format(64 << 20))
    assert affordable(8, tmp_path) == 1


@pytest.mark.parametrize("text", ["max", str(2**63 - 4096), "", "garbage"])
def test_no_limit_of_a_container_means_the_machine(tmp_path: Path, text: str) -> None:
    whole = limit_mb(tmp_path)
    (tmp_path / "memory.max").write_text(text)
    assert limit_mb(tmp_path) == whole > 64
    assert 0 < used_mb(tmp_path) <= whole


@pytest.mark.parametrize(
    ("limit", "used", "stat", "cached"),
    [
        ("memory.max", "memory.current", "memory.stat", "inactive_file"),
        (
            "memory/memory.limit_in_bytes",
            "memory/memory.usage_in_bytes",
            "memory/memory.stat",
            "total_inactive_file",
        ),
    ],
    ids=["v2", "v1"],
)
def test_above_three_quarters_of_the_containers_memory_it_is_short(
    tmp_path: Path, limit: str, used: str, stat: str, cached: str
) -> None:
    (tmp_path / "memory").mkdir()

    def container(in_use: int, pages: int) -> None:
        (tmp_path / limit).write_text(f"{GIB}\n")
        (tmp_path / used).write_text(f"{in_use << 20}\n")
        (tmp_path / stat).write_text(f"anon 5\n{cached} {pages << 20}\nother 7\n")

    container(760, 0)
    assert used_mb(tmp_path) == 760
    assert not pressed(tmp_path)
    container(780, 0)
    assert pressed(tmp_path)
    # Pages of files go when somebody needs the memory.
    container(1000, 600)
    assert used_mb(tmp_path) == 400
    assert not pressed(tmp_path)


def test_batches_shrink_while_memory_is_short_and_grow_again() -> None:
    passages = some(128)
    short = iter([True, True, False])
    parts = list(shrunk(passages, lambda: next(short)))
    assert [len(part) for part in parts] == [64, 32, 32]
    assert [one for part in parts for one in part] == passages
    assert [len(part) for part in shrunk(passages, lambda: True)] == [64, 32, 16, 8, 8]
    assert [len(part) for part in shrunk(passages, lambda: False)] == [128]
    assert list(shrunk([], lambda: True)) == []


@pytest.fixture
def fragile() -> Iterator[Pool]:
    """Children that no batch with a certain word survives; memory is short all the time."""

    class Fragile(Pool):
        def _once(self, spec: EmbeddingSpec, passages: Sequence[Passage]) -> list[Result]:
            if any("poison" in passage.text for passage in passages):
                raise Crashed
            return super()._once(spec, passages)

    pool = Fragile(1, lambda: True)
    yield pool
    pool.close()


def test_a_passage_that_kills_a_child_alone_is_set_aside_with_the_reason(fragile: Pool) -> None:
    passages = some(40)
    passages[17] = Passage("poison")
    results = fragile.embed(SPEC, passages)
    assert [isinstance(one, PassageVectors) for one in results] == [n != 17 for n in range(40)]
    error = results[17]
    assert isinstance(error, EmbeddingFailed)
    assert error.fault is ProviderFault.REJECTED
    assert "crashes the embedding process" in error.message
