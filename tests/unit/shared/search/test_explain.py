"""The explanation of a search adds up to what it did."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from seoga.search.explain import lines_of_hit, lines_of_search

from .conftest import Shelf


@pytest.fixture
def filled(make_shelf: Callable[..., Shelf]) -> Shelf:
    shelf = make_shelf("kb", search={"pathBoosts": {"old/**": 0.5}})
    shelf.put("a.md", "Vacation days are counted from the first of March; see HR-0042")
    shelf.put("old/b.md", "Vacation days were counted from January")
    shelf.put("c.md", "The printer stands in the basement")
    shelf.put("archive/d.md", "Vacation days of the year before")
    shelf.embed()
    return shelf


def test_the_parts_add_up_to_the_order(filled: Shelf) -> None:
    answer = filled.search("vacation days HR-0042", explain=True)
    assert len(answer.hits) >= 2
    for hit in answer.hits:
        why = hit.why
        total = sum(weight * (why[name] or 0) for name, weight in why["weights"].items())
        total = (total + sum(why["bonus"].values())) * why["boost"]
        assert total == pytest.approx(hit.rank_score, abs=2e-4)
    assert answer.hits[0].why["bonus"] == {"exact": 0.1}
    assert {hit.path: hit.why["boost"] for hit in answer.hits}["old/b.md"] == 0.5


def test_terms_are_listed_with_their_idf_and_the_rarest_is_worth_most(filled: Shelf) -> None:
    answer = filled.search("vacation printer", mode="bm25", explain=True, abstain=False)
    (kb,) = answer.why
    assert [term["term"] for term in kb["terms"]] == ["printer", "vacat"]
    assert kb["terms"][0]["idf"] > kb["terms"][1]["idf"]
    for hit in answer.hits:
        matched = {term["term"] for term in hit.why["matched"]}
        assert matched == ({"printer"} if hit.path == "c.md" else {"vacat"})


def test_what_was_dropped_hidden_and_filtered_is_said_with_the_reason(filled: Shelf) -> None:
    answer = filled.search("vacation days of unicorns in orbit", explain=True, threshold=0.99)
    (kb,) = answer.why
    assert kb["dropped_in_all"] == answer.dropped > 0
    assert all("under 0.99" in each["why"] for each in kb["dropped"])
    (kb,) = filled.search("vacation days", explain=True, path_glob="*.md", lang="en").why
    assert kb["hidden"] == ["archive/d.md"]
    assert kb["filters"] == {"path_glob": "*.md", "lang": "en"}


def test_a_refusal_says_what_was_missing(filled: Shelf) -> None:
    for mode, parts in {"auto": ("cosine", "share of idf", "together"), "bm25": ("share",)}.items():
        answer = filled.search("quarterly turnover of zeppelins", mode=mode, explain=True)
        assert answer.hits == ()
        (kb,) = answer.why
        assert "zeppelin" in kb["unwritten"]
        assert all(part in each["why"] for each in kb["dropped"] for part in parts)
        assert all(each["evidence"] < 1 for each in kb["dropped"])
        text = "\n".join(lines_of_search(kb))
        assert "in no document: " in text
        assert "enough is a " in text


def test_people_read_it_in_lines(filled: Shelf) -> None:
    answer = filled.search("vacation days", explain=True)
    text = "\n".join([*lines_of_hit(answer.hits[0].why), *lines_of_search(answer.why[0])])
    assert "terms (idf): " in text
    assert "x cosine" in text
    assert "hidden archive/d.md" in text


def test_nothing_is_explained_unasked(filled: Shelf) -> None:
    answer = filled.search("vacation days")
    assert answer.why == ()
    assert "why" not in answer.hits[0].to_json()
