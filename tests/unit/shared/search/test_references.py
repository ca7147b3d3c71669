"""References name the document that was meant, or none."""

from __future__ import annotations

import unicodedata

import pytest

from seoga.search.lifecycle import LIFECYCLES, Lifecycle
from seoga.search.readers import reading

from .conftest import Shelf
from .decisions import NEW, QUERY, new, old


def life_of(shelf: Shelf) -> Lifecycle:
    with reading(shelf.kb.db_path) as conn:
        return LIFECYCLES.get(conn, shelf.kb)


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ("Reference/AUTH.md", "reference/auth.md"),
        (unicodedata.normalize("NFD", "참고/인증.md"), "참고/인증.md"),
        ("./%EC%9D%B8%EC%A6%9D.md#절", "인증.md"),
        ("reference\\auth", "reference/auth.md"),
        ("[[Auth|the new one]]", "deep/below/auth.md"),
        ("ADR-7", "adr/0007-auth.md"),
        ("adr 7", "adr/0007-auth.md"),
        ("7", "0007-auth.md"),
        ("../reference/auth.md", "reference/auth.md"),
        ("../reference/auth.html", "reference/auth.md"),
        ("./CIP-0002/", "CIP-0002/README.md"),
        ("auth.md", "deep/below/auth.md"),
    ],
)
def test_references_resolve_however_they_are_written(shelf: Shelf, written: str, path: str) -> None:
    where = "guides/old.md" if written.startswith("..") else "old.md"
    if written == "7":
        where = "0001-old.md"
    old(shelf, ("status", "superseded"), ("by", written), path=where)
    new(shelf, path=path)
    assert shelf.paths(QUERY, mode="bm25") == [path]


@pytest.mark.parametrize(
    "written",
    [
        "Axle grease version 2",
        "Use HTTP 2",
        "axle 2",
        "2 new pumps",
        "[ADR-2](./0002-gone.md)",
        "[2. Use PostgreSQL](pumps/gone.md)",
        "./0002-gone.md",
    ],
)
@pytest.mark.parametrize("field", ["by", "status"])
def test_a_title_that_ends_in_a_number_is_no_document_of_that_number(
    shelf: Shelf, written: str, field: str
) -> None:
    text = written if field == "by" else f"superseded by {written}"
    old(shelf, ("status", "superseded"), (field, text), path="adr/0001-old.md")
    shelf.put("adr/0002-use-postgresql.md", NEW, title="2. Use PostgreSQL")
    life = life_of(shelf)
    assert life.graph.edges == ()
    assert field == "status" or [one.text for _, one in life.dangling] == [written]


@pytest.mark.parametrize(
    "written",
    ["2", "#2", "0002", "ADR 2", "ADR-0002: Use PostgreSQL", "ADR #2", "2. Use PostgreSQL"],
)
@pytest.mark.parametrize("field", ["by", "status"])
def test_a_number_that_is_an_identifier_names_its_document(
    shelf: Shelf, written: str, field: str
) -> None:
    text = written if field == "by" else f"superseded by {written}"
    old(shelf, ("status", "superseded"), (field, text), path="adr/0001-old.md")
    new(shelf, path="adr/0002-use-postgresql.md")
    shelf.put("notes/2-pumps.md", "Two pumps.")
    assert shelf.paths(QUERY, mode="bm25") == ["adr/0002-use-postgresql.md"]


def test_a_title_with_a_number_is_found_by_its_title(shelf: Shelf) -> None:
    old(shelf, ("status", "superseded"), ("by", "Use HTTP 2"), path="adr/0001-old.md")
    shelf.put("adr/0002-other.md", "Another matter.", title="Something else")
    shelf.put("adr/0007-http.md", NEW, title="Use HTTP 2")
    assert shelf.paths(QUERY, mode="bm25") == ["adr/0007-http.md"]


@pytest.mark.parametrize(
    "written",
    ["./policy-v2.md", "../teamA/policy-v2.md", "[new](./policy-v2.md)", "sub/policy-v2.md"],
)
def test_a_path_to_a_missing_file_is_no_file_of_that_name_elsewhere(
    shelf: Shelf, written: str
) -> None:
    old(shelf, ("by", written), path="teamA/policy.md")
    new(shelf, path="teamB/policy-v2.md")
    assert "teamA/policy.md" in shelf.paths(QUERY, mode="bm25")
    assert len(life_of(shelf).dangling) == 1


def test_a_broken_list_names_nothing(shelf: Shelf) -> None:
    old(shelf, ("by", "[x.md"), path="a/old.md")
    new(shelf, path="b/x.md")
    life = life_of(shelf)
    assert (life.graph.edges, len(life.dangling)) == ((), 1)


def test_of_several_documents_of_a_name_the_nearest_is_meant(shelf: Shelf) -> None:
    old(shelf, ("status", "superseded"), ("by", "[[auth]]"), path="team/a/old.md")
    new(shelf, path="team/a/auth.md")
    shelf.put("team/b/auth.md", "Another team.")
    shelf.put("auth.md", "A third.", label="wiki")
    assert shelf.paths(QUERY, mode="bm25") == ["team/a/auth.md"]
