"""What tools read comes back whole, and a missing thing is said with a way out."""

from __future__ import annotations

import json
import sqlite3
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from seoga.errors import NotFound, StorageError
from seoga.models import FileState
from seoga.storage import reading
from seoga.storage.database import open_reader, open_writer
from seoga.storage.documents import DocumentStore
from seoga.storage.leases import WRITER, Lease
from seoga.storage.vectors import iter_blocks, pack, unpack

from .stored import card, database, prepared, row, vectors


@dataclass
class Pair:
    """A store with three documents and a reader of it."""

    store: DocumentStore
    reader: sqlite3.Connection
    generation: int


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    store = DocumentStore(open_writer(database(tmp_path)))
    generation = store.ensure_generation(card())
    store.commit_text(
        [
            prepared("guide/설치.md", "one", "two", "three", title="Guide"),
            prepared("README.md", "read me"),
        ]
    )
    store.set_state([row("x.bin", state=FileState.FAILED, reason="unsupported", detail="why")])
    pair = Pair(store, open_reader(database(tmp_path)), generation)
    yield pair
    pair.reader.close()
    store.close()


def embed(pair: Pair, windows: int = 1) -> None:
    pending = pair.store.pending(100)
    pair.store.commit_vectors(pair.generation, [vectors(c.id, windows) for c in pending])


def test_counts_name_every_state(pair: Pair) -> None:
    counts = reading.kb_counts(pair.reader)
    assert counts.files == {
        "Ready": 0,
        "Degraded": 0,
        "PartiallyDeferred": 2,
        "Failed": 1,
        "NeedsAction": 0,
    }
    assert (counts.total_files, counts.chunks, counts.pending, counts.indexed) == (3, 4, 4, 0)
    embed(pair)
    assert reading.kb_counts(pair.reader).indexed == 4


def test_a_chunk_comes_with_its_document_and_neighbours(pair: Pair) -> None:
    _, two, three, _ = (chunk.id for chunk in pair.store.pending(10))
    chunk = reading.chunk(pair.reader, two)
    assert (chunk.text, chunk.start, chunk.end) == ("two", 5, 8)
    assert (chunk.label, chunk.path, chunk.title) == ("docs", "guide/설치.md", "Guide")
    assert (chunk.heading_path, chunk.ordinal, chunk.chunk_count) == (("Heading",), 1, 3)
    around = reading.neighbours(pair.reader, two)
    assert [near.text for near in around] == ["one", "three"]
    assert reading.neighbours(pair.reader, three, before=0, after=5) == []
    with pytest.raises(NotFound, match="no chunk 999"):
        reading.chunk(pair.reader, 999)


def test_many_chunks_come_in_one_query_and_missing_ones_are_left_out(pair: Pair) -> None:
    ids = [chunk.id for chunk in pair.store.pending(10)]
    statements: list[str] = []
    pair.reader.set_trace_callback(statements.append)
    assert sorted(reading.chunks(pair.reader, [*ids, 999])) == ids
    assert len(statements) == 1


@pytest.mark.parametrize("name", ["docs/guide/설치.md", "guide/설치.md", " docs/guide/설치.md "])
def test_a_document_is_found_by_the_name_of_a_hit(pair: Pair, name: str) -> None:
    assert reading.find_document(pair.reader, name).name == "docs/guide/설치.md"
    decomposed = unicodedata.normalize("NFD", name)
    assert reading.find_document(pair.reader, decomposed).title == "Guide"


@pytest.mark.parametrize("name", ["/etc/passwd", "../../etc/passwd", "", "docs/", "%", "docs/_"])
def test_only_indexed_documents_have_names(pair: Pair, name: str) -> None:
    with pytest.raises(NotFound):
        reading.find_document(pair.reader, name)


def test_a_near_name_is_offered_and_two_sources_must_be_told_apart(pair: Pair) -> None:
    with pytest.raises(NotFound) as caught:
        reading.find_document(pair.reader, "docs/readme.md")
    assert "docs/README.md" in caught.value.hint
    other = prepared("README.md", "other")
    pair.store.commit_text([type(other)(row("README.md", label="wiki"), other.text, other.chunks)])
    with pytest.raises(NotFound, match=r"docs/README\.md and wiki/README\.md"):
        reading.find_document(pair.reader, "README.md")
    assert reading.find_document(pair.reader, "wiki/README.md").label == "wiki"


