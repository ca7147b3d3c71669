"""Makes a large knowledge base out of the corpus's words, written through the real storage layer.

Words are drawn by their frequency in the handed Korean and English sets, with a topic a document
and identifiers of which each is rare; a chunk's vectors are the builtin model's vectors of its
words, averaged, with noise. The same seed gives the same base.

    python tests/bench/scale_kb.py CHUNKS [FOLDER]
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from bench import HANDED
from numpy.typing import NDArray

from seoga.models import Chunk, ChunkState, EmbeddingSpec, ModelCard
from seoga.storage import content, filerows, vectors
from seoga.storage.audit import Fault
from seoga.storage.database import open_writer, transaction
from seoga.storage.documents import DocumentStore
from seoga.storage.packing import PackedFile, pack
from seoga.storage.records import ChunkVectors, FileRow, PreparedChunk, PreparedFile, Tokens
from seoga.storage.repair import repair
from seoga.text.tokens import index_text

SEED = 20261130
SETS = {"ko": ("korquad_ko", "strategyqa_ko"), "en": ("scifact_en", "xquad_en")}
WORDS = 55
PER_DOCUMENT = 8
PER_TASK = 64
EMBEDDED = 6_000
# Words of a window that its vector speaks of.
SPOKEN = 16
DIMENSION = 512
SPEC = EmbeddingSpec("builtin")

Float32 = NDArray[np.float32]
# Packed documents, and the (windows, 512) vectors of the chunks of each.
Batch = tuple[list[PackedFile], list[list[Float32]]]


@cache
def vocabulary(lang: str) -> tuple[list[str], NDArray[np.float64]]:
    """Words of a language, most frequent first, with their probabilities summed up."""
    counts: Counter[str] = Counter()
    for name in SETS[lang]:
        with (HANDED / "bench" / name / "corpus.jsonl").open(encoding="utf-8") as lines:
            for line in lines:
                counts.update(json.loads(line)["text"].split())
    pairs = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    weights = np.array([count for _, count in pairs], float)
    return [word for word, _ in pairs], np.cumsum(weights / weights.sum())


def word_vectors(cache_file: Path) -> dict[str, Float32]:
    """(words, 512) of the frequent words by the builtin model, per language."""
    if not cache_file.exists():
        from seoga_embedding.registry import open_provider

        provider, _ = open_provider(SPEC)
        made = {}
        for lang in SETS:
            words = vocabulary(lang)[0][:EMBEDDED]
            made[lang] = np.concatenate(
                [provider.embed(words[at : at + 64], "document") for at in range(0, EMBEDDED, 64)]
            )
        np.savez(cache_file, **made)
    with np.load(cache_file) as held:
        return {lang: held[lang] for lang in SETS}


class Maker:
    """Makes documents by number; nothing but the number decides what is in one."""

    def __init__(self, cache_file: Path) -> None:
        self.vectors = word_vectors(cache_file)
        noise = np.random.default_rng(SEED).standard_normal((4096, DIMENSION))
        self.noise = (0.5 * noise / np.sqrt(DIMENSION)).astype(np.float32)
        self.words = {lang: np.array(vocabulary(lang)[0], object) for lang in SETS}

    def task(self, number: int) -> Batch:
        """PER_TASK packed documents, and the (windows, 512) vectors of their chunks."""
        files, made = [], []
        for document in range(number * PER_TASK, (number + 1) * PER_TASK):
            file, rows = self.document(document)
            files.append(file)
            made.append(rows)
        return files, made

    def document(self, number: int) -> tuple[PackedFile, list[Float32]]:
        rng = np.random.default_rng([SEED, number])
        lang = ("ko", "en")[number % 2]
        words, sums = vocabulary(lang)
        topic = np.searchsorted(sums, rng.random(12))
        title = " ".join(words[at] for at in topic[:3])
        chunks: list[PreparedChunk] = []
        rows: list[Float32] = []
        offset = 0
        for ordinal in range(PER_DOCUMENT):
            drawn = np.searchsorted(sums, rng.random(int(rng.integers(WORDS // 2, WORDS * 3 // 2))))
            on_topic = rng.random(len(drawn)) < 0.15
            drawn[on_topic] = rng.choice(topic, int(on_topic.sum()))
            spoken = self.words[lang][np.minimum(drawn, len(words) - 1)].tolist()
            if rng.random() < 0.3:
                spoken[0] = f"REQ-{rng.integers(1_000_000)}"
            text = " ".join(spoken)
            heading = " ".join(words[at] for at in rng.choice(topic, 2))
            chunk = Chunk(ordinal, text, offset, offset + len(text), (heading,))
            tokens = Tokens(index_text(title), index_text(heading), index_text(text))
            chunks.append(PreparedChunk(chunk, tokens, lang))
            rows.append(self.windows(lang, drawn, rng))
            offset += len(text) + 2
        whole = "\n\n".join(each.chunk.text for each in chunks)
        row = FileRow(
            label="bench",
            path=f"{lang}/{number // 1000:04d}/{number:07d}.md",
            size=len(whole),
            mtime_ns=(1_700_000_000 + number) * 10**9,
            scanned_ns=0,
            hash=f"{number:032x}",
            format="markdown",
            title=title,
            lang=lang,
        )
        return pack(PreparedFile(row, whole, chunks)), rows

    def windows(self, lang: str, drawn: NDArray[np.int64], rng: np.random.Generator) -> Float32:
        """One window, or for every second chunk two: halves."""
        parts = np.array_split(drawn, 1 if rng.random() < 0.5 else 2)
        made = []
        for part in parts:
            known = part[part < EMBEDDED][:SPOKEN]
            mean = self.vectors[lang][known].sum(axis=0) / np.sqrt(max(len(known), 1))
            made.append(mean + self.noise[rng.integers(len(self.noise))])
        rows = np.array(made, np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


_made: list[Maker] = []


def _start(cache_file: Path) -> None:
    _made.append(Maker(cache_file))


def _task(number: int) -> Batch:
    return _made[0].task(number)


def queries(count: int, seed: int = 7) -> list[str]:
    """Questions of 2 to 8 words, a part of what documents say; every tenth with an identifier."""
    rng = np.random.default_rng([SEED, seed])
    out = []
    for number in range(count):
        words, sums = vocabulary(("ko", "en")[number % 2])
        drawn = np.searchsorted(sums, rng.random(int(rng.integers(2, 9))))
        # Nobody asks with the most frequent words alone.
        rare = rng.integers(200, len(words))
        spoken = [words[at] for at in drawn] + [words[rare]]
        if number % 10 == 0:
            spoken.append(f"REQ-{rng.integers(1_000_000)}")
        out.append(" ".join(spoken))
    return out


def card() -> ModelCard:
    from seoga.settings import settings
    from seoga_embedding.engine import EmbeddingEngine

    return EmbeddingEngine(settings()).card(SPEC)


def batches(
    chunks: int, cache_file: Path
) -> Iterator[tuple[list[PackedFile], list[list[Float32]]]]:
    tasks = -(-chunks // (PER_TASK * PER_DOCUMENT))
    word_vectors(cache_file)
    with get_context("spawn").Pool(1, _start, (cache_file,)) as pool:
        yield from pool.imap(_task, range(tasks))


def make(chunks: int, folder: Path, bulk: bool = False, **config: Any) -> Path:
    """A base of about so many chunks under `folder`, kept for the next time. Returns its KB.
    `bulk` writes the same rows with what is derived (terms, vector file) made once, at the end."""
    kb = folder / f"base-{chunks}{'-bulk' if bulk else ''}" / "scale"
    if (kb / "complete").exists():
        return kb
    kb.mkdir(parents=True, exist_ok=True)
    about = {"id": "scale", "name": "scale", "sourcePaths": [], **config}
    (kb / "config.json").write_text(json.dumps(about), encoding="utf-8")
    with closing(DocumentStore(open_writer(kb / "rag.db"))) as store:
        generation = store.ensure_generation(card())
        if bulk:
            store.conn.execute("DELETE FROM matrices")
        started, done = time.perf_counter(), 0
        for number, (files, rows) in enumerate(batches(chunks, folder / "words.npz"), start=1):
            write = _write_bulk if bulk else _write
            done += write(store, generation, files, [row for each in rows for row in each])
            if number % 40 == 0:
                print(f"{done} chunks, {done / (time.perf_counter() - started):.0f} a second")
        if bulk:
            with transaction(store.conn):
                repair(store.conn, {"terms": [Fault("terms", "not counted yet", 1)]})
            store.make_matrices()
        store.end_run(store.begin_run(), "done", {})
    (kb / "complete").write_text("", encoding="utf-8")
    return kb


def _write(
    store: DocumentStore, generation: int, files: list[PackedFile], rows: list[Float32]
) -> int:
    store.commit_packed(files, reuse=False)
    waiting = store.pending(len(rows))
    made = [
        ChunkVectors(chunk.id, row, np.zeros(len(row), np.float32))
        for chunk, row in zip(waiting, rows, strict=True)
    ]
    return store.commit_vectors(generation, made)


def _write_bulk(
    store: DocumentStore, generation: int, files: list[PackedFile], rows: list[Float32]
) -> int:
    with transaction(store.conn) as conn:
        plan = content.begin(conn, ChunkState.INDEXED)
        first = plan.next_id
        ids, known = filerows.numbered(conn, [file.row for file in files])
        values = []
        for file_id, file in zip(ids, files, strict=True):
            states = plan.replace((), file_id, file.chunks, reuse=False)
            values.append(filerows.values(file.row, file_id, len(states), file.chars))
        filerows.write(conn, values, known)
        conn.executemany(
            "INSERT INTO texts (file_id, text, marks) VALUES (?, ?, ?)",
            [(number, one.text, one.marks) for number, one in zip(ids, files, strict=True)],
        )
        plan.terms.clear()
        plan.apply(conn)
        conn.executemany(
            "INSERT INTO vectors (chunk_id, generation, count, data, penalties)"
            " VALUES (?, ?, ?, ?, ?)",
            [
                (first + at, generation, len(row), vectors.pack(row), bytes(4 * len(row)))
                for at, row in enumerate(rows)
            ],
        )
    return len(rows)


def data_folder() -> Path:
    """Where large bases are kept between runs."""
    chosen = os.environ.get("SEOGA_BENCH_DATA")
    folder = Path(chosen) if chosen else Path(tempfile.gettempdir()) / "seoga-bench-data"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


if __name__ == "__main__":
    where = Path(sys.argv[2]) if len(sys.argv) > 2 else data_folder()
    where.mkdir(parents=True, exist_ok=True)
    with_time = time.perf_counter()
    bulk = int(sys.argv[1]) > 200_000
    print(make(int(sys.argv[1]), where, bulk), f"{time.perf_counter() - with_time:.0f} s")
