"""Small documents for the tests of storage."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import numpy as np

from seoga.models import Chunk, ModelCard
from seoga.storage import generations
from seoga.storage.documents import DocumentStore
from seoga.storage.records import ChunkVectors, FileRow, PreparedChunk, PreparedFile, Tokens

DIMENSION = 4


def card(model: str = "tiny") -> ModelCard:
    return ModelCard("builtin", model, "digest", DIMENSION, "", "mean", 0.5)


def row(path: str, label: str = "docs", **more: Any) -> FileRow:
    return FileRow(label, path, size=1, mtime_ns=1, scanned_ns=2, **more)


def prepared(path: str, *texts: str, title: str = "title", **more: Any) -> PreparedFile:
    chunks, offset = [], 0
    for ordinal, text in enumerate(texts):
        chunk = Chunk(ordinal, text, offset, offset + len(text), ("Heading",))
        chunks.append(PreparedChunk(chunk, Tokens(title=title, heading="heading", body=text)))
        offset += len(text) + 2
    return PreparedFile(row(path, title=title, **more), "\n\n".join(texts), chunks)


def vectors(chunk_id: int, windows: int = 1) -> ChunkVectors:
    matrix = np.zeros((windows, DIMENSION), dtype=np.float32)
    matrix[:, chunk_id % DIMENSION] = 1
    return ChunkVectors(chunk_id, matrix, np.zeros(windows, dtype=np.float32))


def count(conn: Connection, table: str) -> int:
    return int(conn.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def found(conn: Connection, term: str) -> list[int]:
    rows = conn.execute(
        "SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH ? ORDER BY rowid", (f'"{term}"',)
    )
    return [each[0] for each in rows]


def assert_sound(conn: Connection) -> None:
    """Chunks, keyword index and term counts tell the same story."""
    for table in ("chunks_fts", "terms_trigram"):
        conn.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('integrity-check', 1)")
    ids = [each[0] for each in conn.execute("SELECT id FROM chunks ORDER BY id")]
    assert ids == [each[0] for each in conn.execute("SELECT rowid FROM chunks_fts ORDER BY rowid")]
    counted: Counter[str] = Counter()
    for fields in conn.execute("SELECT title, heading, body, context, keywords FROM chunks_fts"):
        counted.update(set(" ".join(fields).split()))
    assert dict(conn.execute("SELECT term, df FROM terms")) == dict(counted)
    for term in counted:
        if len(term) >= 3:
            hits = conn.execute(
                "SELECT 1 FROM terms_trigram WHERE terms_trigram MATCH ?", (f'"{term}"',)
            )
            assert hits.fetchone(), term
    assert conn.execute("PRAGMA foreign_key_check").fetchall() == []


def database(folder: Path) -> Path:
    return folder / "kb" / "rag.db"


def embed_all(store: DocumentStore) -> None:
    generation = generations.target(store.conn)
    assert generation
    store.commit_vectors(generation, [vectors(chunk.id) for chunk in store.pending(1000)])


def states(store: DocumentStore) -> dict[str, str]:
    return dict(store.conn.execute("SELECT path, state FROM files"))
