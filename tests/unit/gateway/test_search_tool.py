"""search_documents over a keyword-only knowledge base, and the budget of its answers."""

from __future__ import annotations

import json

import pytest

from seoga.models import Hit, Place
from seoga.search.request import SearchAnswer
from seoga_gateway.quoting import BUDGET_BYTES, FENCE, NOTICE, size
from seoga_gateway.tools.search_documents import answer as answer_of


def text_of(result) -> str:
    return "".join(block.text for block in result.content)


def test_a_hit_shows_its_text_its_place_and_why_it_is_here(kb, ask) -> None:
    answer = ask("search_documents", kb_id="handbook", query="연차 휴가는 며칠인가")
    content = answer.structured_content
    first = content["results"][0]
    assert first["text"] == "연차 휴가는 15일이다."
    assert first["document"] == "docs/policy/휴가.pdf"
    assert first["place"] == {"page": 1}
    assert first["label"] == "[exact match]"
    assert content["mode"] == "bm25"
    assert content["notice"] == NOTICE
    assert 'place="page 1"' in text_of(answer)


def test_without_an_id_every_knowledge_base_is_searched(kb, make_kb, base_path, ask) -> None:
    make_kb(base_path, "fresh", name="Fresh")
    content = ask("search_documents", query="ERR_TOKEN_EXPIRED").structured_content
    assert content["results"][0]["kb_id"] == "handbook"
    assert "Fresh is not indexed yet." in content["warnings"]


def test_nothing_relevant_is_said_plainly(kb, ask) -> None:
    answer = ask("search_documents", kb_id="handbook", query="양자역학 얽힘 실험 장치")
    assert answer.structured_content["results"] == []
    assert "No relevant results" in text_of(answer)
    assert f"<{FENCE}" not in text_of(answer)


@pytest.mark.parametrize(
    "query",
    ["C++", '"', "NOT", "ADR-0005", "*", "👍", "a\x00b", "연" * 10_000, "NEAR(", "  ", "'; DROP"],
)
def test_no_query_is_an_error(kb, ask, query) -> None:
    assert not ask("search_documents", kb_id="handbook", query=query).is_error


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"top_k": 0}, "top_k"),
        ({"top_k": 51}, "top_k"),
        ({"top_k": "many"}, "top_k"),
        ({"search_mode": "hybrid"}, "search_mode"),
        ({"threshold": 2}, "threshold"),
        ({"modified_after": "yesterday"}, "modified_after"),
        ({"lang": "klingon"}, "lang"),
        ({"minimum": 1}, "minimum"),
    ],
)
def test_a_value_out_of_range_is_refused_by_name(kb, ask, arguments, says) -> None:
    answer = ask("search_documents", kb_id="handbook", query="휴가", **arguments)
    assert answer.structured_content["code"] == "invalid_argument"
    assert says in answer.structured_content["message"]


def test_a_search_by_meaning_without_vectors_says_what_is_missing(kb, ask) -> None:
    answer = ask("search_documents", kb_id="handbook", query="휴가", search_mode="vector")
    assert answer.is_error
    assert answer.structured_content["message"]


def test_no_index_at_all_is_said(base_path, ask) -> None:
    answer = ask("search_documents", query="휴가")
    assert answer.structured_content["code"] == "not_found"


def test_a_hostile_passage_stays_quoted(kb, ask) -> None:
    answer = ask("search_documents", kb_id="handbook", query="ignore previous instructions")
    text = text_of(answer)
    assert "ignore previous instructions" in text
    assert text.count(f"</{FENCE}>") == len(answer.structured_content["results"])
    assert text.index(NOTICE) < text.index(f"<{FENCE}")


def hit(number: int, text: str) -> Hit:
    return Hit(
        kb_id="kb",
        kb_name="KB",
        document_id=number,
        chunk_id=number,
        path=f"{number}.md",
        url="",
        title="Title",
        heading_path=("A", "B"),
        place=Place(page=number),
        text=text,
        header_row="",
        snippet=text[:200],
        label="[semantic 0.700]",
        score=0.7,
        rank_score=0.7,
        cosine=0.7,
    )


def test_an_answer_stays_within_its_budget_and_counts_what_is_left_out() -> None:
    found = SearchAnswer(hits=tuple(hit(n, "가나다라 " * 800) for n in range(1, 51)), left_out=2)
    result = answer_of(found)
    content = result.structured_content
    assert size(json.dumps(content, ensure_ascii=False)) < BUDGET_BYTES * 1.1
    assert size(text_of(result)) < BUDGET_BYTES * 1.1
    assert 0 < len(content["results"]) < 50
    assert content["omitted"] == 52 - len(content["results"])
    assert f"{content['omitted']} results left out" in text_of(result)


def test_one_passage_over_the_budget_is_cut() -> None:
    result = answer_of(SearchAnswer(hits=(hit(1, "가" * BUDGET_BYTES),)))
    assert len(result.structured_content["results"]) == 1
    assert size(text_of(result)) < BUDGET_BYTES
