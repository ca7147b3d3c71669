"""The semantic track over the file of int8 vectors."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from seoga.models import Chunk, ModelCard
from seoga.search.filters import Scope
from seoga.search.readers import close_readers, reading
from seoga.search.semantic import MATRICES, SemanticTrack
from seoga.storage.database import open_writer
from seoga.storage.documents import DocumentStore
from seoga.storage.records import ChunkVectors, FileRow, PreparedChunk, PreparedFile, Tokens

from .conftest import Shelf

CHILD = Path(__file__).with_name("writing_child.py")
CHUNKS = 4000
DIMENSION = 128


def test_int8_candidates_hold_the_ten_best_of_the_exact_search(tmp_path: Path) -> None:
    path = tmp_path / "rag.db"
    store = DocumentStore(open_writer(path))
    generation = store.ensure_generation(
        ModelCard("builtin", "random", "1", DIMENSION, "", "windows", 0.5)
    )
    rng = np.random.default_rng(11)
    centres = rng.standard_normal((40, DIMENSION))

    def near() -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
        rows = centres[rng.integers(40, size=2)] + 0.7 * rng.standard_normal((2, DIMENSION))
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)

    parts = [PreparedChunk(Chunk(n, "", 0, 0), Tokens(body=f"t{n}"), "ko") for n in range(CHUNKS)]
    store.commit_text([PreparedFile(FileRow("docs", "a.md", 1, 1, 0), "", parts)])
    held = {chunk.id: near() for chunk in store.pending(CHUNKS)}
    none = np.zeros(2, np.float32)
    store.commit_vectors(generation, [ChunkVectors(n, rows, none) for n, rows in held.items()])
    store.close()
    ids = np.array(list(held))
    everything = np.stack(list(held.values()))
    agreed = 0
    with reading(path) as conn:
        matrix = MATRICES.get(conn, path, generation, DIMENSION)
        assert matrix.shared
        for _ in range(100):
            query = near()[0]
            exact = ids[np.argsort(-(everything @ query).max(axis=1))[:10]]
            track = SemanticTrack(conn, matrix, generation, query)
            scores = track.score(track.candidates(Scope(), 50))
            found = sorted(scores, key=lambda chunk: -scores[chunk].cosine)[:10]
            agreed += len(set(found) & set(exact.tolist()))
    close_readers()
    MATRICES.clear()
    assert agreed / 1000 >= 0.99


def test_a_search_sees_what_another_process_has_just_committed(shelf: Shelf) -> None:
    shelf.put("old.md", "처음부터 있던 글")
    shelf.embed()
    assert shelf.paths("처음부터 있던 글", mode="vector") == ["old.md"]
    with subprocess.Popen(
        [sys.executable, CHILD, shelf.kb.db_path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdin
        assert child.stdout
        for number, text in enumerate(("바다 건너 온 편지", "산골 마을 우체국")):
            child.stdin.write(f"{text}\n")
            child.stdin.flush()
            assert child.stdout.readline() == "done\n"
            assert shelf.paths(text, mode="vector")[0] == f"child-{number}.md"
        child.stdin.close()
        assert child.wait(30) == 0


def test_without_its_file_the_stored_vectors_are_searched(shelf: Shelf) -> None:
    shelf.put("a.md", "배포 일정은 화요일입니다")
    shelf.embed()
    (lost,) = shelf.kb.db_path.parent.glob("*.vectors-*")
    lost.unlink()
    assert shelf.paths("배포 일정", mode="vector") == ["a.md"]
    with reading(shelf.kb.db_path) as conn:
        assert not MATRICES.get(conn, shelf.kb.db_path, shelf.generation, 256).shared
    shelf.store.make_matrices()
    assert shelf.paths("배포 일정", mode="vector") == ["a.md"]
    with reading(shelf.kb.db_path) as conn:
        assert MATRICES.get(conn, shelf.kb.db_path, shelf.generation, 256).shared


@pytest.mark.parametrize("missing", [False, True])
def test_filters_hold_inside_the_scan(shelf: Shelf, missing: bool) -> None:
    for n in range(80):
        shelf.put(f"many/{n}.md", "배포 일정 서버 점검")
    shelf.put("few/one.md", "배포 기록")
    shelf.embed()
    if missing:
        next(shelf.kb.db_path.parent.glob("*.vectors-*")).unlink()
    assert shelf.paths("배포 일정 서버 점검", mode="vector", path_glob="few/**") == ["few/one.md"]
