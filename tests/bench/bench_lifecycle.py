"""Retired documents in search: 500 questions to the handed ADR, EIP and CIP corpora.

Questions are titles and first sentences of documents, of retired ones first. Printed: how many
answers held a retired document (stale leaks), how many living documents were missing though their
own title asked for them with retired ones shown (false hides), and for how many questions whose
best document is retired the living end of its chain was shown; then the relations of
`lifecycle_pairs.tsv` that were resolved. Arguments: search modes (default: auto).
"""

from __future__ import annotations

import csv
import shutil
import sqlite3
import sys
import tempfile
from pathlib import Path

from bench import HANDED

from seoga.kb import Kb, create_kb
from seoga.search.engine import SearchRequest, search
from seoga.search.lifecycle import LIFECYCLES, Lifecycle
from seoga.search.readers import reading
from seoga.search.succession import Edge
from seoga.settings import Settings
from seoga.text.sentences import sentence_spans
from seoga.wiring import Stack

FOLDERS = ("adr_log4brains", "adr_log4brains_ro", "adr_madr", "adr_moj_modernisation", "cip", "eip")
QUESTIONS = 500
TOP_K = 10


def questions(conn: sqlite3.Connection, retired: frozenset[int]) -> list[str]:
    """Titles, then first sentences; retired documents first, QUESTIONS in all."""
    rows = conn.execute(
        "SELECT f.id, f.title, c.text FROM files f JOIN chunks c ON c.file_id = f.id"
        " AND c.ordinal = 0 ORDER BY f.id"
    ).fetchall()
    rows.sort(key=lambda row: row[0] not in retired)
    titles = [title for _, title, _ in rows if title]
    firsts = [first_sentence(text) for _, _, text in rows if text.strip()]
    count = len(retired)
    ordered = [*titles[:count], *firsts[:count], *titles[count:], *firsts[count:]]
    return list(dict.fromkeys(ordered))[:QUESTIONS]


def first_sentence(text: str) -> str:
    """The first that is no heading, on one line, at most 200 code points of it."""
    spans = [" ".join(text[start:end].split()) for start, end in sentence_spans(text)]
    return next((one for one in spans if not one.startswith(("#", "|"))), spans[0])[:200]


def ask(kb: Kb, stack: Stack, mode: str, asked: list[str]) -> dict[str, int]:
    """Counts over all questions."""
    with reading(kb.db_path) as conn:
        life = LIFECYCLES.get(conn, kb)
    verdict = life.on()
    out = dict.fromkeys(("asked", "leaks", "best_retired", "with_end", "end_shown", "false"), 0)
    for query in asked:
        shown = search([kb], SearchRequest(query, top_k=TOP_K, mode=mode), stack.embedding)
        whole = search(
            [kb],
            SearchRequest(query, top_k=TOP_K, mode=mode, include_superseded=True),
            stack.embedding,
        )
        found = {hit.document_id for hit in shown.hits}
        out["asked"] += 1
        out["leaks"] += bool(found & verdict.retired)
        if whole.hits and (best := whole.hits[0].document_id) in verdict.retired:
            out["best_retired"] += 1
            if ends := verdict.ends(best):
                out["with_end"] += 1
                out["end_shown"] += set(ends) <= found
        elif whole.hits:
            out["false"] += whole.hits[0].document_id not in found
    return out


def pairs(life: Lifecycle) -> tuple[int, int]:
    """How many of the handed relations resolved, of how many."""
    ids = {name.path: file_id for file_id, name in life.names.by_id.items()}
    with (HANDED / "ground_truth" / "lifecycle_pairs.tsv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    edges = set(life.graph.edges)
    known = [(row["old_path"][3:], row["new_path"][3:]) for row in rows]
    right = [
        old in ids
        and new in ids
        and Edge(ids[old], ids[new]) in edges
        and ids[old] in life.on().retired
        for old, new in known
    ]
    return sum(right), len(right)


def main() -> None:
    modes = sys.argv[1:] or ["auto"]
    with tempfile.TemporaryDirectory(prefix="seoga-bench-") as scratch:
        home = Path(scratch)
        for name in FOLDERS:
            shutil.copytree(HANDED / "md" / name, home / "docs" / name)
        stack = Stack(Settings(base_path=home / "base", cache_path=home / "cache", offline=True))
        try:
            kb = create_kb(home / "base", home / "docs", "lifecycle")
            stack.indexing.run_kb(kb)
            report(kb, stack, modes)
        finally:
            stack.close()


def report(kb: Kb, stack: Stack, modes: list[str]) -> None:
    """Prints the figures of an indexed knowledge base."""
    with reading(kb.db_path) as conn:
        life = LIFECYCLES.get(conn, kb)
        asked = questions(conn, life.on().retired)
    right, all_pairs = pairs(life)
    print(f"retired {len(life.on().retired)}, pairs resolved {right} of {all_pairs}")
    for mode in modes:
        got = ask(kb, stack, mode, asked)
        print(
            f"{mode}: {got['asked']} questions; stale leaks {got['leaks'] / got['asked']:.4f}"
            f" ({got['leaks']}); best document retired {got['best_retired']}, of those with a"
            f" living end {got['with_end']}, end shown {got['end_shown']}; false hides"
            f" {got['false'] / got['asked']:.4f} ({got['false']})",
            flush=True,
        )


if __name__ == "__main__":
    main()
