"""Sentence spans: Korean and English ends, what is no end, and hostile text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seoga.text.sentences import sentence_spans


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    "parts",
    [
        ["안녕하세요.", "반갑습니다!", "정말요?", "네…", "그렇죠.", "갈까?", "그래요."],
        ["First one.", "Second one!", "Third?", "Fourth…", "Fifth."],
        ["中文。", "第二！", "第三？"],
    ],
)
def test_korean_and_english_ends_split(parts: list[str]) -> None:
    assert sentences(" ".join(parts)) == parts


def test_a_korean_ending_needs_no_space_after_its_full_stop() -> None:
    assert sentences("그렇게 한다.그리고 간다.또 온다.") == [
        "그렇게 한다.",
        "그리고 간다.",
        "또 온다.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "The value is 3.14 exactly.",
        "값은 3.14이다.",
        "Use v2.3.1 or 1.0.21 today.",
        "Dr. Kim met Mr. Lee.",
        "제3조. 다음 각 호의 사항을 정한다.",
        "제12조의2. 이 법은 시행한다.",
        "See Fig. 3 and No. 5 for it.",
        "2024. 3. 15. 시행한다.",
        "2024.3.15. 시행한다.",
        "J. Kim of the U.S. Government came.",
        "1. 목적은 다음과 같다.",
        "가. 목적은 다음과 같다.",
        "It holds (see above. And below.) many things.",
        '그는 "간다. 온다." 라고 말했다.',
        '"Really?" he asked.',
        "「인용이다. 둘이다.」라고 했다.",
        "Open https://a.example/x?y=1.2 now.",
    ],
)
def test_these_are_one_sentence(text: str) -> None:
    assert sentences(text) == [text]


def test_an_unmatched_bracket_changes_nothing() -> None:
    plain = "Start here. Next one. Third.\n\nOther paragraph. Its second. 끝이다. 정말."
    for bracket in '([{「“"':
        broken = plain.replace("here", bracket + "here", 1)
        assert [s.replace(bracket, "") for s in sentences(broken)] == sentences(plain)


def test_a_bracket_closed_in_a_later_paragraph_joins_nothing() -> None:
    assert len(sentences("One (two. Three.\n\nFour. Five) six.")) == 4


def test_list_items_and_blank_lines_begin_a_sentence() -> None:
    text = "순서는 다음과 같다\n- 첫째 항목\n- 둘째 항목\n1. 셋째 항목\n\n새 문단"
    assert sentences(text) == [
        "순서는 다음과 같다",
        "- 첫째 항목",
        "- 둘째 항목",
        "1. 셋째 항목",
        "새 문단",
    ]


def test_blank_text_has_no_sentence() -> None:
    assert sentence_spans("") == []
    assert sentence_spans(" \n\t\n ") == []


@given(st.text(alphabet='가다요. .!?…()"“”「」[]\n\n-1A제3조b', max_size=300))
def test_spans_are_ordered_trimmed_and_hold_all_text(text: str) -> None:
    spans = sentence_spans(text)
    position, held = 0, ""
    for start, end in spans:
        assert position <= start < end <= len(text)
        assert text[position:start].strip() == ""
        assert text[start:end] == text[start:end].strip()
        position, held = end, held + text[start:end]
    assert "".join(held.split()) == "".join(text.split())


@pytest.mark.parametrize(
    "unit",
    ["가나다라 (", ".", '"', "a. ", ")).", "\n ", '." ', "다.", "( [ ", "'", "Dr. ", "1. ", ".)\n"],
)
def test_hostile_text_takes_linear_time(unit: str) -> None:
    text = unit * (144_000 // len(unit))
    started = time.process_time()
    sentence_spans(text)
    assert time.process_time() - started < 2.0
