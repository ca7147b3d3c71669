"""The file of int8 vectors says what the database says, whatever happened in between."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from seoga.errors import StorageError
from seoga.storage import generations, matrixaudit, matrixfile
from seoga.storage.audit import DISPUTED, audit
from seoga.storage.database import open_reader, open_writer, snapshot, transaction
from seoga.storage.documents import DocumentStore
from seoga.storage.records import ChunkVectors
from seoga.storage.repair import repair

from .stored import DIMENSION, card, count, database, embed_all, prepared, vectors

CHILD = Path(__file__).with_name("vector_child.py")
POINTS = (
    "before the file",
    "half written",
    "before the sync",
    "before the commit",
    "after the commit",
    "new file before it counts",
    "new file before the commit",
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[DocumentStore]:
    store = DocumentStore(open_writer(database(tmp_path)))
    store.ensure_generation(card())
    store.commit_text([prepared("a.md", "alpha", "beta"), prepared("b.md", "gamma")])
    embed_all(store)
    yield store
    store.close()


def file_of(store: DocumentStore) -> matrixfile.MatrixState:
    generation = generations.target(store.conn)
    assert generation
    found = matrixfile.state(store.conn, generation, matrixfile.database_path(store.conn))
    assert found
    return found


def chunks_in(path: Path) -> list[int]:
    """The chunks that count in the file, as a reader finds them."""
    with closing(open_reader(path)) as conn, snapshot(conn):
        live = generations.live(conn)
        assert live
        found = matrixfile.state(conn, live[0], path)
        assert found
        held = np.array(matrixfile.mapped(found, DIMENSION)["chunk"])
        return sorted(held[~matrixfile.gone(conn, live[0], held, 0)].tolist())


def chunks_stored(path: Path) -> list[int]:
    with closing(open_reader(path)) as conn:
        sql = "SELECT v.chunk_id FROM vectors v JOIN generations g ON g.id = v.generation"
        rows = conn.execute(f"{sql} WHERE g.status = 'live' ORDER BY 1")
        return [row[0] for row in rows]


def assert_whole(store: DocumentStore) -> None:
    path = matrixfile.database_path(store.conn)
    assert chunks_in(path) == chunks_stored(path)
    assert count(store.conn, "matrix_new") == 0
    with closing(open_reader(path)) as conn:
        assert audit(conn)["vector file"] == []


def test_vectors_are_in_the_file_when_their_commit_is_seen(store: DocumentStore) -> None:
    assert_whole(store)
    assert file_of(store).windows == 3
    store.commit_text([prepared("c.md", "delta")])
    store.commit_vectors(1, [vectors(chunk.id, windows=3) for chunk in store.pending(10)])
    assert file_of(store).windows == 6
    record = matrixfile.mapped(file_of(store), DIMENSION)[-1]
    assert record["v"].tolist() == [127 if at == record["chunk"] % 4 else 0 for at in range(4)]
    assert record["scale"] == pytest.approx(1 / 127)


def test_removed_replaced_and_remade_vectors_count_no_more(store: DocumentStore) -> None:
    store.commit_text([prepared("a.md", "alpha", "changed")])
    assert_whole(store)
    embed_all(store)
    assert_whole(store)
    store.restart_embedding()
    embed_all(store)
    assert_whole(store)
    found = store.get("docs", "b.md")
    assert found
    store.remove([found.id])
    assert_whole(store)


def test_vectors_of_the_same_words_are_in_the_file_too(store: DocumentStore) -> None:
    store.commit_text([prepared("copy.md", "alpha", "beta")])
    assert store.pending(10) == []
    assert_whole(store)


def test_a_changed_language_is_written_again(store: DocumentStore) -> None:
    store.commit_text([prepared("a.md", "alpha", "beta", lang="en")])
    assert_whole(store)
    records = matrixfile.mapped(file_of(store), DIMENSION)
    assert records["lang"][-2:].tolist() == [2, 2]


def test_a_rolled_back_commit_leaves_nothing_that_counts(store: DocumentStore) -> None:
    before = file_of(store)
    store.commit_text([prepared("c.md", "delta")])
    wrong = ChunkVectors(store.pending(1)[0].id, np.ones((1, 3), np.float32), np.zeros(1))
    with pytest.raises(StorageError, match="dimensions"):
        store.commit_vectors(1, [wrong])
    assert file_of(store) == before
    embed_all(store)
    assert_whole(store)


@pytest.mark.parametrize("damage", ["missing", "short"])
def test_a_lost_file_is_made_again_by_the_next_run(store: DocumentStore, damage: str) -> None:
    path = file_of(store).path
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:70])
    store.commit_text([prepared("c.md", "delta")])
    embed_all(store)
    store.ensure_generation(card())
    assert_whole(store)


def test_the_file_of_another_index_is_not_taken_for_this_ones(store: DocumentStore) -> None:
    path = matrixfile.database_path(store.conn)
    stranger = path.with_name(f"{path.name}.vectors-1-00000000")
    stranger.write_bytes(b"x" * 4096)
    assert chunks_in(path) == chunks_stored(path)
    store.ensure_generation(card())
    assert not stranger.exists()


def test_records_with_wrong_numbers_are_found_and_mended(store: DocumentStore) -> None:
    path = file_of(store).path
    damaged = bytearray(path.read_bytes())
    damaged[0] ^= 1
    path.write_bytes(damaged)
    with closing(open_reader(matrixfile.database_path(store.conn))) as conn:
        faults = audit(conn)
    assert [fault.rows for fault in faults["vector file"]] == [(1,)]
    with transaction(store.conn):
        repair(store.conn, faults)
    store.make_matrices()
    assert_whole(store)


def test_a_file_that_is_mostly_of_the_past_is_made_anew(
    store: DocumentStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matrixfile, "_FEW", 4)
    old = file_of(store)
    for _ in range(2):
        store.restart_embedding()
        embed_all(store)
        store.sweep_generations()
    assert file_of(store).path != old.path
    assert file_of(store).windows == 3
    assert_whole(store)
    store.ensure_generation(card())
    assert not old.path.exists()


def test_a_new_model_has_a_file_of_its_own(store: DocumentStore) -> None:
    old = file_of(store).path
    store.ensure_generation(card("next"))
    assert chunks_in(matrixfile.database_path(store.conn)) == [1, 2, 3]
    embed_all(store)
    assert_whole(store)
    store.sweep_generations()
    store.ensure_generation(card("next"))
    assert not old.exists()
    # Back to the first model: its file is made of what is left of its vectors.
    store.ensure_generation(card())
    embed_all(store)
    assert_whole(store)


@pytest.mark.parametrize("point", POINTS)
def test_a_kill_between_file_and_database_leaves_no_ghost(store: DocumentStore, point: str) -> None:
    path = matrixfile.database_path(store.conn)
    store.close()
    done = subprocess.run([sys.executable, CHILD, path, point], timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL
    if not point.startswith("new file"):
        assert chunks_in(path) == chunks_stored(path)
        assert len(chunks_in(path)) == (5 if point == "after the commit" else 3)
    with closing(DocumentStore(open_writer(path))) as again:
        again.ensure_generation(card())
        assert_whole(again)
        embed_all(again)
        assert_whole(again)
        assert len(chunks_in(path)) == 5
        assert len(list(path.parent.glob("*.vectors-*"))) == 1


def flip_all(store: DocumentStore, chunk_id: int) -> None:
    """Every number of a stored vector gets the other sign: whole, finite, of unit length, wrong."""
    sql = "SELECT data FROM vectors WHERE chunk_id = ?"
    data = bytearray(store.conn.execute(sql, (chunk_id,)).fetchone()[0])
    for at in range(3, len(data), 4):
        data[at] ^= 0x80
    store.conn.execute("UPDATE vectors SET data = ? WHERE chunk_id = ?", (bytes(data), chunk_id))


def repaired(store: DocumentStore) -> dict[str, list[tuple[str, tuple[object, ...]]]]:
    """What is found, after it was mended."""
    with closing(open_reader(matrixfile.database_path(store.conn))) as conn:
        faults = audit(conn)
    with transaction(store.conn):
        repair(store.conn, faults)
    store.make_matrices()
    return {name: [(one.what, one.rows) for one in found] for name, found in faults.items()}


def test_a_stored_vector_that_is_not_as_it_was_written_is_made_again(store: DocumentStore) -> None:
    flip_all(store, 2)
    faults = repaired(store)
    assert faults["vectors"] == [("vectors that are not as they were written", ((1, 2),))]
    assert [chunk.id for chunk in store.pending(10)] == [2]
    embed_all(store)
    assert_whole(store)
    assert repaired(store)["vectors"] == []


def test_the_vector_of_another_passage_is_not_taken_for_this_ones(store: DocumentStore) -> None:
    swapped = "(SELECT {0} FROM vectors WHERE chunk_id = 3)"
    store.conn.execute(
        f"UPDATE vectors SET data = {swapped.format('data')}, seal = {swapped.format('seal')}"
        " WHERE chunk_id = 2"
    )
    assert repaired(store)["vectors"][0][1] == ((1, 2),)
    assert [chunk.id for chunk in store.pending(10)] == [2]


def test_where_no_checksum_tells_which_vector_is_right_both_go(store: DocumentStore) -> None:
    store.conn.execute("UPDATE vectors SET seal = NULL")
    flip_all(store, 2)
    faults = repaired(store)
    assert faults["vectors"] == []
    assert faults["vector file"] == [(DISPUTED, ((1, 2),))]
    assert [chunk.id for chunk in store.pending(10)] == [2]
    assert chunks_in(matrixfile.database_path(store.conn)) == [1, 3]
    embed_all(store)
    assert_whole(store)


@pytest.mark.parametrize("field", ["v", "scale", "file", "lang"])
def test_a_record_that_is_no_vector_or_has_the_same_is_never_in_dispute(
    store: DocumentStore, field: str
) -> None:
    store.conn.execute("UPDATE vectors SET seal = NULL")
    path = file_of(store).path
    held = np.fromfile(path, matrixfile.record(DIMENSION))
    held[field][0] = 7
    held.tofile(path)
    assert repaired(store)["vector file"][0][1] == (1,)
    assert store.pending(10) == []
    assert_whole(store)


def test_a_file_of_other_vectors_puts_none_of_the_stored_ones_in_dispute(
    store: DocumentStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matrixaudit, "_FEW", 1)
    store.conn.execute("UPDATE vectors SET seal = NULL")
    path = file_of(store).path
    held = np.fromfile(path, matrixfile.record(DIMENSION))
    held["v"] = -held["v"]
    held.tofile(path)
    assert repaired(store)["vector file"][0][1] == (1, 2, 3)
    assert store.pending(10) == []
    assert_whole(store)


def test_a_damaged_vector_is_lent_to_no_passage_of_the_same_words(store: DocumentStore) -> None:
    flip_all(store, 1)
    store.commit_text([prepared("copy.md", "alpha", "beta")])
    waiting = [chunk.id for chunk in store.pending(10)]
    texts = store.conn.execute(
        f"SELECT text FROM chunks WHERE id IN ({','.join(map(str, waiting))})"
    ).fetchall()
    assert texts == [("alpha",)]
    unsealed = store.conn.execute("SELECT count(*) FROM vectors WHERE seal IS NULL").fetchone()
    assert unsealed == (0,)
