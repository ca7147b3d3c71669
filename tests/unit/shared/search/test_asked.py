"""Words alone: what of a question has to stand in a passage, and how near together."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from seoga.search.abstain import Bar
from seoga.search.asked import SPAN, AskedWords, Worth
from seoga.search.fusion import Candidate

from .conftest import Shelf

PASSAGES = 1000
RARE = Worth(math.log(PASSAGES), math.log(PASSAGES), True)
COMMON = Worth(0.1, 0.1, True)
UNWRITTEN = Worth(2 * math.log(PASSAGES), 0.0, False)


def asked(**worth: Worth) -> AskedWords:
    """A question of these words of one token each."""
    return AskedWords([frozenset({name}) for name in worth], worth, PASSAGES)


def fill(shelf: Shelf) -> None:
    """Forty ferries, four papers that speak of capital and a ship of its own name."""
    shelf.put("finance.md", "The capital of the company was raised by the owners.")
    shelf.put("fleet.md", "The Maplewind was built in a yard abroad.")
    for year in (1, 2, 3):
        shelf.put(f"report{year}.md", f"Report {year}: the capital did not change.")
    for number in range(40):
        shelf.put(f"{number}.md", f"Ferry number {number} leaves the harbour in the morning.")


def test_what_nobody_wrote_is_missing_evidence() -> None:
    words = asked(ferry=RARE, zeppelin=UNWRITTEN)
    assert words.share({"ferry"}) == pytest.approx(1 / 3)
    assert words.share({"ferry", "zeppelin"}) == pytest.approx(1 / 3)
    assert asked(ferry=RARE).share({"ferry"}) == 1
    assert asked().share({"ferry"}) == 0


def test_rare_words_count_together_only_near_one_another() -> None:
    words = asked(ferry=RARE, fog=RARE, the=COMMON)
    assert words.together([], [(0, "ferry")]) == pytest.approx(1)
    assert words.together([], [(0, "ferry"), (SPAN, "fog")]) == pytest.approx(2)
    assert words.together([], [(0, "ferry"), (SPAN + 1, "fog")]) == pytest.approx(1)
    # A heading stands beside all of its text.
    assert words.together(["ferry"], [(SPAN + 1, "fog")]) == pytest.approx(2)


def test_the_bigrams_of_one_word_are_one_word() -> None:
    word = frozenset({"구명", "명조", "조끼"})
    both = AskedWords([word, frozenset({"점검"})], dict.fromkeys([*word, "점검"], RARE), PASSAGES)
    assert both.together([], [(0, "구명"), (1, "명조"), (2, "조끼")]) == pytest.approx(1)
    # One of three is another word; two may be the same one in another form.
    assert both.together([], [(0, "구명"), (3, "점검")]) == pytest.approx(1)
    assert both.together([], [(0, "구명"), (1, "명조"), (3, "점검")]) == pytest.approx(2)


def test_one_word_stands_beside_nothing_and_several_are_no_chance() -> None:
    assert asked(ferry=RARE).together([], []) == math.inf
    names = ("boats", "leave", "early", "today", "again")
    words = asked(**dict.fromkeys(names, COMMON))
    assert words.together([], list(enumerate(names[:3]))) < 1
    assert words.together([], list(enumerate(names[:4]))) == math.inf


@pytest.mark.parametrize(
    ("share", "together", "admitted"),
    [(0.5, 0.0, True), (0.49, 1.0, False), (0.3, 1.1, True), (0.29, 9.0, False)],
)
def test_words_alone_are_enough_by_their_share_or_near_together(
    share: float, together: float, admitted: bool
) -> None:
    words = Candidate(1, 1, keyword=0.5, coverage=share, together=together)
    assert Bar(None, 0.3, alone=0.5, together=1.1).admits(words) == admitted


def test_a_rare_word_of_a_question_about_something_else_shows_nothing(shelf: Shelf) -> None:
    fill(shelf)
    assert shelf.paths("what is the capital of Mongolia", mode="bm25") == []
    assert shelf.paths("who raised the capital in Mongolia", mode="bm25") == ["finance.md"]
    assert len(shelf.paths("capital", mode="bm25")) == 4
    # A name is another thing: only one document holds it.
    assert shelf.paths("how long is the Maplewind", mode="bm25") == ["fleet.md"]


def test_a_word_inside_another_is_no_evidence_in_a_longer_question(shelf: Shelf) -> None:
    fill(shelf)
    shelf.put("birds.md", "Nesting has been seen where owls treat the belfry as a home.")
    assert shelf.paths("how to treat a bee sting", mode="bm25") == []
    assert shelf.paths("do owls treat a belfry", mode="bm25") == ["birds.md"]
    assert shelf.paths("elfri", mode="bm25") == ["birds.md"]


def test_a_chosen_share_replaces_the_measured_rule(make_shelf: Callable[..., Shelf]) -> None:
    lenient = make_shelf("lenient", search={"minCoverage": 0.1})
    fill(lenient)
    assert len(lenient.paths("what is the capital of Mongolia", mode="bm25")) == 4


def test_what_nobody_wrote_a_word_of_has_to_be_nearer_in_its_own_language() -> None:
    near = Candidate(1, 1, cosine=0.55, keyword=0.0)
    far = Candidate(2, 2, cosine=0.45, keyword=0.0, same_language=False)
    assert Bar(0.5, 0.3, 0.8, across=0.85).admits(near)
    unwritten = Bar(0.5, 0.3, 0.8, across=0.85, within=1.25)
    assert not unwritten.admits(near)
    assert unwritten.admits(Candidate(1, 1, cosine=0.63, keyword=0.0))
    assert unwritten.admits(far)
