"""Other systems on the same passages: LanceDB (hybrid, same vectors), Haystack and qmd (BM25).

    .venv/bin/pip install lancedb haystack-ai     # they are no part of the project
    npm install -g @tobilu/qmd                    # Node 22; its models come from a hub
    make bench NAME=against                       # SETS="korquad_ko xquad_en" asks fewer

Asked are the first QUESTIONS=100 of each set, and those who are installed.
Each handed set is indexed once by Seoga; the others get its chunks, titles before them, and its
vectors (one row a window). LanceDB: full-text index over letters in pairs and threes ("ngram", its
better one for Korean) and over words with stems, its own hybrid search with reciprocal rank
fusion; Haystack: BM25 in memory with its own tokens; qmd: `qmd search`, a process a question, so
that its time says little. Printed for each: nDCG@10, milliseconds a question (median), seconds to
put everything in, and the ratios to Seoga.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from importlib import import_module
from math import inf
from pathlib import Path
from statistics import mean, median
from typing import Any

from bench import HANDED, one_thread

from seoga.models import EmbeddingSpec
from seoga.search import evaluation
from seoga.search.comparing import means
from seoga.search.engine import SearchRequest
from seoga.search.readers import reading
from seoga.settings import Settings
from seoga.storage import generations, vectors
from seoga.wiring import Stack

QUESTIONS = int(os.environ.get("QUESTIONS", "100"))
SETS = "korquad_ko strategyqa_ko xquad_en scifact_en xl_ko2en_react_fastapi"
CANDIDATES = 60
SPEC = EmbeddingSpec("builtin")
# Document ids, best first, for a question and its vector.
Asked = Callable[[str, Any], list[str]]


class Rows:
    """What Seoga holds of a set: `texts` a chunk, and a row a window: (chunk, (512,) vector)."""

    def __init__(self, asked: evaluation.Prepared) -> None:
        with reading(asked.kb.db_path) as conn:
            live = generations.live(conn)
            assert live
            found = conn.execute(
                "SELECT c.id, f.path, f.title, c.text, v.data, v.count FROM chunks c JOIN files f"
                " ON f.id = c.file_id JOIN vectors v ON v.chunk_id = c.id AND v.generation = ?",
                (live[0],),
            ).fetchall()
        self.texts = {row[0]: f"{row[2]}\n{row[3]}" for row in found}
        self.documents = {row[0]: asked.names.get(row[1], "") for row in found}
        self.windows = [
            (row[0], vector) for row in found for vector in vectors.unpack(row[4], row[5])
        ]

    def documents_of(self, chunks: Sequence[int]) -> list[str]:
        """The distinct documents of chunks, in their order."""
        return list(dict.fromkeys(self.documents[chunk] for chunk in chunks))


def lance(rows: Rows, folder: Path, **tokens: Any) -> Asked:
    """A LanceDB table with a full-text index."""
    table = (
        import_module("lancedb")
        .connect(folder)
        .create_table(
            "chunks",
            [
                {"chunk": chunk, "text": rows.texts[chunk], "vector": vector}
                for chunk, vector in rows.windows
            ],
        )
    )
    table.create_index("text", config=import_module("lancedb.index").FTS(**tokens))

    def ask(question: str, vector: Any) -> list[str]:
        query = table.search(query_type="hybrid").vector(vector).text(question).limit(CANDIDATES)
        return rows.documents_of([row["chunk"] for row in query.to_list()])

    return ask


def haystack(rows: Rows, _: Path) -> Asked:
    """Haystack's store in memory."""
    kind = import_module("haystack").Document
    stores = import_module("haystack.document_stores.in_memory")
    store = stores.InMemoryDocumentStore(return_embedding=False)
    store.write_documents([kind(id=str(chunk), content=text) for chunk, text in rows.texts.items()])

    def ask(question: str, _: Any) -> list[str]:
        found = store.bm25_retrieval(question, top_k=CANDIDATES)
        return rows.documents_of([int(one.id) for one in found])

    return ask


