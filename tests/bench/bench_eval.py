"""Retrieval quality: every handed benchmark in every mode, then one mixed knowledge base.

Optional arguments name the sets to run: `bench_eval.py korquad_ko mixed`.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench import HANDED, SEOGA, clean_environment, run_json

SETS = (
    "korquad_ko",
    "strategyqa_ko",
    "xquad_en",
    "scifact_en",
    "xl_ko2en_react_fastapi",
    "xl_en2ko_react_fastapi",
)
MIXED = ("korquad_ko", "xquad_en", "scifact_en", "xl_ko2en_react_fastapi")
ASKED_OF_MIXED = ("korquad_ko", "xl_ko2en_react_fastapi")
MODES = ("auto", "bm25", "vector")
KEYS = ("ndcg_at_10", "recall_at_5", "recall_at_10", "mrr_at_10", "ms_p50", "ms_p95")


def evaluate(folder: Path, mode: str, environment: dict[str, str]) -> dict[str, Any]:
    return run_json([*SEOGA, "eval", str(folder), "--mode", mode, "--json"], environment)


def row(name: str, mode: str, result: dict[str, Any]) -> str:
    return f"{name:32}{mode:8}" + "".join(f"{result[key]:>13.4f}" for key in KEYS)


def mixed_folders(scratch: Path) -> list[Path]:
    """Folders with one corpus, all four sets together, and the questions of one set each."""
    corpus = []
    for name in MIXED:
        with (HANDED / "bench" / name / "corpus.jsonl").open(encoding="utf-8") as lines:
            for line in lines:
                document = json.loads(line)
                document["_id"] = f"{name}/{document['_id']}"
                corpus.append(json.dumps(document, ensure_ascii=False))
    folders = []
    for name in ASKED_OF_MIXED:
        folder = scratch / f"mixed_{name}"
        folder.mkdir()
        (folder / "corpus.jsonl").write_text("\n".join(corpus) + "\n", encoding="utf-8")
        shutil.copy(HANDED / "bench" / name / "queries.jsonl", folder)
        with (HANDED / "bench" / name / "qrels.jsonl").open(encoding="utf-8") as lines:
            judged = [json.loads(line) for line in lines]
        for judgement in judged:
            judgement["corpus-id"] = f"{name}/{judgement['corpus-id']}"
        text = "\n".join(json.dumps(judgement, ensure_ascii=False) for judgement in judged)
        (folder / "qrels.jsonl").write_text(text + "\n", encoding="utf-8")
        folders.append(folder)
    return folders


def main() -> None:
    wanted = sys.argv[1:] or os.environ.get("SETS", "").split() or [*SETS, "mixed"]
    print(f"{'set':32}{'mode':8}" + "".join(f"{key:>13}" for key in KEYS))
    with tempfile.TemporaryDirectory(prefix="seoga-bench-") as name:
        scratch = Path(name)
        environment = clean_environment(scratch / "base")
        folders = [HANDED / "bench" / one for one in wanted if one != "mixed"]
        folders += mixed_folders(scratch) if "mixed" in wanted else []
        for folder in folders:
            scores = {}
            for mode in MODES:
                result = evaluate(folder, mode, environment)
                scores[mode] = result["ndcg_at_10"]
                print(row(folder.name, mode, result), flush=True)
            best = max(scores["bm25"], scores["vector"])
            print(f"{'':32}auto - better track = {scores['auto'] - best:+.4f}", flush=True)


if __name__ == "__main__":
    main()
