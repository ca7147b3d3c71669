"""`search`: its two forms, what it finds, and hostile questions."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from seoga.kb import Kb, create_kb


@pytest.fixture
def kb(seoga: Any, base_path: Path, tmp_path: Path) -> Kb:
    """A keyword-only KB of three files, one of them with an NFD name."""
    docs = tmp_path / "docs"
    (docs / "archive").mkdir(parents=True)
    text = "# 휴가\n\n## 연차\n\n연차 휴가는 규정에 따라 부여한다.\n"
    (docs / unicodedata.normalize("NFD", "휴가 규정.md")).write_text(text, "utf-8")
    (docs / "errors.md").write_text("# Errors\n\nERR_TOKEN_EXPIRED: log in again.\n", "utf-8")
    (docs / "archive" / "old.md").write_text("# Old\n\nA zeppelin policy.\n", "utf-8")
    made = create_kb(base_path, docs)
    config = json.loads((made.folder / "config.json").read_text("utf-8"))
    config["embedding"] = {"provider": ""}
    (made.folder / "config.json").write_text(json.dumps(config), "utf-8")
    assert seoga("exec", "--path", made.folder).code == 0
    return made


def test_json_is_one_unescaped_object_with_nfc_paths_and_without_the_query(
    seoga: Any, kb: Kb
) -> None:
    done = seoga("search", "휴가는", "--json")
    assert done.code == 0
    assert len(done.out.splitlines()) == 1
    assert set(done.json) >= {"results", "message", "best_score", "threshold", "hidden"}
    assert "query" not in done.json
    hit = done.json["results"][0]
    assert set(hit) >= {"path", "place", "heading", "text", "label", "score"}
    assert hit["path"] == unicodedata.normalize("NFC", "휴가 규정.md")
    assert hit["heading"] == "휴가 > 연차"
    assert hit["place"]["line_start"] == 3
    assert "휴가 규정.md" in done.out


def test_lines_show_label_path_heading_and_text(seoga: Any, kb: Kb) -> None:
    done = seoga("search", "ERR_TOKEN_EXPIRED", f"--path={kb.folder}", "--mode=bm25")
    first, second = done.out.splitlines()[:2]
    assert first.startswith("[exact match]  errors.md › Errors  [20")
    assert second == "# Errors"


def test_a_hit_in_a_file_of_pages_or_cells_says_where(seoga: Any, kb: Kb, tmp_path: Path) -> None:
    import pymupdf

    with pymupdf.open() as pdf:
        for words in ("first things", "the zebra crossing is here"):
            pdf.new_page().insert_text((72, 72), words)
        pdf.save(tmp_path / "docs" / "plan.pdf")
    assert seoga("exec", "--path", kb.folder).code == 0
    line = seoga("search", "zebra", f"--path={kb.folder}", "--mode=bm25").out.splitlines()[0]
    assert line.startswith("[exact match]  plan.pdf")
    assert line.endswith("pages 1-2")


def test_a_long_passage_is_cut_around_the_words_and_whole_with_full(
    seoga: Any, kb: Kb, tmp_path: Path
) -> None:
    filler = "보통 문장은 아무것도 말하지 않는다. " * 20
    (tmp_path / "docs" / "long.md").write_text(
        f"{filler}비행선 계류장은 옥상이다. {filler}", "utf-8"
    )
    seoga("exec", "--path", kb.folder)
    shown = seoga("search", "비행선 계류장").out
    _, passage, *_ = shown.splitlines()
    assert "비행선 계류장은" in passage
    assert len(passage) < 400
    assert "**" not in passage
    whole = seoga("search", "비행선 계류장", "--full").out
    assert len(whole) > 2 * len(shown)


def test_a_label_that_names_no_source_is_said_with_the_nearest(seoga: Any, kb: Kb) -> None:
    done = seoga("search", "휴가", "--label", "dosc")
    assert done.code == 0
    assert "No source has the label 'dosc'; did you mean 'docs'?" in done.err
    assert "there are: docs." in seoga("search", "휴가", "--label", "wiki").err
    assert "label" not in seoga("search", "휴가", "--label", "docs").err


def test_a_search_that_finds_nothing_says_so_and_exits_0(seoga: Any, kb: Kb) -> None:
    done = seoga("search", "leptoquark", "--json")
    assert (done.code, done.json["results"]) == (0, [])
    assert "No relevant results" in done.json["message"]


def test_what_is_excluded_by_default_is_found_with_all(seoga: Any, kb: Kb) -> None:
    assert seoga("search", "zeppelin", "--json").json["results"] == []
    [hit] = seoga("search", "zeppelin", "--all", "--json").json["results"]
    assert hit["path"] == "archive/old.md"
    excluded = seoga("search", "zeppelin", "--all", "--exclude", "archive,x", "--json").json
    assert excluded["results"] == []


def test_vector_mode_says_what_is_missing(seoga: Any, kb: Kb) -> None:
    done = seoga("search", "휴가", "--mode=vector")
    assert done.code in {1, 64}
    assert done.err.startswith("error: ")


@pytest.mark.parametrize("top_k", ["0", "-1", "51", "1000000"])
def test_a_top_k_out_of_range_is_refused(seoga: Any, kb: Kb, top_k: str) -> None:
    done = seoga("search", "휴가", f"--top-k={top_k}")
    assert done.code == 64
    assert "top_k" in done.err


def test_hostile_queries_get_an_answer(seoga: Any, kb: Kb) -> None:
    for query in ["C++", '"', "NOT", "*", "😀", "a" * 10_000, "ADR-0005", "' OR 1=1 --", "\udcff"]:
        done = seoga("search", "--json", "--", query)
        assert done.code == 0, (query, done.err)
        assert done.json["results"] == []


def test_search_without_any_knowledge_base_says_how_to_make_one(seoga: Any) -> None:
    done = seoga("search", "x")
    assert done.code == 1
    assert "seoga index" in done.err


@pytest.mark.parametrize(
    ("option", "found"),
    [
        ("--glob=*.md", ["errors.md"]),
        ("--glob=archive/**", []),
        ("--type=md,pdf", ["errors.md"]),
        ("--type=pdf", []),
        ("--after=2020-01-01", ["errors.md"]),
        ("--before=2020-01-01", []),
        ("--lang=en", ["errors.md"]),
        ("--lang=ko", []),
        ("--label=docs", ["errors.md"]),
    ],
)
def test_filters_of_the_tool_are_options_too(
    seoga: Any, kb: Kb, option: str, found: list[str]
) -> None:
    done = seoga("search", "ERR_TOKEN_EXPIRED", option, "--json")
    assert done.code == 0
    assert [hit["path"] for hit in done.json["results"]] == found


@pytest.mark.parametrize("option", ["--after=soon", "--lang=fr", "--top-k=51"])
def test_a_filter_that_is_none_is_refused(seoga: Any, kb: Kb, option: str) -> None:
    assert seoga("search", "ERR_TOKEN_EXPIRED", option).code == 64