def qmd(rows: Rows, folder: Path) -> Asked:
    """A qmd collection with a file a chunk, its text alone: the folder's names say nothing."""
    command = shutil.which("qmd")
    if command is None:
        raise ImportError("qmd")
    files = folder / "qmd"
    files.mkdir(parents=True)
    for chunk, text in rows.texts.items():
        (files / f"{chunk}.md").write_text(text, encoding="utf-8")
    environment = {**os.environ, "XDG_CACHE_HOME": f"{folder}/c", "XDG_CONFIG_HOME": f"{folder}/d"}

    def run(*words: str) -> str:
        told = subprocess.run(
            [command, *words], env=environment, stdout=subprocess.PIPE, check=True, text=True
        )
        return told.stdout

    run("collection", "add", str(files), "--name", "chunks")

    def ask(question: str, _: Any) -> list[str]:
        found = run("search", question, "--format", "json", "-n", str(CANDIDATES))
        # Where it finds nothing it says so in words.
        hits = json.loads(found) if found.lstrip().startswith("[") else []
        return rows.documents_of([int(Path(hit["file"]).stem) for hit in hits])

    return ask


OTHERS: dict[str, Callable[[Rows, Path], Asked]] = {
    "lancedb ngram": lambda rows, folder: lance(
        rows,
        folder / "ngram",
        base_tokenizer="ngram",
        ngram_min_length=2,
        ngram_max_length=3,
        stem=False,
        remove_stop_words=False,
    ),
    "lancedb words": lambda rows, folder: lance(rows, folder / "words"),
    "haystack": haystack,
    "qmd": qmd,
}
# Those that look for words alone.
WORDS = ("haystack", "qmd")


def compared(asked: evaluation.Prepared, stack: Stack, folder: Path) -> None:
    """Prints a line for Seoga in two modes and for each of the others."""
    bench = replace(asked.bench, queries=dict(list(asked.bench.queries.items())[:QUESTIONS]))
    asked = replace(asked, bench=bench)
    own = {}
    for mode in ("auto", "bm25"):
        evaluation.ask(asked, SearchRequest("warm", mode=mode), stack.embedding)
        scores, spent = evaluation.ask(asked, SearchRequest("", mode=mode), stack.embedding)
        own[mode] = (means(scores)["ndcg_at_10"], median(spent))
        print(f"  seoga {mode:18} nDCG@10 {own[mode][0]:.3f}   {own[mode][1]:7.1f} ms")
    rows = Rows(asked)
    wanted = [one for one in bench.queries if one in bench.relevant]
    for name, make in OTHERS.items():
        started = time.perf_counter()
        try:
            ask = make(rows, folder)
        except ImportError as error:
            print(f"  {name:24} is not installed ({error.name or error})")
            continue
        built = time.perf_counter() - started
        gains, spent = [], []
        for one in wanted:
            text = bench.queries[one]
            begun = time.perf_counter()
            vector = stack.embedding.embed_query(text, SPEC)
            found = ask(text, vector)[: evaluation.DEPTH]
            spent.append(1e3 * (time.perf_counter() - begun))
            gains.append(evaluation.ndcg(found, bench.relevant[one]))
        score, ms = mean(gains), median(spent)
        best = own["bm25" if name in WORDS else "auto"]
        print(
            f"  {name:24} nDCG@10 {score:.3f}   {ms:7.1f} ms   in {built:5.1f} s;"
            f" seoga/{name.split()[0]}: nDCG {best[0] / score if score else inf:.2f},"
            f" time {best[1] / ms:.2f}",
            flush=True,
        )


def main() -> int:
    one_thread()
    names = os.environ.get("SETS", SETS).split()
    with tempfile.TemporaryDirectory(prefix="seoga-bench-") as scratch:
        home = Path(scratch)
        stack = Stack(Settings(base_path=home / "base", cache_path=home / "cache", offline=True))
        with closing(stack):
            for name in names:
                folder = [HANDED / "bench" / name]
                asked = evaluation.prepare(folder, home / name, stack.indexing.run_kb)
                print(f"{name}, {len(asked.bench.corpus)} documents", flush=True)
                compared(asked, stack, home / name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
