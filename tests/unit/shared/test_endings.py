"""What of a query is only grammar."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seoga.search.query import analyse
from seoga.text.endings import content_words, grammar_terms, stem_length
from seoga.text.tokens import query_terms


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


@pytest.mark.parametrize(
    "text",
    [
        "얼마까지 되나",
        "언제까지 쓸 수 있나요",
        "누구에게 말하나요",
        "어디서부터인가요",
        "몇번까지 할 수 있습니까",
        "몇명이나 되는지",
        "며칠인가",
        "무엇으로 해야 하나",
        "어떻게 하면 되는지 알고 싶습니다",
        "그것은 왜 안 되나요",
        "누구였나요",
        "What's it they'd have and why don't we?",
        "Please tell me whether there is any such one",
    ],
)
def test_question_words_and_verbs_that_only_carry_are_grammar_in_every_form(text: str) -> None:
    assert grammar_terms(f"{text} 숙박비") >= set(query_terms(text)) - {"숙박", "박비"}
    assert content_words(text) == []


@pytest.mark.parametrize(
    "noun",
    [
        "왜도",
        "우리은행",
        "여기저기어때앱",
        "보고",
        "보안",
        "주말",
        "주가",
        "주지",
        "해지",
        "해고",
        "한지",
        "한은",
        "할인",
        "합의",
        "알림",
        "쓰기",
        "쓰레기",
        "몇몇곳",
        "거리",
        "때문",
        "기능",
        "사용",
        "되새김",
        "있음직",
    ],
)
def test_nouns_that_begin_like_grammar_are_looked_for(noun: str) -> None:
    assert not grammar_terms(f"{noun} 숙박비") & set(query_terms(noun))


def test_a_question_word_that_nobody_wrote_weighs_little() -> None:
    query = analyse("숙박비가 얼마까지 되나")
    assert set(query.terms) - query.grammar == {"숙박", "박비"}


@pytest.mark.parametrize(
    ("word", "asked"),
    [
        ("희귀한가요", {"희귀"}),
        ("필요한가요", {"필요"}),
        ("어려운가요", {"어려"}),
        ("곳인가요", {"곳"}),
        ("높나요", {"높"}),
        ("배울까요", {"배"}),
        ("중요합니까", {"중요"}),
        ("대중가요", {"대중", "중가", "가요"}),
        ("국가", {"국가"}),
        ("가요", {"가요"}),
    ],
)
def test_an_ending_of_a_question_is_nothing_that_somebody_has_to_have_written(
    word: str, asked: set[str]
) -> None:
    assert content_words(word) == [frozenset(asked)]
