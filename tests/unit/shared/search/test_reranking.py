"""A reranker changes the order of the first hits, and nothing else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from seoga.search.explain import lines_of_hit

from .conftest import Shelf

RERANKER = {"provider": "tei", "baseUrl": "http://127.0.0.1:1", "candidates": 4}
LENGTHS = {"a.md": 5, "b.md": 1, "c.md": 4, "d.md": 2, "e.md": 3}


def fill(shelf: Shelf) -> Shelf:
    for path, length in LENGTHS.items():
        shelf.put(
            path, "vacation days " * (6 - length) + f"for {path} " + "and more words " * length
        )
    shelf.embed()
    return shelf


@pytest.fixture
def filled(make_shelf: Callable[..., Shelf]) -> Shelf:
    return fill(make_shelf("kb", reranker=RERANKER))


def test_the_first_candidates_are_put_in_the_order_of_the_scores(filled: Shelf) -> None:
    before = filled.paths("vacation days", rerank=False)
    after = filled.paths("vacation days")
    [texts] = filled.embedder.reranked
    assert len(texts) == 4
    lengths = {path: LENGTHS[path] for path in before[:4]}
    longest = sorted(lengths, key=lambda path: -len(next(t for t in texts if path in t)))
    assert after[:4] == longest
    assert after[:4] != before[:4]
    assert after[4:] == before[4:]


def test_evidence_labels_and_the_number_of_hits_stay(filled: Shelf) -> None:
    before = filled.search("vacation days", rerank=False)
    after = filled.search("vacation days")
    seen = {hit.path: (hit.label, hit.cosine, hit.keyword, hit.score) for hit in before.hits}
    assert {h.path: (h.label, h.cosine, h.keyword, h.score) for h in after.hits} == seen
    # The scores that order are shared out anew, so the merge with other KBs stays what it was.
    scores = [hit.rank_score for hit in after.hits]
    assert scores == [hit.rank_score for hit in before.hits]


def test_nothing_is_asked_for_one_hit_for_none_or_without_a_reranker(
    filled: Shelf, make_shelf: Callable[..., Shelf]
) -> None:
    assert len(filled.paths("vacation days", path_glob="a.md")) == 1
    assert not filled.paths("zzqx wvvk")
    plain = fill(make_shelf("plain"))
    assert len(plain.paths("vacation days")) == 5
    assert not filled.embedder.reranked
    assert not plain.embedder.reranked


def test_a_model_that_fails_leaves_the_order_and_a_warning(filled: Shelf) -> None:
    before = filled.paths("vacation days", mode="bm25", rerank=False)
    filled.embedder.down = True
    answer = filled.search("vacation days", mode="bm25")
    assert [hit.path for hit in answer.hits] == before
    assert answer.warnings == ("Not reranked: The embedding service does not answer.",)


def test_a_document_that_the_query_names_stays_first(filled: Shelf) -> None:
    filled.put("HR-0042.md", "vacation days are counted here at great length " * 9)
    filled.embed()
    assert filled.paths("HR-0042 vacation days")[0] == "HR-0042.md"


def test_a_successor_keeps_the_place_of_what_it_replaced(make_shelf: Callable[..., Shelf]) -> None:
    shelf = make_shelf("kb", reranker=RERANKER)
    states = [["status", "superseded"], ["by", "new.md"]]
    shelf.put("old.md", "vacation days vacation days", states=states)
    shelf.put("new.md", "the days of vacation")
    shelf.put("more.md", "vacation days, once more")
    shelf.put("long.md", "vacation days, and who grants them, told in a much longer text")
    shelf.embed()
    answer = shelf.search("vacation days")
    assert [hit.path for hit in answer.hits] == ["new.md", "long.md", "more.md"]
    assert answer.hits[0].supersedes == ("old.md",)


def test_the_explanation_says_what_the_model_gave(filled: Shelf) -> None:
    first = filled.search("vacation days", explain=True).hits[0]
    assert first.why["rerank"] > 0
    assert first.why["weights"] == {}
    assert "reranked (" in "\n".join(lines_of_hit(first.why))
