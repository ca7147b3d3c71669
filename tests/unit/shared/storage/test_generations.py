"""The vectors of one model serve until those of the next are complete."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from seoga.errors import StorageError
from seoga.models import FileState
from seoga.storage import generations
from seoga.storage.database import open_writer
from seoga.storage.documents import DocumentStore

from .stored import card, count, database, embed_all, prepared, states, vectors


@pytest.fixture
def store(tmp_path: Path) -> Iterator[DocumentStore]:
    store = DocumentStore(open_writer(database(tmp_path)))
    yield store
    store.close()


def test_the_old_vectors_serve_until_the_new_model_is_complete(store: DocumentStore) -> None:
    old = store.ensure_generation(card("old"))
    store.commit_text([prepared("a.md", "alpha", "beta")])
    embed_all(store)
    new = store.ensure_generation(card("new"))
    assert store.ensure_generation(card("new")) == new != old
    assert states(store) == {"a.md": FileState.PARTIALLY_DEFERRED}
    first, second = store.pending(10)
    store.commit_vectors(new, [vectors(first.id)])
    serving = generations.live(store.conn)
    assert serving is not None
    assert (serving[0], serving[1].model) == (old, "old")
    assert count(store.conn, "vectors") == 3
    store.commit_vectors(new, [vectors(second.id)])
    serving = generations.live(store.conn)
    assert serving is not None
    assert (serving[0], serving[1]) == (new, card("new"))
    with pytest.raises(StorageError, match="replaced by another model"):
        store.commit_vectors(old, [vectors(first.id)])
    assert store.sweep_generations(1) == 1
    assert count(store.conn, "generations") == 2
    assert (store.sweep_generations(5), store.sweep_generations(5)) == (1, 0)
    assert count(store.conn, "vectors") == 2
    assert count(store.conn, "generations") == 1


def test_going_back_to_the_old_model_costs_only_what_changed(store: DocumentStore) -> None:
    store.ensure_generation(card("old"))
    store.commit_text([prepared("a.md", "alpha", "beta")])
    embed_all(store)
    store.ensure_generation(card("new"))
    store.commit_text([prepared("a.md", "alpha", "changed")])
    store.ensure_generation(card("old"))
    assert [chunk.text for chunk in store.pending(10)] == ["changed"]
    store.sweep_generations()
    assert count(store.conn, "generations") == 1


def test_a_replaced_model_that_is_wanted_again_keeps_what_is_left_of_it(
    store: DocumentStore,
) -> None:
    old = store.ensure_generation(card("old"))
    store.commit_text([prepared("a.md", "alpha", "beta")])
    embed_all(store)
    store.ensure_generation(card("new"))
    embed_all(store)
    assert store.sweep_generations(1) == 1
    assert store.ensure_generation(card("old")) == old
    assert len(store.pending(10)) == 1
    embed_all(store)
    serving = generations.live(store.conn)
    assert serving is not None
    assert serving[0] == old


def test_a_model_that_gave_nothing_never_serves(store: DocumentStore) -> None:
    old = store.ensure_generation(card("old"))
    store.commit_text([prepared("a.md", "alpha")])
    embed_all(store)
    store.ensure_generation(card("new"))
    for _ in range(generations.MAX_ATTEMPTS):
        store.fail_chunks([(chunk.id, "refused") for chunk in store.pending(10)])
    assert store.pending(10) == []
    serving = generations.live(store.conn)
    assert serving is not None
    assert serving[0] == old


def test_embedding_turned_off_and_on_again_embeds_what_came_between(store: DocumentStore) -> None:
    store.ensure_generation(card())
    store.commit_text([prepared("a.md", "alpha")])
    embed_all(store)
    store.ensure_generation(None)
    assert generations.live(store.conn) is None
    store.commit_text([prepared("b.md", "beta")])
    assert states(store) == {"a.md": FileState.READY, "b.md": FileState.READY}
    store.ensure_generation(card())
    assert generations.live(store.conn) is not None
    assert [chunk.text for chunk in store.pending(10)] == ["beta"]


def test_removing_the_last_waiting_file_completes_a_new_model(store: DocumentStore) -> None:
    store.ensure_generation(card("old"))
    kept, gone = store.commit_text([prepared("a.md", "alpha"), prepared("b.md", "beta")])
    embed_all(store)
    new = store.ensure_generation(card("new"))
    store.commit_vectors(new, [vectors(c.id) for c in store.pending(10) if c.file_id == kept])
    store.remove([gone])
    serving = generations.live(store.conn)
    assert serving is not None
    assert serving[0] == new


def test_restarting_the_embedding_keeps_the_vectors_until_new_ones_come(
    store: DocumentStore,
) -> None:
    store.ensure_generation(card())
    store.commit_text([prepared("a.md", "alpha")])
    embed_all(store)
    store.restart_embedding()
    assert len(store.pending(10)) == 1
    assert count(store.conn, "vectors") == 1
    embed_all(store)
    assert count(store.conn, "vectors") == 1
    assert states(store) == {"a.md": FileState.READY}
