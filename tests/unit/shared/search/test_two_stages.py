"""Candidates of a query with common terms come from its rarest; the answer stays the same."""

from __future__ import annotations

import random

import pytest

from seoga.search import lexical
from seoga.search.filters import Scope
from seoga.search.lexical import KeywordTrack
from seoga.search.query import analyse
from seoga.search.readers import reading

from .conftest import Shelf

WORDS = [f"word{n}" for n in range(60)]
QUERIES = ("word1 word7 word33", "word0 word2 word58", "word59 word3", "word4 word5 word6 word50")


@pytest.fixture
def library(shelf: Shelf) -> Shelf:
    """120 documents; word n is about 1/(n + 1) as frequent as word 0."""
    rng = random.Random(5)
    weights = [1 / (n + 1) for n in range(len(WORDS))]
    for number in range(60):
        said = [" ".join(rng.choices(WORDS, weights, k=rng.randint(8, 30))) for _ in range(2)]
        shelf.put(f"{'ab'[number % 2]}/{number}.md", "\n\n".join(said))
    return shelf


def best(shelf: Shelf, query: str, scope: Scope, top: int = 5) -> list[int]:
    with reading(shelf.kb.db_path) as conn:
        track = KeywordTrack(conn, analyse(query))
        scores = track.score(track.candidates(scope, 20))
    return sorted(scores, key=lambda chunk: (-scores[chunk].share, chunk))[:top]


def files(shelf: Shelf, folder: str) -> frozenset[int]:
    return frozenset(each.id for each in shelf.store.known("docs") if each.path.startswith(folder))


@pytest.mark.parametrize("scoped", [False, True])
def test_two_stages_find_what_one_finds(
    library: Shelf, monkeypatch: pytest.MonkeyPatch, scoped: bool
) -> None:
    scope = Scope(only=files(library, "a/")) if scoped else Scope()
    full = [best(library, query, scope) for query in QUERIES]
    monkeypatch.setattr(lexical, "FULL_POSTINGS", 0)
    monkeypatch.setattr(lexical, "FULL_OF_ONE", 0)
    assert [best(library, query, scope) for query in QUERIES] == full


def test_common_terms_are_not_looked_up_and_count_all_the_same(
    library: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.put("rare.md", "unheard of word0 word1")
    library.put("rarer.md", "unheard of things")
    monkeypatch.setattr(lexical, "FULL_POSTINGS", 0)
    monkeypatch.setattr(lexical, "FULL_OF_ONE", 0)
    monkeypatch.setattr(lexical, "MAX_POSTINGS", 4)
    with reading(library.kb.db_path) as conn:
        track = KeywordTrack(conn, analyse("unheard word0 word1"))
        found = track.candidates(Scope(), 10)
        scores = track.score(found)
    assert len(found) == 2
    assert scores[min(found)].matched == {"unheard", "word0", "word1"}
    assert scores[min(found)].share > scores[max(found)].share


def test_identifiers_and_scopes_hold_in_two_stages(
    library: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.put("adr.md", "decision word0 word1 word2", title="ADR-0007")
    monkeypatch.setattr(lexical, "FULL_POSTINGS", 0)
    monkeypatch.setattr(lexical, "FULL_OF_ONE", 0)
    assert library.paths("ADR-0007 word0", mode="bm25", abstain=False)[0] == "adr.md"
    found = library.paths("word0 word1", mode="bm25", abstain=False, path_glob="b/**", top_k=20)
    assert found
    assert all(path.startswith("b/") for path in found)
