"""Retrieval quality on a benchmark folder, measured through the real store and `search()`."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from xxhash import xxh3_128_hexdigest

from seoga.contracts.embedding import Embedding
from seoga.errors import InvalidArgument
from seoga.kb import Kb, create_kb
from seoga.regularfile import open_text
from seoga.search.comparing import means
from seoga.search.engine import SearchRequest, search
from seoga.search.request import MAX_TOP_K
from seoga.text.tokens import TOKENIZER_VERSION

DEPTH: Final = 10
_PER_FOLDER: Final = 1000


@dataclass(frozen=True, slots=True)
class Benchmark:
    """`corpus`: id → Markdown; `queries`: id → text; `relevant`: query id → document id → gain."""

    corpus: Mapping[str, str]
    queries: Mapping[str, str]
    relevant: Mapping[str, Mapping[str, float]]


def evaluate(
    folders: Sequence[Path],
    request: SearchRequest,
    *,
    cache: Path,
    index: Callable[[Kb], object],
    embedding: Embedding | None,
) -> dict[str, float]:
    """nDCG, recall, MRR and latency of the first of these benchmark folders (corpus.jsonl,
    queries.jsonl, qrels.jsonl), with the corpora of all of them in one KB.

    Mode and fusion are those of `request`, whose query counts for nothing. `index` brings a KB up
    to date; the KB lies in `cache` under the hash of its documents, so that a second mode finds it
    ready. The first 10 distinct documents count, each by its best chunk, with abstention, folding
    and the cap a document off. nDCG is linear in the gain, as in trec_eval. Raises InvalidArgument
    for a folder that is no benchmark.
    """
    asked = prepare(folders, cache, index)
    scores, milliseconds = ask(asked, request, embedding)
    return {**means(scores), **latency(milliseconds)}


@dataclass(frozen=True, slots=True)
class Prepared:
    """An indexed benchmark; `names`: path → document id."""

    bench: Benchmark
    kb: Kb
    names: Mapping[str, str]


def prepare(folders: Sequence[Path], cache: Path, index: Callable[[Kb], object]) -> Prepared:
    """The first benchmark with the corpora of all of them, indexed in `cache`."""
    bench, *beside = map(load, folders)
    documents = [text for each in (bench, *beside) for text in each.corpus.values()]
    names = dict(zip(_paths(len(bench.corpus)), bench.corpus, strict=True))
    kb = _knowledge_base(cache, documents)
    index(kb)
    return Prepared(bench, kb, names)


def ask(
    asked: Prepared, request: SearchRequest, embedding: Embedding | None
) -> tuple[dict[str, dict[str, float]], list[float]]:
    """Measures of each question (nDCG, recall, MRR), and the milliseconds that each took."""
    scores: dict[str, dict[str, float]] = {}
    milliseconds: list[float] = []
    for query_id, text in asked.bench.queries.items():
        if query_id not in asked.bench.relevant:
            continue
        started = time.perf_counter()
        answer = search([asked.kb], _request(request, text), embedding)
        milliseconds.append((time.perf_counter() - started) * 1000)
        found = dict.fromkeys(hit.path for hit in answer.hits)
        ranked = [asked.names.get(path, "") for path in found][:DEPTH]
        scores[query_id] = _measures(ranked, asked.bench.relevant[query_id])
    return scores, milliseconds


def _why(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}"
    return f"{type(error).__name__}: {error}"


def load(folder: Path) -> Benchmark:
    """Reads a benchmark folder. Raises InvalidArgument when a file is missing or malformed."""
    try:
        corpus = {row["_id"]: _markdown(row) for row in _rows(folder / "corpus.jsonl")}
        queries = {row["_id"]: str(row["text"]) for row in _rows(folder / "queries.jsonl")}
        relevant: dict[str, dict[str, float]] = {}
        for row in _rows(folder / "qrels.jsonl"):
            if float(row["score"]) > 0:
                relevant.setdefault(row["query-id"], {})[row["corpus-id"]] = float(row["score"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidArgument(
            f"{folder} is no benchmark: {_why(error)}",
            "It needs corpus.jsonl, queries.jsonl and qrels.jsonl.",
        ) from error
    if not relevant:
        raise InvalidArgument(f"{folder} names no relevant document.")
    return Benchmark(corpus, queries, relevant)


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    with open_text(file) as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def _markdown(row: Mapping[str, Any]) -> str:
    title = " ".join(str(row.get("title") or "").replace("_", " ").split())
    heading = " ".join(str(row.get("heading") or "").split())
    lines = [f"# {title}"] if title else []
    if heading and heading != title:
        lines.append(f"## {heading}")
    return "\n\n".join([*lines, str(row["text"])]) + "\n"


def _paths(count: int) -> Iterator[str]:
    return (f"{number // _PER_FOLDER:03}/{number:06}.md" for number in range(count))


def _knowledge_base(cache: Path, documents: Sequence[str]) -> Kb:
    key = json.dumps([TOKENIZER_VERSION, *documents], ensure_ascii=False)
    home = cache / xxh3_128_hexdigest(key.encode("utf-8", "surrogatepass"))
    for name, text in zip(_paths(len(documents)), documents, strict=True):
        file = home / "documents" / name
        data = text.encode("utf-8", "replace")
        if not file.exists() or file.stat().st_size != len(data):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
    return create_kb(home / "base", home / "documents", "benchmark")


def _request(like: SearchRequest, query: str) -> SearchRequest:
    return SearchRequest(
        query=query,
        top_k=MAX_TOP_K,
        mode=like.mode,
        fusion=like.fusion,
        search_all=True,
        per_document=0,
        abstain=False,
        fold=False,
        max_chars=0,
    )


def _measures(found: Sequence[str], wanted: Mapping[str, float]) -> dict[str, float]:
    return {
        "ndcg_at_10": ndcg(found, wanted),
        "recall_at_5": len(wanted.keys() & set(found[:5])) / len(wanted),
        "recall_at_10": len(wanted.keys() & set(found)) / len(wanted),
        "mrr_at_10": _reciprocal_rank(found, wanted),
    }


def ndcg(found: Sequence[str], wanted: Mapping[str, float]) -> float:
    """nDCG@10 of documents, best first, with `wanted`: document → gain; linear in the gain."""
    gains = (wanted.get(document, 0.0) for document in found)
    best = sorted(wanted.values(), reverse=True)[:DEPTH]
    return _discounted(gains) / _discounted(iter(best))


def _discounted(gains: Iterator[float]) -> float:
    return sum(gain / math.log2(place + 1) for place, gain in enumerate(gains, 1))


def _reciprocal_rank(found: Sequence[str], wanted: Mapping[str, float]) -> float:
    return next((1 / place for place, each in enumerate(found, 1) if each in wanted), 0.0)


def latency(milliseconds: Sequence[float]) -> dict[str, float]:
    """Median and 95th percentile."""
    ordered = sorted(milliseconds) or [0.0]
    return {
        "ms_p50": round(ordered[len(ordered) // 2], 2),
        "ms_p95": round(ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))], 2),
    }
