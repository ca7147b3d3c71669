"""Tokens, normal forms, stems and languages."""

from __future__ import annotations

import sqlite3
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seoga.text import language as languages
from seoga.text.language import language_of
from seoga.text.normal import fold, nfc
from seoga.text.tokens import index_text, query_terms


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("보고서는", "보고 고서 서는"),
        ("물", "물"),
        ("물 한 잔", "물 한 잔"),
        ("ERR_TOKEN_EXPIRED", "err_token_expired err token expir"),
        ("ADR-0005", "adr-0005 adr 0005"),
        ("(v2.3.1)", "v2.3.1 2.3.1 v2"),
        ("health.base", "health.base health base"),
        ("useState", "usestate use state"),
        ("C++, C# 와", "c++ c c# c 와"),
        ("3.14", "3.14"),
        ("2026.4.10", "2026.4.10 2026 10"),
        ("1,234,567", "1234567"),
        ("don't", "don't don"),
        ("Earth's", "earth"),
        ("src/app/main.py", "src/app/main.py main.py src app main py"),
        ("React에서 API를", "react 에서 api 를"),
        ("2024년도", "2024 년도"),
        ("ＡＢＣ", "abc"),
        ("Café", "cafe"),
        ("日本語", "日 本 語 日本 本語"),
        ("tests tested testing", "test test test"),
        ("AI EU", "ai eu"),
        ("**bold** _soft_ `code`", "bold soft code"),
        ("😀 … !!", ""),
    ],
)
def test_a_text_gives_these_tokens(text: str, tokens: str) -> None:
    assert index_text(text) == tokens


def test_decomposed_hangul_is_the_same_word() -> None:
    assert index_text(unicodedata.normalize("NFD", "보고서")) == index_text("보고서")


def test_invisible_characters_change_nothing() -> None:
    assert index_text("보\u200b고\x00서 to\u00adken\ufeff") == index_text("보고서 token")


def test_compatibility_hanja_are_the_usual_ones() -> None:
    assert index_text("\uf9e4") == index_text("理")


def test_a_word_longer_than_the_memory_gives_the_same_tokens() -> None:
    word = "가나다라마바사아자차" * 10
    assert index_text(word).split() == [word[i : i + 2] for i in range(len(word) - 1)]


def test_query_terms_are_distinct_and_in_order() -> None:
    assert query_terms("b a b") == ["b", "a"]


@given(st.text())
def test_any_text_gives_tokens_that_stay_apart(text: str) -> None:
    tokens = index_text(text)
    assert "\x00" not in tokens
    assert tokens == " ".join(tokens.split())
    tokens.encode("utf-8")


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=60))
def test_every_token_is_found_in_an_fts_table_as_a_quoted_string(text: str) -> None:
    with sqlite3.connect(":memory:") as conn:
        conn.execute(
            "CREATE VIRTUAL TABLE f USING fts5 (body, tokenize ="
            " \"unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Z* C*' separators ' '\")"
        )
        conn.execute("INSERT INTO f VALUES (?)", (index_text(text),))
        for term in query_terms(text):
            quoted = '"' + term.replace('"', '""') + '"'
            found = conn.execute("SELECT count(*) FROM f WHERE f MATCH ?", (quoted,)).fetchone()
            assert found[0] == 1, term
    conn.close()


@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_stored_text_is_composed_and_otherwise_left_alone() -> None:
    assert nfc(unicodedata.normalize("NFD", "한글 Ａ")) == "한글 Ａ"


def test_threads_stem_at_once() -> None:
    words = [f"{stem}ing" for stem in ("test", "work", "index", "search")] * 500
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(index_text, [" ".join(words[i:]) for i in range(64)]))
    assert all(set(tokens.split()) == {"test", "work", "index", "search"} for tokens in found)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("토큰이 만료되면 오류가 납니다", "ko"),
        ("React의 useState Hook을 사용하면 됩니다", "ko"),
        ("[링크](https://developer.mozilla.org/en-US/docs/Web/API/Event/very/long)", "ko"),
        ("Tokens expire after an hour", "en"),
        ("The word 김치 is Korean for a dish that is made of fermented cabbage", "en"),
        ("これは日本語の文章です", "other"),
        ("12345 -- !!", "other"),
        ("`useState`", "en"),
    ],
)
def test_the_language_is_that_of_the_prose(text: str, language: str) -> None:
    assert language_of(text) == language


@given(
    st.text(
        st.one_of(
            st.sampled_from("가힣\ud7a3\ud7b0ㄱㅏ㆏\u1100\u11ff\u1200éɏɐж漢か“—…ﬁ\U00020000"),
            st.characters(),
        )
    )
)
def test_the_short_way_to_a_language_says_what_the_long_one_says(text: str) -> None:
    assert languages._plainly(text) in (None, languages._counted(text))
