"""Comparing ways to search: differences with their luck, own questions, the page."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest

from seoga.errors import InvalidArgument
from seoga.search import comparing, evaluation
from seoga.search.evalpage import Compared, page
from seoga.search.request import SearchRequest

from .conftest import Shelf


def scores(values: list[float]) -> dict[str, dict[str, float]]:
    return {str(n): {"ndcg_at_10": value} for n, value in enumerate(values)}


def test_a_difference_that_every_question_shows_is_significant() -> None:
    found = comparing.difference(
        scores([0.5, 0.6, 0.4] * 20), scores([0.7, 0.8, 0.6] * 20), "ndcg_at_10"
    )
    assert found.mean == pytest.approx(0.2)
    assert found.low <= found.mean <= found.high
    assert found.significant


def test_a_difference_that_comes_and_goes_is_luck() -> None:
    found = comparing.difference(scores([0.5] * 40), scores([0.4, 0.6] * 20), "ndcg_at_10")
    assert not found.significant
    assert found.low < 0 < found.high


def test_the_same_scores_give_the_same_interval() -> None:
    a, b = scores([0.1, 0.5, 0.9, 0.3]), scores([0.2, 0.4, 0.9, 0.9])
    assert comparing.difference(a, b, "ndcg_at_10") == comparing.difference(a, b, "ndcg_at_10")


def test_own_questions_are_asked_as_people_ask(shelf: Shelf, tmp_path: Path) -> None:
    shelf.put("a.md", "The harbour closes at nine in the evening")
    shelf.put("b.md", "Parking costs four thousand won a day")
    shelf.embed()
    file = tmp_path / "own.tsv"
    file.write_text(
        "question\tdocument\tmust_contain\ttype\n"
        "harbour closes\ta.md\tnine in the evening\thours\n"
        "parking costs\tdocs/b.md|c.md\tfive thousand\tprice\n"
        "quantum chromodynamics lattice\ta.md\t\t\n",
        encoding="utf-8",
    )
    judged = comparing.read_judged(file)
    found = comparing.ask_judged(
        judged, SearchRequest(""), lambda one: shelf.search(one.query, mode="bm25")
    )
    assert [found[n]["hit_at_1"] for n in "123"] == [1, 1, 0]
    assert [found[n].get("answered") for n in "123"] == [1, 0, None]
    assert [found[n]["refused"] for n in "123"] == [0, 0, 1]


def test_what_is_to_be_refused_and_what_is_not_there_are_no_misses(
    shelf: Shelf, tmp_path: Path
) -> None:
    shelf.put("a.md", "The harbour closes at nine in the evening")
    shelf.put("\u1100\u1161.md", "Parking costs four thousand won a day")
    file = tmp_path / "own.tsv"
    file.write_text(
        "question\tdocument\n"
        "harbour closes\tgone.md|docs/a.md\n"
        "harbour\tgone.md\n"
        "parking costs\t가.md\n"
        "quantum chromodynamics lattice\t-\n"
        "evening harbour\t\n",
        encoding="utf-8",
    )
    judged = comparing.read_judged(file)
    lost = comparing.missing(judged, ["docs/a.md", "docs/\u1100\u1161.md"])
    assert lost == {"gone.md"}
    found = comparing.ask_judged(
        judged, SearchRequest(""), lambda one: shelf.search(one.query, mode="bm25"), lost
    )
    assert {key: one.get("hit_at_1") for key, one in found.items()} == {
        **{"1": 1.0, "3": 1.0},
        **dict.fromkeys(("4", "5")),
    }
    assert [found[n]["rightly_refused"] for n in "45"] == [1.0, 0.0]
    assert comparing.means(found)["rightly_refused"] == 0.5


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no columns"),
        ("q\td\na\tb\n", "no columns"),
        ("question\tdocument\nonly a question\n", "line 2"),
        ("question\tdocument\n", "no question"),
    ],
)
def test_a_table_that_is_none_is_one_clear_error(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "own.tsv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidArgument, match=why):
        comparing.read_judged(file)


def test_a_pipe_is_no_table_and_no_benchmark(tmp_path: Path) -> None:
    for name in ("own.tsv", "corpus.jsonl"):
        os.mkfifo(tmp_path / name)
    with pytest.raises(InvalidArgument, match="not a regular file"):
        comparing.read_judged(tmp_path / "own.tsv")
    with pytest.raises(InvalidArgument, match="not a regular file"):
        evaluation.load(tmp_path)


def test_variants_are_named_by_what_they_change() -> None:
    found = comparing.variants(SearchRequest(""), ["mode=bm25", "mode=auto,fusion=rrf"])
    assert list(found) == ["mode=auto", "mode=bm25", "mode=auto,fusion=rrf"]
    assert found["mode=auto,fusion=rrf"].fusion == "rrf"
    with pytest.raises(InvalidArgument, match="mode=best"):
        comparing.variants(SearchRequest(""), ["mode=best"])


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("ADR-0005", "identifier en"),
        ("환불", "short ko"),
        ("배가 안 뜨면 돈을 돌려받나요?", "question ko"),
        ("renewal of certificates", "phrase en"),
    ],
)
def test_questions_are_grouped_by_kind_and_language(query: str, kind: str) -> None:
    assert comparing.kind_of(query) == kind


def test_the_page_loads_nothing_and_names_cannot_break_out_of_it() -> None:
    difference = comparing.difference(scores([0.1, 0.2]), scores([0.3, 0.4]), "ndcg_at_10")
    evil = "<script>alert(1)</script>"
    means = {"mode=auto": {"ndcg_at_10": 0.9}, evil: {"ndcg_at_10": 0.8}}
    kinds = {name: {"short ko": {"questions": 2.0, "ndcg_at_10": 0.5}} for name in means}
    html = page(Compared("bench", "ndcg_at_10", means, kinds, {evil: difference}))
    assert html.count("<svg") == 3
    assert "<script" not in html
    assert "http" not in html


def test_a_question_on_two_lines_is_one_with_two_right_documents(tmp_path: Path) -> None:
    file = tmp_path / "own.tsv"
    file.write_text("question\tdocument\npay day\ta.md\nrent\tc.md\npay day\tb.md\n")
    found = comparing.read_judged(file)
    assert [(one.question, one.documents) for one in found] == [
        ("pay day", ("a.md", "b.md")),
        ("rent", ("c.md",)),
    ]


def test_what_is_to_be_contained_may_be_typed_on_a_mac(tmp_path: Path) -> None:
    file = tmp_path / "own.tsv"
    apart = unicodedata.normalize("NFD", "연차")
    file.write_text(f"question\tdocument\tmust_contain\n{apart}\t{apart}.md\t{apart}\n", "utf-8")
    (found,) = comparing.read_judged(file)
    assert (found.question, found.documents, found.must_contain) == ("연차", ("연차.md",), "연차")
