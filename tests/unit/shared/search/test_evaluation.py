"""The measures of `seoga eval`, worked out by hand, and folders that are no benchmark."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from seoga.errors import InvalidArgument
from seoga.kb import Kb
from seoga.models import Chunk
from seoga.search.engine import SearchRequest
from seoga.search.evaluation import evaluate, load
from seoga.storage.database import open_writer
from seoga.storage.documents import DocumentStore
from seoga.storage.records import FileRow, PreparedChunk, PreparedFile, Tokens
from seoga.text.tokens import index_text


def write(folder: Path, **files: list[dict[str, Any]]) -> Path:
    folder.mkdir(exist_ok=True)
    for name, rows in files.items():
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    return folder


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    return write(
        tmp_path / "bench",
        corpus=[
            {"_id": "a", "title": "Fruit_bowl", "text": "apple pear"},
            {"_id": "b", "title": "", "text": "apple apple apple"},
            {"_id": "c", "title": "Garden", "heading": "Tools", "text": "spade and rake"},
        ],
        queries=[{"_id": "1", "text": "apple"}, {"_id": "2", "text": "rake"}],
        qrels=[
            {"query-id": "1", "corpus-id": "a", "score": 1},
            {"query-id": "1", "corpus-id": "b", "score": 0},
            {"query-id": "2", "corpus-id": "c", "score": 2},
        ],
    )


def index(kb: Kb) -> None:
    """Each Markdown file as one chunk."""
    (source,) = kb.sources()
    store = DocumentStore(open_writer(kb.db_path))
    for file in sorted(Path(source.path).rglob("*.md")):
        text = file.read_text(encoding="utf-8")
        row = FileRow(source.label, file.relative_to(source.path).as_posix(), len(text), 0, 0)
        chunk = PreparedChunk(Chunk(0, text, 0, len(text)), Tokens(body=index_text(text)))
        store.commit_text([PreparedFile(row, text, [chunk])])
    store.close()


def test_the_measures_are_those_of_trec_eval(bench: Path, tmp_path: Path) -> None:
    asked = SearchRequest("", mode="bm25")
    figures = evaluate([bench], asked, cache=tmp_path / "cache", index=index, embedding=None)
    # "apple": b stands before a, so the relevant document is second; "rake": first.
    assert figures["ndcg_at_10"] == pytest.approx((1 / math.log2(3) + 1) / 2)
    assert figures["mrr_at_10"] == pytest.approx((1 / 2 + 1) / 2)
    assert figures["recall_at_5"] == figures["recall_at_10"] == 1
    assert 0 < figures["ms_p50"] <= figures["ms_p95"]


def test_corpora_can_share_one_kb_and_the_same_documents_share_an_index(
    bench: Path, tmp_path: Path
) -> None:
    other = write(
        tmp_path / "other",
        corpus=[{"_id": "a", "text": f"apple {'rake ' * 5}"}],
        queries=[{"_id": "x", "text": "rake"}],
        qrels=[{"query-id": "x", "corpus-id": "a", "score": 1}],
    )
    seen: list[Path] = []

    def counted(kb: Kb) -> None:
        seen.append(kb.folder)
        index(kb)

    asked = SearchRequest("", mode="bm25")
    for _ in range(2):
        figures = evaluate(
            [bench, other], asked, cache=tmp_path / "cache", index=counted, embedding=None
        )
    assert figures["mrr_at_10"] == pytest.approx((1 / 2 + 1 / 2) / 2)
    assert len(set(seen)) == 1


def test_title_and_heading_become_markdown_headings(bench: Path) -> None:
    corpus = load(bench).corpus
    assert corpus["a"] == "# Fruit bowl\n\napple pear\n"
    assert corpus["b"] == "apple apple apple\n"
    assert corpus["c"] == "# Garden\n\n## Tools\n\nspade and rake\n"


@pytest.mark.parametrize("broken", ["missing", "not json", '{"_id": "a"}', "[1]"])
def test_a_folder_that_is_no_benchmark_is_told_so(bench: Path, broken: str) -> None:
    file = bench / "corpus.jsonl"
    if broken == "missing":
        file.unlink()
    else:
        file.write_text(broken + "\n", encoding="utf-8")
    with pytest.raises(InvalidArgument, match="no benchmark"):
        load(bench)


def test_a_benchmark_without_relevant_documents_is_refused(bench: Path) -> None:
    (bench / "qrels.jsonl").write_text("", encoding="utf-8")
    with pytest.raises(InvalidArgument, match="relevant"):
        load(bench)
