"""Search in a large base (SIZE=100000 or 1000000 chunks, 512 numbers, 1 to 2 windows a chunk).

Hybrid queries in process: p50 and p95 by the clock and in CPU time of the searching thread (on a
busy machine only that says much), opening, and whether a commit is seen at once. Beside each query,
in the same run: a bare simsimd scan of the same bytes and one bare FTS5 query. What a gateway's
worker takes of memory is shown by bench_memory.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import scale_kb
import simsimd
from bench import one_thread

from seoga.kb import load_kb
from seoga.models import Chunk
from seoga.search.engine import SearchRequest, search
from seoga.search.query import analyse
from seoga.search.readers import reading
from seoga.search.semantic import MATRICES
from seoga.settings import settings
from seoga.storage import generations
from seoga.storage.database import open_writer
from seoga.storage.documents import DocumentStore
from seoga.storage.records import ChunkVectors, FileRow, PreparedChunk, PreparedFile, Tokens
from seoga.text.tokens import index_text
from seoga_embedding.engine import EmbeddingEngine

QUERIES = int(os.environ.get("QUERIES", "120"))
BARE = "SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH ? ORDER BY rank LIMIT 50"


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """(clock, CPU of this thread) in ms."""
    wall, cpu = time.perf_counter(), time.thread_time()
    work()
    return 1e3 * (time.perf_counter() - wall), 1e3 * (time.thread_time() - cpu)


def told(name: str, times: list[tuple[float, float]]) -> None:
    wall, cpu = np.array(times).T
    of = [np.percentile(each, at) for each in (wall, cpu) for at in (50, 95)]
    print(
        f"{name:<22} clock p50 {of[0]:7.1f}  p95 {of[1]:7.1f}   "
        f"CPU p50 {of[2]:7.1f}  p95 {of[3]:7.1f} ms"
    )


def add_one(path: Path, word: str) -> None:
    """Both commits of a document, by another connection."""
    with closing(DocumentStore(open_writer(path))) as store:
        chunk = PreparedChunk(Chunk(0, word, 0, len(word)), Tokens(body=index_text(word)), "ko")
        row = FileRow("bench", f"new/{word}.md", size=1, mtime_ns=time.time_ns(), scanned_ns=0)
        store.commit_text([PreparedFile(row, word, [chunk])])
        rows = np.eye(1, scale_kb.DIMENSION, dtype=np.float32)
        generation = generations.target(store.conn) or 0
        none = np.zeros(1, np.float32)
        waiting = store.pending(10)
        store.commit_vectors(generation, [ChunkVectors(one.id, rows, none) for one in waiting])


def main() -> int:
    one_thread()
    size = int(os.environ.get("SIZE", "100000"))
    folder = scale_kb.make(size, scale_kb.data_folder(), bulk=size > 200_000)
    with closing(DocumentStore(open_writer(folder / "rag.db"))) as store:
        store.ensure_generation(scale_kb.card())
    kb, engine = load_kb(folder), EmbeddingEngine(settings())
    engine.embed_query("warm", scale_kb.SPEC)
    opened = timed(lambda: search([kb], SearchRequest("first 처음"), engine))
    asked = scale_kb.queries(QUERIES)
    hybrid, keyword, vector, bare, scan = [], [], [], [], []
    with reading(kb.db_path) as conn:
        live = generations.live(conn)
        assert live
        matrix = MATRICES.get(conn, kb.db_path, live[0], scale_kb.DIMENSION)
        windows = len(matrix.records)
        print(f"{size} chunks, {windows / size:.2f} windows each, load {os.getloadavg()[0]:.0f}")
        for text in asked:
            hybrid.append(timed(lambda text=text: search([kb], SearchRequest(text), engine)))
            only = SearchRequest(text, mode="bm25")
            keyword.append(timed(lambda only=only: search([kb], only, engine)))
            meant = SearchRequest(text, mode="vector")
            vector.append(timed(lambda meant=meant: search([kb], meant, engine)))
            query = np.ones((1, scale_kb.DIMENSION), np.int8)
            rows = matrix.records["v"]
            scan.append(timed(lambda q=query, r=rows: simsimd.cdist(q, r, "dot")))
            match = " OR ".join(f'"{term}"' for term in analyse(text).terms)
            bare.append(timed(lambda m=match: conn.execute(BARE, (m,)).fetchall()))
    told("hybrid", hybrid)
    told("keyword only", keyword)
    told("vector only", vector)
    told("bare simsimd scan", scan)
    told("bare FTS5, all terms", bare)
    print(f"first search {opened[0]:.0f} ms ({opened[1]:.0f} CPU), with opening")
    word = f"새문서{time.time_ns()}"
    add_one(kb.db_path, word)
    seen = timed(lambda: search([kb], SearchRequest(word), engine))
    hits = search([kb], SearchRequest(word), engine).hits
    at_once = bool(hits) and hits[0].path == f"new/{word}.md"
    print(f"a commit is seen at once: {at_once}, {seen[0]:.0f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
