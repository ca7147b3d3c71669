"""`eval`: a benchmark folder through the real command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from seoga.kb import create_kb

KEYS = {"ndcg_at_10", "recall_at_5", "recall_at_10", "mrr_at_10", "ms_p50", "ms_p95"}


def written(folder: Path, name: str, rows: list[dict[str, Any]]) -> None:
    text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    (folder / f"{name}.jsonl").write_text(text, "utf-8")


@pytest.fixture
def benchmark(tmp_path: Path) -> Path:
    folder = tmp_path / "bench"
    folder.mkdir()
    written(
        folder,
        "corpus",
        [
            {"_id": "a", "title": "휴가", "text": "연차 휴가는 규정에 따라 부여한다."},
            {"_id": "b", "title": "Ships", "text": "The harbour opens at dawn."},
        ],
    )
    written(folder, "queries", [{"_id": "q", "text": "연차 휴가"}, {"_id": "r", "text": "harbour"}])
    written(
        folder,
        "qrels",
        [
            {"query-id": "q", "corpus-id": "a", "score": 1},
            {"query-id": "r", "corpus-id": "b", "score": 1},
        ],
    )
    return folder


def test_a_benchmark_gives_its_figures_in_every_mode_from_one_index(
    seoga: Any, benchmark: Path, tmp_path: Path
) -> None:
    for mode in ("bm25", "vector", "auto"):
        done = seoga("eval", benchmark, f"--mode={mode}", "--json")
        assert done.code == 0, done.err
        assert set(done.json) == KEYS
        assert done.json["ndcg_at_10"] == 1.0
    assert len(list((tmp_path / "cache" / "eval").iterdir())) == 1


def test_a_folder_that_is_no_benchmark_is_one_line(seoga: Any, tmp_path: Path) -> None:
    done = seoga("eval", tmp_path)
    assert done.code == 64
    assert "no benchmark" in done.err


def test_a_table_that_is_not_there_is_said_to_be_missing(seoga: Any, tmp_path: Path) -> None:
    done = seoga("eval", tmp_path / "own.tsv")
    assert done.code == 64
    assert "own.tsv is not there" in done.err


def test_expected_documents_that_are_not_there_are_named_and_left_out(
    seoga: Any, base_path: Path, tmp_path: Path
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "harbour.md").write_text("The harbour opens at dawn.\n", "utf-8")
    kb = create_kb(base_path, tmp_path / "docs")
    config = json.loads((kb.folder / "config.json").read_text("utf-8"))
    (kb.folder / "config.json").write_text(json.dumps(config | {"embedding": {"provider": ""}}))
    assert seoga("exec", "--path", kb.folder).code == 0
    table = tmp_path / "own.tsv"
    head = "question\tdocument\n"
    table.write_text(f"{head}harbour\tharbour.md\ndawn\tgone.md\nlattice gauge\t-\n", "utf-8")
    done = seoga("eval", table, "--path", kb.folder, "--mode=bm25", "--json")
    assert (done.code, done.json["hit_at_1"], done.json["rightly_refused"]) == (0, 1.0, 1.0)
    assert done.json["missing"] == ["gone.md"]
    assert "gone.md; 1 question is left out" in done.err
    table.write_text(f"{head}harbour\tgone.md\n", "utf-8")
    done = seoga("eval", table, "--path", kb.folder)
    assert (done.code, "holds none of the documents" in done.err) == (64, True)
