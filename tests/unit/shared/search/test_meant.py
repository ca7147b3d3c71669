"""Queries and filters are taken as they are meant, and labels say no more than is true."""

from __future__ import annotations

import pytest

from .conftest import Shelf


@pytest.mark.parametrize(
    ("query", "label"),
    [
        ("inkwell orders", "[exact match]"),
        ("Where are the orders of an inkwell?", "[exact match]"),
        ("inkwell orders from a cormorant", "[keyword match]"),
        ("inkwell shipments", "[keyword match]"),
        ("화환 5만원", "[keyword match]"),
        ("화환은 10만원", "[exact match]"),
    ],
)
def test_only_what_holds_all_that_was_asked_for_is_an_exact_match(
    shelf: Shelf, query: str, label: str
) -> None:
    shelf.put("a.md", "Orders of an inkwell are stored.")
    shelf.put("b.md", "화환은 10만원짜리로 보낸다.")
    shelf.put("c.md", "A list of other things: shipments, letters, stamps.")
    assert shelf.search(query, mode="bm25").hits[0].label == label


def test_a_query_of_nothing_but_grammar_finds_only_what_holds_all_of_it(shelf: Shelf) -> None:
    shelf.put("a.md", "Ducks and geese are not fed.")
    shelf.put("b.md", "To be or not to be")
    assert shelf.paths("AND OR NOT", mode="bm25") == []
    assert shelf.paths("to be or not to be", mode="bm25") == ["b.md"]


def test_a_syllable_held_down_is_not_the_end_of_a_word_and_its_particle(shelf: Shelf) -> None:
    shelf.put("a.md", "국가가 정한 발사체 이름")
    shelf.put("b.md", "크크크크크 하고 웃었다")
    assert shelf.paths("가" * 3000) == []
    assert shelf.paths("크크크크크크") == ["b.md"]


@pytest.mark.parametrize(
    "glob",
    ["adr/*", "./adr/*", "adr/", "./adr/", "/adr/**", "docs/adr/**", "docs/adr/", "ADR/one.md"],
)
def test_a_path_glob_is_taken_as_it_is_meant(shelf: Shelf, glob: str) -> None:
    shelf.put("adr/one.md", "orders of inkwells")
    shelf.put("two.md", "orders of inkwells and of paper")
    answer = shelf.search("orders", mode="bm25", path_glob=glob)
    assert [hit.path for hit in answer.hits] == ["adr/one.md"]
    assert answer.warnings == ()


@pytest.mark.parametrize("glob", ["[", "{adr,two}.md", "nowhere/", "adr", "adr/[o]ne.md"])
def test_a_path_glob_that_is_no_document_is_warned_about(shelf: Shelf, glob: str) -> None:
    shelf.put("adr/one.md", "orders of inkwells")
    answer = shelf.search("orders", mode="bm25", path_glob=glob)
    assert answer.hits == ()
    assert f"No document has a path like {glob!r}" in answer.warnings[0]
    # What is there, and holds no such word, is no fault of the glob.
    assert shelf.search("zebras", mode="bm25", path_glob="adr/*").warnings == ()
