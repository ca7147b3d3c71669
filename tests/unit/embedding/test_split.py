"""Windows of plain text: what is kept, where they end, and that nothing is slow or lost."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seoga_embedding.split import clean, plain, windows


@pytest.mark.parametrize(
    ("markdown", "words"),
    [
        ("See [the guide](https://example.org/a?b=c) now", "See the guide now"),
        ("![diagram of flow](img/flow.png)", "diagram of flow"),
        ("[text][ref-1] and *emphasis*, **strong**, ~~gone~~", "text and emphasis, strong, gone"),
        ("call `read_file` of my_module", "call read_file of my_module"),
        ("__init__ and _word_", "init and word"),
        ("## 제목 {/*anchor*/}\n\n본문", "제목\n본문"),
        ("- [x] done\n* item\n> quoted", "done\nitem\nquoted"),
        ("| a | b |\n|---|:--:|\n| 1 | 2 |", "a b\n1 2"),
        ("```python\nx = 1\n```", "x = 1"),
        ("<!-- hidden --><b>bold</b> a &lt; b &amp; c", "bold a < b & c"),
        ("a < b and c > d", "a < b and c > d"),
        ("2 * 3 * 4", "2 3 4"),
        ("---\n***\n___", ""),
        ("C++ and C# and foo_bar-baz", "C++ and C# and foo_bar-baz"),
    ],
)
def test_markup_goes_and_words_stay(markdown: str, words: str) -> None:
    assert plain(markdown) == words


def test_what_no_model_reads_is_taken_out() -> None:
    assert clean("a\0b\ud800c\u200bd") == "a b?cd"


def test_a_window_ends_at_a_sentence_end_where_there_is_one() -> None:
    text = "First sentence is here. " * 3 + "Second one ends the text."
    assert all(piece.endswith(".") for piece in windows(text, 60))


def test_a_korean_window_ends_at_a_sentence_end() -> None:
    text = "회의는 매주 월요일 오전 열 시에 시작합니다. 늦는 사람은 미리 알려 주세요. " * 4
    assert all(piece.endswith((".", "요.", "다.")) for piece in windows(text, 50))


def test_no_limit_means_one_window() -> None:
    assert windows("a b " * 500, 0) == ["a b " * 500]
    assert windows("", 0) == []


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=600), st.integers(10, 250))
def test_windows_are_short_and_lose_no_word(text: str, limit: int) -> None:
    pieces = windows(text, limit)
    assert all(0 < len(piece) <= limit for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(text.split())


@pytest.mark.parametrize(
    "unit", ["[", "](", "![a](", "<", "<a ", "<!--", "|-", "*", "_a", "`", "&amp", " ", "\n", "> "]
)
def test_hostile_repetition_takes_linear_time(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    started = time.process_time()
    windows(plain(text), 200)
    assert time.process_time() - started < 5
