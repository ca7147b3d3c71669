"""Retired documents give way to what lives in their place; what contradicts itself hides
nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence

import pytest

from seoga.search.lifecycle import LIFECYCLES, STATING, Lifecycle
from seoga.search.statuses import Standing, Stated
from seoga.search.succession import Edge, Graph, judge
from seoga.storage.database import open_reader

from .conftest import Shelf
from .decisions import OLD, QUERY, new, old

Make = Callable[..., Shelf]
States = Sequence[Sequence[str]]


@pytest.fixture
def conn(shelf: Shelf) -> Iterator[sqlite3.Connection]:
    opened = open_reader(shelf.kb.db_path)
    yield opened
    opened.close()


def life_of(shelf: Shelf) -> Lifecycle:
    conn = open_reader(shelf.kb.db_path)
    try:
        return LIFECYCLES.get(conn, shelf.kb)
    finally:
        conn.close()


def test_a_hidden_document_brings_the_best_passage_of_its_successor(shelf: Shelf) -> None:
    old(shelf, ("status", "superseded"), ("by", "new.md"))
    new(shelf, ("date", "2026-03-01"))
    shelf.embed()
    answer = shelf.search(QUERY, threshold=0.3)
    (hit,) = answer.hits
    assert hit.path == "new.md"
    assert hit.cosine is not None
    assert hit.label == f"[semantic {hit.cosine:.3f}; supersedes old.md]"
    assert hit.supersedes == ("old.md",)
    assert answer.hidden == 1
    assert answer.message == (
        "1 retired document hidden: docs/old.md (superseded → docs/new.md, shown)."
        " search_all shows what is hidden."
    )
    assert answer.to_json()["retired"] == [
        {
            "document": "docs/old.md",
            "status": "superseded",
            "since": "2026-03-01",
            "successors": ["docs/new.md"],
        }
    ]


def test_search_all_shows_both_side_by_side(shelf: Shelf) -> None:
    old(shelf, ("status", "superseded"), ("by", "new.md"))
    new(shelf, ("date", "2026-03-01"))
    shelf.put("other.md", "Cookies are baked on Tuesdays, and the gateway signs.")
    shelf.embed()
    for flag in ("search_all", "include_superseded"):
        first, second, *_ = shelf.search(QUERY, **{flag: True}).hits
        assert first.label == "[superseded → new.md; 2026-03-01]"
        assert (first.status, first.superseded_by) == ("superseded", ("docs/new.md",))
        assert second.path == "new.md"
        assert second.label.endswith("; supersedes old.md]")
    assert "old.md" not in shelf.paths(QUERY, include_excluded=True)


def test_no_passage_of_a_retired_document_comes_back(shelf: Shelf) -> None:
    text = "\n\n".join(f"{OLD} Part {n}." for n in range(30))
    shelf.put("old.md", text, states=[["status", "archived"]])
    shelf.put("living.md", "Session cookies of the gateway are signed.")
    shelf.embed()
    for mode in ("bm25", "vector", "auto"):
        assert "old.md" not in shelf.paths(QUERY, mode=mode, top_k=50, threshold=-1.0)


def test_the_living_are_found_behind_hundreds_of_retired_passages(shelf: Shelf) -> None:
    for n in range(300):
        shelf.put(f"old{n}.md", f"{OLD} Part {n}.", states=[["status", "retired"]])
    shelf.put("living.md", "Among others the gateway signs session cookies, which is all.")
    assert shelf.paths(QUERY, mode="bm25") == ["living.md"]


def test_a_live_successor_hides_what_nobody_edited(shelf: Shelf) -> None:
    old(shelf)
    new(shelf, ("status", "accepted"), ("of", "old.md"))
    assert shelf.paths(QUERY, mode="bm25") == ["new.md"]


@pytest.mark.parametrize("status", ["draft", "proposed", "rejected", "withdrawn"])
def test_what_was_never_in_force_retires_nothing(shelf: Shelf, status: str) -> None:
    old(shelf)
    new(shelf, ("status", status), ("of", "old.md"))
    assert shelf.paths(QUERY, mode="bm25")[0] == "old.md"


def test_a_document_that_names_a_draft_as_its_successor_lives_on(shelf: Shelf) -> None:
    old(shelf, ("by", "new.md"))
    new(shelf, ("status", "draft"))
    assert shelf.paths(QUERY, mode="bm25")[0] == "old.md"


def test_a_retired_document_with_a_draft_in_its_place_leads_to_the_draft(shelf: Shelf) -> None:
    old(shelf, ("status", "withdrawn"), ("reason", "The authors prefer new.md"))
    new(shelf, ("status", "draft"))
    (hit,) = shelf.search(QUERY, mode="bm25").hits
    assert hit.label == "[keyword match; supersedes old.md; draft]"


def test_a_chain_leads_to_its_living_end(shelf: Shelf) -> None:
    old(shelf, ("status", "superseded"), ("by", "middle.md"))
    shelf.put("middle.md", "Something else.", states=[["status", "superseded"], ["by", "new.md"]])
    new(shelf)
    answer = shelf.search(QUERY, mode="bm25")
    assert [hit.path for hit in answer.hits] == ["new.md"]
    assert answer.retired[0].successors == ("docs/new.md",)


def test_a_cycle_hides_nothing_by_itself(shelf: Shelf) -> None:
    old(shelf, ("by", "new.md"))
    new(shelf, ("by", "old.md"))
    assert set(shelf.paths(QUERY, mode="bm25")) >= {"old.md"}
    assert life_of(shelf).on().retired == frozenset()
    assert len(life_of(shelf).on().loops) == 2


def test_a_cycle_of_documents_that_call_themselves_superseded_stays_hidden(shelf: Shelf) -> None:
    old(shelf, ("status", "superseded"), ("by", "new.md"))
    new(shelf, ("status", "superseded"), ("by", "old.md"))
    assert shelf.paths(QUERY, mode="bm25") == []


def test_a_document_that_replaces_itself_lives(shelf: Shelf) -> None:
    old(shelf, ("of", "old.md"), ("by", "./old.md"))
    assert shelf.paths(QUERY, mode="bm25") == ["old.md"]
    assert len(life_of(shelf).on().loops) == 1


def test_a_dangling_reference_hides_nothing(shelf: Shelf) -> None:
    old(shelf, ("by", "gone.md"), ("of", "never-was.md"))
    assert shelf.paths(QUERY, mode="bm25") == ["old.md"]
    assert len(life_of(shelf).dangling) == 2


def test_a_successor_that_is_deleted_leaves_its_predecessor_in_peace(shelf: Shelf) -> None:
    old(shelf, ("by", "new.md"))
    gone = new(shelf, ("status", "accepted"))
    assert shelf.paths(QUERY, mode="bm25") == ["new.md"]
    shelf.store.remove([gone])
    assert shelf.paths(QUERY, mode="bm25") == ["old.md"]


def test_two_successors_are_both_shown(shelf: Shelf) -> None:
    old(shelf, ("status", "Inactive (superseded by CIP-0121 and CIP-0122)"))
    new(shelf, path="CIP-0121.md")
    shelf.put("CIP-0122.md", "Logical operations of the ledger.", states=[["status", "Active"]])
    answer = shelf.search(QUERY, mode="bm25")
    assert {hit.path for hit in answer.hits} == {"CIP-0121.md", "CIP-0122.md"}
    assert {hit.label for hit in answer.hits} == {
        "[keyword match; supersedes old.md]",
        "[supersedes old.md]",
    }


def test_a_successor_in_another_source_is_named_in_full(shelf: Shelf) -> None:
    old(shelf, ("status", "superseded"), ("by", "wiki/auth/new.md"))
    new(shelf, path="auth/new.md", label="wiki")
    (hit,) = shelf.search(QUERY, mode="bm25").hits
    assert hit.document == "wiki/auth/new.md"
    assert hit.label.endswith("supersedes docs/old.md]")


def test_filters_hold_for_successors_which_are_named_then(shelf: Shelf) -> None:
    old(shelf, ("status", "superseded"), ("by", "wiki/new.md"))
    new(shelf, label="wiki")
    answer = shelf.search(QUERY, mode="bm25", labels=("docs",))
    assert answer.hits == ()
    assert "superseded → wiki/new.md, outside the filters of this search" in answer.message


def test_a_successor_stands_in_for_what_an_excluded_folder_hides(shelf: Shelf) -> None:
    old(shelf, ("by", "new.md"), path="archive/old.md")
    shelf.put("archive/other.md", "The gateway signs session cookies, too.")
    new(shelf)
    answer = shelf.search(QUERY, mode="bm25")
    assert [hit.path for hit in answer.hits] == ["new.md"]
    assert answer.hidden == 2
    assert "docs/archive/old.md (superseded → docs/new.md, shown)" in answer.message
    assert "archive/other.md" in shelf.paths(QUERY, mode="bm25", include_excluded=True)
    assert "archive/old.md" not in shelf.paths(QUERY, mode="bm25", include_excluded=True)


def test_excludes_are_whole_segments_in_any_case(shelf: Shelf) -> None:
    shelf.put("docs/planning/a.md", OLD)
    shelf.put("docs/Plan/b.md", OLD + " Again.")
    found = shelf.paths(QUERY, mode="bm25", exclude=("plan",), fold=False)
    assert found == ["docs/planning/a.md"]


def test_an_explicit_exclude_holds_for_successors(shelf: Shelf) -> None:
    old(shelf, ("status", "superseded"), ("by", "secret/new.md"))
    new(shelf, path="secret/new.md")
    assert shelf.paths(QUERY, mode="bm25", exclude=("secret",), search_all=True) == ["old.md"]


def test_a_commit_is_seen_by_the_next_search(shelf: Shelf) -> None:
    old(shelf)
    assert shelf.paths(QUERY, mode="bm25") == ["old.md"]
    new(shelf, ("of", "old.md"))
    assert shelf.paths(QUERY, mode="bm25") == ["new.md"]


def test_what_another_program_wrote_as_statements_does_no_harm(shelf: Shelf) -> None:
    shelf.put("old.md", OLD, states=[["status"], "status", 5, ["status", None], {"a": 1}])
    assert shelf.paths(QUERY, mode="bm25") == ["old.md"]


def test_statements_are_read_through_their_index(shelf: Shelf, conn: sqlite3.Connection) -> None:
    plan = conn.execute(f"EXPLAIN QUERY PLAN {STATING}").fetchall()
    assert "files_stating" in str(plan)


def fact(standing: Standing = Standing.LIVE, word: str = "") -> Stated:
    return Stated(word=word, standing=standing)


def test_a_chain_of_ten_thousand_is_followed_to_its_end() -> None:
    edges = [Edge(n, n + 1) for n in range(10_000)]
    verdict = judge(Graph({}, edges))
    assert len(verdict.retired) == 10_000
    assert verdict.ends(0) == (10_000,)
    assert verdict.ends(9_999) == (10_000,)


def test_a_cycle_of_ten_thousand_hides_nothing() -> None:
    edges = [Edge(n, (n + 1) % 10_000) for n in range(10_000)]
    verdict = judge(Graph({}, edges))
    assert verdict.retired == frozenset()
    assert len(verdict.loops) == 10_000


def test_a_tail_before_a_cycle_is_retired_by_it_and_has_no_contradiction() -> None:
    verdict = judge(Graph({}, [Edge(0, 1), Edge(1, 2), Edge(2, 1)]))
    assert verdict.retired == {0}
    assert verdict.ends(0) == (1,)
    assert set(verdict.loops) == {Edge(1, 2), Edge(2, 1)}


def test_many_replaced_by_many_stay_few_in_an_answer() -> None:
    edges = [Edge(old, new) for old in range(200) for new in range(200, 400)]
    verdict = judge(Graph({}, edges))
    assert len(verdict.retired) == 200
    assert len(verdict.ends(0)) == 5


def test_an_archived_successor_still_retired_its_predecessor() -> None:
    verdict = judge(Graph({1: fact(Standing.RETIRED, "archived")}, [Edge(0, 1)]))
    assert verdict.retired == {0, 1}
    assert verdict.ends(0) == ()