def test_the_text_of_a_document_is_what_its_chunks_are_slices_of(pair: Pair) -> None:
    text, marks = reading.document_text(pair.reader, "docs", "guide/설치.md")
    assert (text, marks) == ("one\n\ntwo\n\nthree", [])
    with pytest.raises(NotFound):
        reading.document_text(pair.reader, "docs", "x.bin")


def test_failing_files_are_listed_with_their_reason(pair: Pair) -> None:
    (document,) = reading.documents_in(pair.reader, [FileState.FAILED])
    assert (document.name, document.reason, document.detail) == ("docs/x.bin", "unsupported", "why")


def test_index_info_is_json_and_says_where_a_run_stands(pair: Pair, tmp_path: Path) -> None:
    run = pair.store.begin_run("full")
    pair.store.progress({"files": 2, "file": "a.md"})
    with Lease.acquire(database(tmp_path), WRITER):
        info = json.loads(json.dumps(reading.index_info(pair.reader)))
    assert info["progress"] == {"files": 2, "file": "a.md"}
    assert info["last_run"]["status"] == "running"
    assert info["reasons"] == {"unsupported": 1}
    assert info["labels"]["docs"]["files"] == 3
    assert (info["embedding"]["model"], info["embedding_building"]) == ("tiny", False)
    # Nobody holds the lease: its process was killed.
    last = reading.index_info(pair.reader)["last_run"]
    assert (last["status"], last["ended_at"]) == ("interrupted", "")
    pair.store.end_run(run, "done", {"indexed": 2})
    info = reading.index_info(pair.reader)
    assert info["progress"] is None
    assert info["last_run"]["counts"] == {"indexed": 2}
    embed(pair)
    pair.store.ensure_generation(card("next"))
    info = reading.index_info(pair.reader)
    assert (info["embedding"]["model"], info["embedding_building"]) == ("tiny", True)


def test_a_run_that_a_crash_left_open_is_called_interrupted(pair: Pair) -> None:
    pair.store.begin_run()
    pair.store.end_run(pair.store.begin_run("embedding", force=True), "done", {})
    newest, oldest = reading.runs(pair.reader)
    assert (newest["status"], newest["scope"], newest["force"]) == ("done", "embedding", True)
    assert oldest["status"] == "interrupted"
    assert oldest["ended_at"]


def test_vectors_come_back_in_blocks_with_the_chunk_of_every_window(pair: Pair) -> None:
    ids = [chunk.id for chunk in pair.store.pending(10)]
    embed(pair, windows=2)
    blocks = list(iter_blocks(pair.reader, pair.generation, rows=3))
    assert [len(block.chunk_ids) for block in blocks] == [6, 2]
    assert np.concatenate([block.chunk_ids for block in blocks]).tolist() == sorted(ids * 2)
    for block in blocks:
        assert block.vectors.shape == (len(block.chunk_ids), 4)
        assert block.vectors.dtype == np.float32
        np.testing.assert_array_equal(block.vectors.argmax(axis=1), block.chunk_ids % 4)
    assert list(iter_blocks(pair.reader, pair.generation, after=max(ids))) == []


def test_packed_vectors_are_exact_and_a_torn_row_is_refused() -> None:
    matrix = np.random.default_rng(1).standard_normal((3, 5)).astype(np.float32)
    np.testing.assert_array_equal(unpack(pack(matrix), 3), matrix)
    np.testing.assert_array_equal(unpack(pack(np.asfortranarray(matrix)), 3), matrix)
    for data, count in ((pack(matrix)[:-1], 3), (b"", 0), (pack(matrix), 2)):
        with pytest.raises(StorageError, match="does not hold"):
            unpack(data, count)


def test_counting_looks_at_no_passage(pair: Pair) -> None:
    asked: list[str] = []
    pair.reader.set_trace_callback(asked.append)
    reading.kb_counts(pair.reader)
    pair.reader.set_trace_callback(None)
    counts = [sql for sql in asked if "count(*) FROM chunks" in sql]
    assert len(counts) == 3
    for sql in counts:
        plan = pair.reader.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall()
        assert all("USING COVERING INDEX" in row[3] for row in plan), sql
