"""Slips of the finger: what is guessed, and what never is."""

from __future__ import annotations

import pytest

from seoga.search.spelling import distance

from .conftest import Shelf


@pytest.fixture
def filled(shelf: Shelf) -> Shelf:
    shelf.put("k.md", "The kubernetes cluster runs on four nodes")
    shelf.put("e.md", "ERR_TOKEN_EXPIRED is sent by the gateway")
    shelf.put("a.md", "ADR-0005 chose the format of tokens")
    shelf.put("d.md", "개와 고양이는 이동장에 넣는다")
    shelf.put("c.md", "The certificate is renewed in spring")
    shelf.put("p.md", "개인정보와 개편과 개발은 세 개의 문서이다")
    return shelf


@pytest.mark.parametrize("typed", ["kuberntes", "kubernetse", "kubernettes cluster", "Kubirnetes"])
def test_one_slip_is_forgiven_and_told(filled: Shelf, typed: str) -> None:
    answer = filled.search(typed, mode="bm25")
    assert answer.hits[0].path == "k.md"
    assert f'"{typed.partition(" ")[0]}" occurs in no document' in answer.message


def test_two_slips_are_forgiven_in_a_long_word_however_short_its_stem(filled: Shelf) -> None:
    assert filled.paths("certficate", mode="bm25") == ["c.md"]


def test_an_identifier_with_a_slip_in_its_letters_is_found(filled: Shelf) -> None:
    assert filled.paths("ERR_TOKEN_EXPIERD", mode="bm25") == ["e.md"]


@pytest.mark.parametrize("typed", ["ADR-0006", "ADR-0050", "kbnt", "cubernetes", "qwertyuiop"])
def test_digits_short_words_and_first_letters_are_never_guessed(filled: Shelf, typed: str) -> None:
    assert filled.paths(typed, mode="bm25") == []


def test_a_word_that_somebody_wrote_is_not_replaced(filled: Shelf) -> None:
    filled.put("n.md", "The kuberntes of old papers")
    assert filled.search("kuberntes", mode="bm25").message == ""


def test_a_word_of_one_syllable_is_found_with_its_particles(filled: Shelf) -> None:
    assert "d.md" in filled.paths("개", mode="bm25", top_k=3)


def test_a_word_of_one_syllable_is_the_beginning_of_others_where_it_never_stands_alone(
    filled: Shelf,
) -> None:
    assert filled.paths("넣", mode="bm25") == ["d.md"]


def test_a_swap_of_neighbours_is_one_slip() -> None:
    found = [distance("abcd", other) for other in ("abcd", "abdc", "abc", "abxd", "abxcd")]
    assert found == [0, 1, 1, 1, 1]
