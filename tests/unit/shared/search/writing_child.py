"""Adds a document with its vectors for every line of its input, and says so."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from seoga.models import Chunk, EmbeddingSpec
from seoga.storage import generations
from seoga.storage.database import open_writer
from seoga.storage.documents import DocumentStore
from seoga.storage.records import ChunkVectors, FileRow, PreparedChunk, PreparedFile, Tokens
from seoga.text.tokens import index_text
from seoga_embedding.registry import open_provider


def main(path: Path) -> None:
    store = DocumentStore(open_writer(path))
    generation = generations.target(store.conn)
    assert generation
    provider, _ = open_provider(EmbeddingSpec("hashing"))
    for number, line in enumerate(sys.stdin):
        text = line.strip()
        chunk = PreparedChunk(Chunk(0, text, 0, len(text)), Tokens(body=index_text(text)), "ko")
        row = FileRow("docs", f"child-{number}.md", size=1, mtime_ns=1, scanned_ns=0)
        store.commit_text([PreparedFile(row, text, [chunk])])
        vectors = np.asarray(provider.embed([text], "document"), np.float32)
        waiting = store.pending(10)
        store.commit_vectors(
            generation,
            [ChunkVectors(each.id, vectors, np.zeros(1, np.float32)) for each in waiting],
        )
        print("done", flush=True)
    store.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
