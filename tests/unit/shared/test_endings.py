"""What of a query is only grammar."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seoga.search.query import analyse
from seoga.text.endings import content_words, grammar_terms, stem_length


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("보고서는", "보고서"),
        ("대합실에서는", "대합실"),
        ("롤백하려면", "롤백"),
        ("승무원들이", "승무원"),
        ("보고서", "보고서"),
        ("배가", "배가"),
        ("수", "수"),
    ],
)
def test_the_longest_ending_goes_and_two_syllables_stay(word: str, stem: str) -> None:
    assert word[: stem_length(word)] == stem


def test_bigrams_that_reach_into_an_ending_are_grammar() -> None:
    assert grammar_terms("롤백하려면") == {"백하", "하려", "려면"}
    assert grammar_terms("보고서는 어디에 있나요?") == {"서는", "어디", "디에", "있나", "나요"}


def test_english_function_words_are_grammar_and_names_are_not() -> None:
    assert grammar_terms("What is the capacity of the Maplewind?") == {"what", "is", "the", "of"}


def test_what_is_looked_for_elsewhere_in_the_query_is_no_grammar() -> None:
    # 어디 is a question word, and here a name too.
    assert "어디" not in grammar_terms("어디야 앱은 어디")


@given(st.text())
def test_no_query_is_grammar_alone(text: str) -> None:
    query = analyse(text)
    assert query.grammar < set(query.terms) or not query.terms


def test_the_words_of_a_query_that_ask_for_something_are_told_whole() -> None:
    found = content_words("나무가 왜 ADR-0005 위에 있나요? What is the 삼각형")
    assert frozenset({"나무"}) in found
    assert frozenset({"삼각", "각형"}) in found
    assert frozenset({"adr-0005", "adr", "0005"}) in found
    assert all("무가" not in word and "what" not in word and "왜" not in word for word in found)
