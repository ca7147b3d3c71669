"""A large base is looked at through its sketch first, and gives what a scan of all would."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from seoga.models import Chunk, ModelCard
from seoga.search.filters import Scope
from seoga.search.matrix import Matrix
from seoga.search.readers import close_readers, reading
from seoga.search.semantic import MATRICES, SemanticTrack
from seoga.search.sketch import estimates
from seoga.storage import matrixfile, sketchfile
from seoga.storage.audit import audit
from seoga.storage.database import open_reader, open_writer
from seoga.storage.documents import DocumentStore
from seoga.storage.records import ChunkVectors, FileRow, PreparedChunk, PreparedFile, Tokens

DIMENSION = 128
CHUNKS = 3000
CARD = ModelCard("builtin", "random", "1", DIMENSION, "", "windows", 0.5)

Float32 = NDArray[np.float32]


def unit(rows: NDArray[Any]) -> Float32:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def noise(count: int, seed: int) -> Float32:
    return unit(np.random.default_rng(seed).standard_normal((count, DIMENSION)))


def leaning(count: int, seed: int) -> Float32:
    """All near one direction, as the vectors of many models are."""
    rng = np.random.default_rng(seed)
    centre = np.random.default_rng(99).standard_normal(DIMENSION)
    return unit(1.5 * centre + rng.standard_normal((count, DIMENSION)))


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(sketchfile, "LEAST", 1000)
    yield
    close_readers()
    MATRICES.clear()


def grown(path: Path, name: str, vectors: Float32) -> None:
    """Adds a document with a chunk for each of the vectors."""
    chunks = [Chunk(n, f"{name} {n}", 0, 1) for n in range(len(vectors))]
    parts = [PreparedChunk(chunk, Tokens(body="t"), "ko") for chunk in chunks]
    with closing(DocumentStore(open_writer(path))) as store:
        generation = store.ensure_generation(CARD)
        store.commit_text([PreparedFile(FileRow("docs", name, 1, 1, 0), "", parts)])
        none = np.zeros(1, np.float32)
        waiting = store.pending(len(vectors))
        rows = zip(waiting, vectors, strict=True)
        store.commit_vectors(generation, [ChunkVectors(c.id, v[None, :], none) for c, v in rows])
        store.make_matrices()


def read(path: Path) -> Matrix:
    with reading(path) as conn:
        return MATRICES.get(conn, path, 1, DIMENSION)


def found(path: Path, matrix: Matrix, query: Float32) -> list[int]:
    with reading(path) as conn:
        return SemanticTrack(conn, matrix, 1, query).candidates(Scope(), 50)


def sketch_of(path: Path) -> Path:
    (file,) = path.parent.glob("*.sketch")
    return file


@pytest.mark.parametrize("made", [noise, leaning])
def test_the_best_by_the_sketch_are_those_of_the_whole_scan(tmp_path: Path, made: Any) -> None:
    path = tmp_path / "rag.db"
    grown(path, "a.md", made(CHUNKS, 1))
    matrix = read(path)
    assert matrix.sketch is not None
    whole = replace(matrix, sketch=None)
    agreed = 0
    for query in made(100, 2):
        best = found(path, whole, query)[:10]
        agreed += len(set(best) & set(found(path, matrix, query)))
    assert agreed >= 985


def test_most_vectors_are_not_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "rag.db"
    grown(path, "a.md", noise(CHUNKS, 1))
    matrix = read(path)
    looked: list[int] = []
    scores = Matrix.scores

    def counted(self: Matrix, query: Float32, places: Any = None) -> Float32:
        looked.append(len(self.chunks) if places is None else len(places))
        return scores(self, query, places)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Matrix, "scores", counted)
        found(path, matrix, noise(1, 2)[0])
    assert sum(looked) < CHUNKS / 2


def test_estimates_err_as_much_as_they_say(tmp_path: Path) -> None:
    path = tmp_path / "rag.db"
    grown(path, "a.md", leaning(CHUNKS, 1))
    matrix = read(path)
    assert matrix.sketch
    for query in leaning(20, 2):
        errors = estimates(matrix.sketch, query) - matrix.scores(query)
        in_units = errors / matrix.sketch.rows["spread"]
        assert abs(in_units.mean()) < 0.3
        assert in_units.std() < 1.3


def test_what_is_added_later_is_found_through_the_same_sketch(tmp_path: Path) -> None:
    path = tmp_path / "rag.db"
    vectors = noise(CHUNKS + 5, 1)
    grown(path, "a.md", vectors[:CHUNKS])
    held = sketch_of(path).read_bytes()
    grown(path, "b.md", vectors[CHUNKS:])
    assert sketch_of(path).read_bytes()[: len(held)] == held
    matrix = read(path)
    assert matrix.sketch is not None
    assert found(path, matrix, vectors[-1])[0] == CHUNKS + 5


def test_a_small_base_has_no_sketch_until_it_grows(tmp_path: Path) -> None:
    path = tmp_path / "rag.db"
    vectors = noise(CHUNKS, 1)
    grown(path, "a.md", vectors[:900])
    assert not list(tmp_path.glob("*.sketch"))
    grown(path, "b.md", vectors[900:1100])
    first = sketch_of(path).read_bytes()
    grown(path, "c.md", vectors[1100:])
    assert sketch_of(path).read_bytes()[: len(first)] == first
    # The mean of so many more is taken anew.
    grown(path, "d.md", noise(2000, 3))
    assert sketch_of(path).read_bytes()[: len(first)] != first


@pytest.mark.parametrize("harm", ["gone", "short", "empty"])
def test_without_a_whole_sketch_all_is_scanned_until_it_is_made_again(
    tmp_path: Path, harm: str
) -> None:
    path = tmp_path / "rag.db"
    vectors = noise(CHUNKS, 1)
    grown(path, "a.md", vectors)
    file = sketch_of(path)
    whole = file.read_bytes()
    file.unlink()
    if harm != "gone":
        file.write_bytes(whole[:-1] if harm == "short" else b"")
    matrix = read(path)
    assert matrix.sketch is None
    assert found(path, matrix, vectors[7])[0] == 8
    grown(path, "b.md", noise(1, 3))
    assert sketch_of(path).read_bytes()[: len(whole)] == whole


def test_a_sketch_that_lies_is_told_and_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "rag.db"
    grown(path, "a.md", noise(CHUNKS, 1))
    file = sketch_of(path)
    held = bytearray(file.read_bytes())
    held[-40] ^= 0xFF
    file.write_bytes(held)
    with closing(open_reader(path)) as conn:
        assert audit(conn)["vector file"]


def test_a_sketch_goes_with_its_vectors(tmp_path: Path) -> None:
    path = tmp_path / "rag.db"
    grown(path, "a.md", noise(CHUNKS, 1))
    old = sketch_of(path)
    with closing(DocumentStore(open_writer(path))) as store:
        store.conn.execute("DELETE FROM matrices")
        store.make_matrices()
        state = matrixfile.state(store.conn, 1, path)
        assert state
        assert not old.exists()
        assert sketch_of(path) == sketchfile.beside(state.path)
