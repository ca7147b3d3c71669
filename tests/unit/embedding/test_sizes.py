"""Batches: packed by padded tokens, sized by what was learned, and learned for good."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seoga.errors import StorageError
from seoga.models import EmbeddingSpec
from seoga.storage.embedding import EmbeddingStore, Profile
from seoga_embedding.engine import EmbeddingEngine
from seoga_embedding.packing import bucket_of, pack, start_size, tokens_of
from seoga_embedding.provider import Limits
from seoga_embedding.remote import sizes as sizes_module
from seoga_embedding.remote.sizes import Memory, Sizes

from .conftest import Fake, Recorder, good, passages

SHORT, LONG = ["word"] * 200, ["word " * 400] * 200


def store_at(tmp_path: Path) -> EmbeddingStore:
    return EmbeddingStore(tmp_path)


def sizes_at(tmp_path: Path, **options: Any) -> Sizes:
    return Sizes("m", Memory(store_at(tmp_path)), learns=True, **options)


@given(st.lists(st.text(max_size=3000), max_size=80), st.integers(1, 20), st.integers(10, 4000))
def test_every_text_is_in_one_batch_and_no_batch_is_over_its_limits(
    texts: list[str], most: int, tokens: int
) -> None:
    batches = pack(texts, Limits(most, tokens, 5000), start_size)
    assert sorted(at for batch in batches for at in batch) == list(range(len(texts)))
    for batch in batches:
        counts = [tokens_of(texts[at]) for at in batch]
        assert len(batch) <= min(most, start_size(bucket_of(max(counts))))
        assert len(batch) == 1 or len(batch) * max(counts) <= tokens
        assert len(batch) == 1 or sum(len(texts[at].encode()) for at in batch) <= 5000
        assert [len(texts[at]) for at in batch] == sorted(len(texts[at]) for at in batch)


def test_one_long_text_does_not_make_a_batch_of_short_ones_heavy() -> None:
    texts = ["short"] * 63 + ["긴 글 " * 2000]
    batches = pack(texts, Limits(2048, 60_000, 1 << 22), start_size)
    assert [len(batch) for batch in batches] == [63, 1]


@pytest.mark.parametrize(
    ("tokens", "size"), [(1, 128), (200, 128), (201, 64), (501, 32), (1001, 16), (9999, 16)]
)
def test_the_first_sizes_are_those_of_the_specification(tokens: int, size: int) -> None:
    assert start_size(bucket_of(tokens)) == size


def test_a_size_doubles_while_that_pays_and_goes_back_where_it_does_not(tmp_path: Path) -> None:
    sizes = sizes_at(tmp_path)
    cost = {128: 0.010, 256: 0.005, 512: 0.006}
    for _ in range(20):
        size = sizes.size(200)
        sizes.took(["word"] * size, cost.get(size, 0.01) * size / 1000 * 100)
    assert sizes.size(200) == 256
    assert sizes.size(500) == 64


def test_a_batch_that_was_not_full_teaches_nothing(tmp_path: Path) -> None:
    sizes = sizes_at(tmp_path)
    for _ in range(20):
        sizes.took(["word"] * 5, 0.0001)
    assert sizes.size(200) == 128


def test_a_size_that_was_too_large_is_never_tried_again_by_any_process(tmp_path: Path) -> None:
    sizes = sizes_at(tmp_path)
    sizes.too_large(SHORT[:100])
    sizes.too_large(SHORT[:50])
    assert sizes.size(200) == 25
    again = sizes_at(tmp_path)
    assert again.size(200) == 25
    for _ in range(50):
        again.took(["word"] * again.size(200), 0.0001)
    assert again.size(200) < 50
    assert again.size(1000) == 32


def test_a_size_that_has_worked_is_given_up_only_when_it_fails_twice_in_a_row(
    tmp_path: Path,
) -> None:
    sizes = sizes_at(tmp_path)
    for _ in range(4):
        sizes.took(SHORT[:100], 0.1)
        sizes.too_large(SHORT[:100])
    assert sizes.size(200) == 128
    sizes.too_large(SHORT[:100])
    assert sizes.size(200) == 50


def test_what_was_learned_is_there_after_a_restart(tmp_path: Path) -> None:
    sizes = sizes_at(tmp_path)
    for _ in range(3):
        sizes.took(["word"] * 128, 0.01)
    assert sizes.size(200) == 256
    assert sizes_at(tmp_path).size(200) == 256
    assert store_at(tmp_path).profiles("other") == {}


def test_a_configured_size_is_used_as_it_is_and_only_lowered(tmp_path: Path) -> None:
    assert sizes_at(tmp_path, fixed=700).size(200) == 700
    sizes_at(tmp_path, fixed=700).too_large(SHORT)
    assert sizes_at(tmp_path, fixed=700).size(200) == 100
    assert sizes_at(tmp_path, fixed=10).size(200) == 10


def test_the_limit_of_a_server_is_kept_over_restarts(
    fake: Fake, start: Callable[..., EmbeddingEngine], spec_of: Callable[..., EmbeddingSpec]
) -> None:
    fake.rules(max_texts=20)
    spec = spec_of("openai", "BAAI/bge-m3")
    assert len(good(start().embed_passages(passages(60), spec))) == 60
    before = len(fake.calls("/embeddings"))
    assert len(good(start().embed_passages(passages(60), spec))) == 60
    assert all(len(call["body"]["input"]) <= 20 for call in fake.calls("/embeddings")[before:])


def test_out_of_memory_halves_the_batch_and_nothing_is_lost(
    fake: Fake, start: Callable[..., EmbeddingEngine], spec_of: Callable[..., EmbeddingSpec]
) -> None:
    message = "llama runner process has terminated: cudaMalloc failed: out of memory"
    fake.faults({"status": 500, "message": message, "path": "/api/embed", "times": 2})
    assert len(good(start().embed_passages(passages(100), spec_of("ollama")))) == 100
    sizes = [len(call["body"]["input"]) for call in fake.calls("/api/embed")]
    assert sizes[:3] == [100, 50, 25]


def test_where_nothing_can_be_kept_the_work_goes_on_and_says_so_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = Recorder()
    monkeypatch.setattr(sizes_module, "log", said)
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    sizes = Sizes("m", Memory(EmbeddingStore(blocked)), learns=True)
    sizes.too_large(LONG[:10])
    sizes.too_large(LONG[:8])
    assert sizes.size(bucket_of(tokens_of(LONG[0]))) == 4
    assert [event for event, _ in said.lines] == ["what is learned of a model is not kept"]
    with pytest.raises(StorageError):
        EmbeddingStore(blocked).profiles("m")


def test_a_store_gives_back_what_it_was_given(tmp_path: Path) -> None:
    store = store_at(tmp_path)
    store.save_profile("m", 200, Profile(64, 1.5, 3, 128, 2.5))
    store.save_profile("m", 200, Profile(32, 1.5, 4, 128, 2.5))
    store.save_context("k", "문맥", "하나, two")
    store.close()
    again = store_at(tmp_path)
    assert again.profiles("m") == {200: Profile(32, 1.5, 4, 128, 2.5)}
    assert again.context("k") == ("문맥", "하나, two")
    assert again.context("other") is None
    again.close()
