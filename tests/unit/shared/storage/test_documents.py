"""Every write leaves files, chunks, keyword index, term counts and vectors in one story."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seoga.errors import StorageError
from seoga.models import FileState, Place
from seoga.storage.database import open_reader, open_writer
from seoga.storage.documents import DocumentStore
from seoga.storage.reading import commit_number
from seoga.storage.records import PreparedFile, Touch
from seoga.storage.texts import unpack_text

from .stored import (
    assert_sound,
    card,
    count,
    database,
    embed_all,
    found,
    prepared,
    row,
    states,
    vectors,
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[DocumentStore]:
    store = DocumentStore(open_writer(database(tmp_path)))
    yield store
    store.close()


def texts(conn: sqlite3.Connection) -> dict[int, str]:
    return dict(conn.execute("SELECT id, text FROM chunks"))


def test_commit_1_makes_files_findable_by_keyword_before_any_vector(store: DocumentStore) -> None:
    store.ensure_generation(card())
    ids = store.commit_text([prepared("a.md", "alpha beta", "gamma"), prepared("b.md", "gamma")])
    assert len(ids) == 2
    assert len(found(store.conn, "gamma")) == 2
    assert states(store) == dict.fromkeys(["a.md", "b.md"], FileState.PARTIALLY_DEFERRED)
    assert [chunk.text for chunk in store.pending(10)] == ["alpha beta", "gamma", "gamma"]
    assert [chunk.heading_path for chunk in store.pending(1)] == [("Heading",)]
    assert_sound(store.conn)


def test_commit_2_makes_chunks_indexed_and_files_ready(store: DocumentStore) -> None:
    generation = store.ensure_generation(card())
    store.commit_text([prepared("a.md", "alpha", "beta")])
    first, second = store.pending(10)
    assert store.pending(10, after=first.id) == [second]
    store.commit_vectors(generation, [vectors(first.id)])
    assert states(store) == {"a.md": FileState.PARTIALLY_DEFERRED}
    store.commit_vectors(generation, [vectors(second.id, windows=3)])
    assert states(store) == {"a.md": FileState.READY}
    assert store.pending(10) == []
    assert count(store.conn, "vectors") == 2


def test_a_kb_without_embedding_is_ready_after_commit_1(store: DocumentStore) -> None:
    assert store.ensure_generation(None) == 0
    store.commit_text([prepared("a.md", "alpha")])
    assert states(store) == {"a.md": FileState.READY}
    assert store.pending(10) == []


def test_text_and_marks_come_back_as_stored(store: DocumentStore) -> None:
    text = "## Page 1\n\n가나다 𝄞 text\n\n" * 100
    marks = [(0, Place(page=1)), (11, Place(page=2, line_start=3))]
    (file_id,) = store.commit_text([PreparedFile(row("a.pdf"), text, [], marks)])
    packed = store.conn.execute(
        "SELECT text, marks FROM texts WHERE file_id = ?", (file_id,)
    ).fetchone()
    assert unpack_text(*packed) == (text, marks)


def test_a_changed_file_keeps_the_chunks_whose_words_are_the_same(store: DocumentStore) -> None:
    store.ensure_generation(card())
    store.commit_text([prepared("a.md", "alpha", "beta", "gamma")])
    embed_all(store)
    before = {text: chunk_id for chunk_id, text in texts(store.conn).items()}
    store.commit_text([prepared("a.md", "new", "gamma", "alpha")])
    after = {text: chunk_id for chunk_id, text in texts(store.conn).items()}
    assert after["alpha"] == before["alpha"]
    assert after["gamma"] == before["gamma"]
    assert after["new"] > max(before.values())
    assert [chunk.text for chunk in store.pending(10)] == ["new"]
    ordinals = store.conn.execute("SELECT text FROM chunks ORDER BY ordinal").fetchall()
    assert ordinals == [("new",), ("gamma",), ("alpha",)]
    assert count(store.conn, "vectors") == 2
    assert found(store.conn, "beta") == []
    assert_sound(store.conn)


def test_a_new_title_reaches_the_keyword_index_of_kept_chunks(store: DocumentStore) -> None:
    store.commit_text([prepared("a.md", "alpha", title="old")])
    store.commit_text([prepared("a.md", "alpha", title="new")])
    assert found(store.conn, "old") == []
    assert len(found(store.conn, "new")) == 1
    assert_sound(store.conn)


def test_after_a_forced_commit_all_chunks_wait_and_old_vectors_of_the_same_words_serve(
    store: DocumentStore,
) -> None:
    store.ensure_generation(card())
    store.commit_text([prepared("a.md", "alpha", "beta")])
    embed_all(store)
    alpha, _ = texts(store.conn)
    store.commit_text([prepared("a.md", "alpha", "gamma")], reuse=False)
    assert [chunk.text for chunk in store.pending(10)] == ["alpha", "gamma"]
    assert store.conn.execute("SELECT chunk_id FROM vectors").fetchall() == [(alpha,)]
    assert_sound(store.conn)


def test_chunk_ids_are_never_used_again(store: DocumentStore) -> None:
    (file_id,) = store.commit_text([prepared("a.md", "alpha", "beta")])
    last = max(texts(store.conn))
    store.remove([file_id])
    store.commit_text([prepared("a.md", "alpha")])
    assert min(texts(store.conn)) > last


def test_a_removed_file_leaves_nothing_anywhere(store: DocumentStore) -> None:
    store.ensure_generation(card())
    ids = store.commit_text([prepared("a.md", "alpha beta"), prepared("b.md", "beta gamma")])
    embed_all(store)
    store.remove(ids[:1])
    assert found(store.conn, "alpha") == []
    assert store.conn.execute("SELECT df FROM terms WHERE term = 'beta'").fetchall() == [(1,)]
    assert_sound(store.conn)
    store.remove(ids[1:])
    for table in ("files", "texts", "chunks", "chunks_fts", "terms", "terms_trigram", "vectors"):
        assert count(store.conn, table) == 0, table
    assert store.first_with("") is None


def test_a_file_that_gives_no_text_any_more_loses_what_it_had(store: DocumentStore) -> None:
    store.ensure_generation(card())
    store.commit_text([prepared("a.pdf", "alpha")])
    embed_all(store)
    failed = row("a.pdf", state=FileState.FAILED, reason="corrupt", hash="h")
    store.set_state([failed, row("b.bin", state=FileState.FAILED, reason="unsupported")])
    assert states(store) == {"a.pdf": "Failed", "b.bin": "Failed"}
    for table in ("texts", "chunks", "chunks_fts", "terms", "vectors"):
        assert count(store.conn, table) == 0, table
    assert [file.reason for file in store.known("docs")] == ["corrupt", "unsupported"]


def test_marking_a_file_keeps_it_searchable(store: DocumentStore) -> None:
    (file_id,) = store.commit_text([prepared("a.md", "alpha")])
    store.mark([file_id], FileState.NEEDS_ACTION, "unreadable", "permission denied")
    assert states(store) == {"a.md": "NeedsAction"}
    assert len(found(store.conn, "alpha")) == 1


def test_touch_updates_metadata_only(store: DocumentStore) -> None:
    (file_id,) = store.commit_text([prepared("a.md", "alpha", hash="h")])
    store.touch([Touch(file_id, 9, 8, 7, "v2")])
    (file,) = store.known("docs")
    assert (file.size, file.mtime_ns, file.scanned_ns, file.version) == (9, 8, 7, "v2")
    assert (file.hash, file.chunk_count) == ("h", 1)


def test_a_moved_file_keeps_chunks_and_vectors_under_its_new_name(store: DocumentStore) -> None:
    store.ensure_generation(card())
    (file_id,) = store.commit_text([prepared("a.md", "alpha", title="old", hash="h")])
    embed_all(store)
    before = texts(store.conn)
    store.rename(file_id, row("dir/b.md", label="other", title="new"), "new")
    assert texts(store.conn) == before
    assert count(store.conn, "vectors") == 1
    assert store.get("docs", "a.md") is None
    moved = store.first_with("h")
    assert moved is not None
    assert moved.path == "dir/b.md"
    assert found(store.conn, "old") == []
    assert len(found(store.conn, "new")) == 1
    assert_sound(store.conn)


def test_known_files_come_in_code_point_order_and_may_be_changed_meanwhile(
    store: DocumentStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("seoga.storage.documents._PAGE", 3)
    names = ["a.md", "Z.md", "가.md", "𝄞.md", "b/a.md", "b-a.md", "README.md", "readme.md"]
    store.commit_text([prepared(name, "x") for name in names])
    store.commit_text([prepared("x.md", "x", label="other") for _ in range(1)])
    seen = []
    for file in store.known("docs"):
        seen.append(file.path)
        store.touch([Touch(file.id, 2, 2, 2)])
    assert seen == sorted(names)
    assert store.labels() == {"docs": len(names), "other": 1}


def test_three_failed_tries_make_a_chunk_failed_and_its_file_degraded(store: DocumentStore) -> None:
    generation = store.ensure_generation(card())
    store.commit_text([prepared("a.md", "alpha", "beta"), prepared("b.md", "gamma")])
    alpha, beta, gamma = (chunk.id for chunk in store.pending(10))
    store.commit_vectors(generation, [vectors(alpha)])
    for attempt in range(3):
        assert [chunk.attempts for chunk in store.pending(10)] == [attempt, attempt]
        store.fail_chunks([(beta, "too odd"), (gamma, "too odd")])
    assert store.pending(10) == []
    assert states(store) == {"a.md": FileState.DEGRADED, "b.md": FileState.FAILED}
    assert {file.reason for file in store.known("docs")} == {"embedding"}
    store.commit_vectors(generation, [vectors(beta), vectors(gamma)])
    assert states(store) == {"a.md": FileState.READY, "b.md": FileState.READY}
    assert {file.reason for file in store.known("docs")} == {""}


def test_a_file_with_a_reason_of_its_own_is_degraded_once_embedded(store: DocumentStore) -> None:
    store.ensure_generation(card())
    store.commit_text([prepared("a.pdf", "a", state=FileState.DEGRADED, reason="needs_ocr")])
    assert states(store) == {"a.pdf": FileState.PARTIALLY_DEFERRED}
    embed_all(store)
    assert states(store) == {"a.pdf": FileState.DEGRADED}
    assert [file.reason for file in store.known("docs")] == ["needs_ocr"]


def test_vectors_of_chunks_that_are_gone_or_of_a_wrong_size_are_not_stored(
    store: DocumentStore,
) -> None:
    generation = store.ensure_generation(card())
    store.commit_text([prepared("a.md", "alpha")])
    (chunk,) = store.pending(10)
    assert store.commit_vectors(generation, [vectors(chunk.id), vectors(chunk.id + 77)]) == 1
    wrong = vectors(chunk.id)
    with pytest.raises(StorageError, match="4 dimensions"):
        store.commit_vectors(
            generation, [type(wrong)(chunk.id, wrong.vectors[:, :2], wrong.penalties)]
        )


def test_readers_see_a_number_grow_with_content_but_not_with_progress(
    store: DocumentStore, tmp_path: Path
) -> None:
    reader = open_reader(database(tmp_path))
    store.commit_text([prepared("a.md", "alpha")])
    first = commit_number(reader)
    store.progress({"files": 1})
    assert commit_number(reader) == first
    store.remove([1])
    assert commit_number(reader) == first + 1
    reader.close()


def test_a_commit_that_fails_leaves_the_store_as_it_was(store: DocumentStore) -> None:
    store.commit_text([prepared("a.md", "alpha")])
    bad = prepared("b.md", "beta", "gamma")
    twice = PreparedFile(bad.row, bad.text, [bad.chunks[0], bad.chunks[0]])
    with pytest.raises(sqlite3.IntegrityError):
        store.commit_text([prepared("a.md", "changed"), twice])
    assert list(texts(store.conn).values()) == ["alpha"]
    assert_sound(store.conn)


def test_threads_share_one_store(store: DocumentStore) -> None:
    def work(name: str) -> None:
        for number in range(5):
            store.commit_text([prepared(f"{name}{number}.md", f"word{number}")])
            store.progress({"at": number})

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert count(store.conn, "files") == 20
    assert_sound(store.conn)


words = st.lists(st.sampled_from(["aa", "bbb", "cccc", "회의", "보고", "dd"]), max_size=4)
document = st.lists(words.map(" ".join), max_size=4)
operation = st.one_of(
    st.tuples(st.just("put"), st.integers(0, 2), document, st.booleans()),
    st.tuples(st.just("fail"), st.integers(0, 2), st.none(), st.none()),
    st.tuples(st.just("remove"), st.integers(0, 2), st.none(), st.none()),
    st.tuples(st.just("embed"), st.just(0), st.none(), st.none()),
)


@settings(max_examples=60, deadline=None)
@given(operations=st.lists(operation, max_size=12))
def test_any_history_of_writes_leaves_the_index_of_its_last_state(
    tmp_path_factory: pytest.TempPathFactory,
    operations: list[tuple[str, int, list[str], bool]],
) -> None:
    store = DocumentStore(open_writer(database(tmp_path_factory.mktemp("history"))))
    store.ensure_generation(card())
    expected: dict[str, list[str]] = {}
    for kind, number, texts_of, reuse in operations:
        path = f"{number}.md"
        if kind == "put":
            store.commit_text([prepared(path, *texts_of)], reuse=reuse)
            expected[path] = texts_of
        elif kind == "fail":
            store.set_state([row(path, state=FileState.FAILED, reason="corrupt")])
            expected[path] = []
        elif kind == "remove":
            known = store.get("docs", path)
            store.remove([known.id] if known else [])
            expected.pop(path, None)
        else:
            embed_all(store)
    assert_sound(store.conn)
    stored = {
        file.path: [
            text
            for (text,) in store.conn.execute(
                "SELECT text FROM chunks WHERE file_id = ? ORDER BY ordinal", (file.id,)
            )
        ]
        for file in store.known("docs")
    }
    assert stored == expected
    bare = (
        "SELECT id FROM chunks WHERE state = 'Indexed' AND id NOT IN (SELECT chunk_id FROM vectors)"
    )
    assert store.conn.execute(bare).fetchall() == []
    store.close()
