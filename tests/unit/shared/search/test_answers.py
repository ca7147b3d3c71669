"""What a search answers: evidence, labels, messages, filters, caps."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

import pytest

from seoga.errors import InvalidArgument, NotFound, SeogaError, ServiceUnavailable
from seoga.search.engine import SearchRequest, search

from .conftest import Shelf

Make = Callable[..., Shelf]

AUTH = "# 인증\n\n토큰이 만료되면 ERR_TOKEN_EXPIRED 오류가 나고 사용자는 다시 로그인해야 합니다."
DEPLOY = "# 배포\n\n배포는 매주 화요일 오후에 자동으로 합니다. 담당자는 운영팀입니다."
GUIDE = "# Install\n\nRun the installer, then write C++ code; the decision is ADR-0005."


@pytest.fixture
def filled(shelf: Shelf) -> Shelf:
    shelf.put("auth.md", AUTH)
    shelf.put("deploy.md", DEPLOY)
    shelf.put("guide.md", GUIDE, title="Guide")
    shelf.embed()
    return shelf


def test_a_hit_says_what_where_and_why(filled: Shelf) -> None:
    hit = filled.search("토큰이 만료되면 나는 오류").hits[0]
    assert hit.document == "docs/auth.md"
    assert hit.text == AUTH.split("\n\n")[1]
    assert hit.heading_path == ("인증",)
    assert hit.place.page == 1
    assert hit.modified == "2025-06-15T15:06:40+00:00"
    assert "**토큰이" in hit.snippet
    assert hit.cosine is not None
    assert hit.keyword is not None
    assert hit.label == f"[both {hit.cosine:.3f}]"
    assert hit.score == hit.cosine
    assert (hit.cosine_rank, hit.keyword_rank) == (1, 1)


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("배포", "deploy.md"),
        ("화요일", "deploy.md"),
        ("로그인", "auth.md"),
        ("배포를 담당하는", "deploy.md"),
        ("C++", "guide.md"),
        ("ADR-0005", "guide.md"),
        ('adr-0005"', "guide.md"),
        ("ＡＤＲ－０００５", "guide.md"),
        ("err_token_expired", "auth.md"),
        ("TOKEN_EXPIRED", "auth.md"),
        ("TOKEN EXPIRED", "auth.md"),
        ("installing", "guide.md"),
    ],
)
def test_words_identifiers_and_their_parts_are_found(filled: Shelf, query: str, path: str) -> None:
    assert filled.paths(query, mode="bm25")[0] == path
    assert filled.paths(query)[0] == path


@pytest.mark.parametrize(
    "query",
    [
        *(
            '"',
            "NOT",
            "*",
            "foo AND",
            "a OR (",
            "NEAR(",
            "title:x",
            "-x",
            "x^2",
            "%_",
            "'",
            "{a}:b",
        ),
        *("x" * 10_000, "보고 " * 5_000, "\ud800", "a\x00b", "🙂 auth"),
    ],
)
def test_no_query_is_an_error(filled: Shelf, query: str) -> None:
    for mode in ("auto", "bm25", "vector"):
        answer = filled.search(query, mode=mode)
        assert answer.hits or answer.message


@pytest.mark.parametrize("query", ["", "  ", "\x00", "🙂", "…!?", '"*"'])
def test_a_query_without_words_is_told_so(filled: Shelf, query: str) -> None:
    answer = filled.search(query)
    assert answer.hits == ()
    assert "nothing to search for" in answer.message


def test_noise_is_refused_with_the_score_that_was_tested(filled: Shelf) -> None:
    answer = filled.search("양자역학의 불확정성 원리 관측")
    assert answer.hits == ()
    assert answer.best_score is not None
    assert answer.message.startswith(
        f"No relevant results (best score {answer.best_score:.2f}, threshold 0.13)."
    )
    assert answer.dropped > 0


def test_a_threshold_is_used_and_keyword_evidence_still_counts(filled: Shelf) -> None:
    answer = filled.search("ADR-0005", threshold=0.99)
    assert [hit.label for hit in answer.hits] == ["[exact match]"]
    assert answer.threshold == 0.99
    assert filled.search("배포는 화요일", mode="vector", threshold=0.99).hits == ()


def test_what_meaning_finds_may_be_shown_for_its_words_unless_a_threshold_was_chosen(
    filled: Shelf,
) -> None:
    by_both = filled.search("배포는 화요일", mode="vector", explain=True)
    (hit,) = by_both.hits
    assert hit.keyword is None
    assert hit.why["evidence"] >= 1
    assert filled.search("배포는 화요일", mode="vector", threshold=0.99).hits == ()


def test_keyword_mode_asks_no_embedder(filled: Shelf) -> None:
    answer = filled.search("배포", mode="bm25")
    assert filled.embedder.queries == []
    assert answer.mode == "bm25"
    assert answer.hits[0].label == "[exact match]"
    assert answer.hits[0].cosine is None
    assert answer.hits[0].score == answer.hits[0].keyword


def test_an_outage_falls_back_to_keywords_and_says_so(filled: Shelf) -> None:
    filled.embedder.down = True
    answer = filled.search("배포 담당자")
    assert "deploy.md" in [hit.path for hit in answer.hits]
    assert answer.mode == "bm25"
    assert answer.warnings == ("Keyword search only: The embedding service does not answer.",)
    with pytest.raises(ServiceUnavailable):
        filled.search("배포 담당자", mode="vector")


def test_another_model_is_never_compared(filled: Shelf) -> None:
    filled.embedder.digest = "2"
    answer = filled.search("배포 담당자")
    assert answer.mode == "bm25"
    assert "another model" in answer.warnings[0]
    assert filled.embedder.queries == []


def test_chunks_without_vectors_are_found_by_keyword_and_counted(filled: Shelf) -> None:
    filled.put("new.md", "휴가 규정은 인사팀이 관리합니다.")
    answer = filled.search("휴가 규정")
    assert answer.hits[0].path == "new.md"
    assert answer.pending == 1
    assert any("1 of 4 chunks still to embed" in text for text in answer.warnings)
    filled.embed()
    assert filled.search("휴가 규정").pending == 0


def test_a_document_deleted_a_moment_ago_is_gone(filled: Shelf) -> None:
    assert filled.paths("배포 화요일") == ["deploy.md"]
    known = filled.store.get("docs", "deploy.md")
    assert known is not None
    filled.store.remove([known.id])
    assert "deploy.md" not in filled.paths("배포 화요일", abstain=False)


def test_excluded_folders_are_hidden_and_counted(filled: Shelf) -> None:
    filled.put("Archive/old.md", "배포는 금요일에 수동으로 했습니다.")
    filled.put("archived/x.md", "배포는 목요일 아침입니다.")
    filled.embed()
    answer = filled.search("배포 요일")
    assert {hit.path for hit in answer.hits} == {"deploy.md", "archived/x.md"}
    assert answer.hidden == 1
    assert "1 document hidden (archive, plans)" in answer.message
    assert "Archive/old.md" in filled.paths("배포 요일", search_all=True)
    assert "Archive/old.md" not in filled.paths("배포 요일", search_all=True, exclude=("ARCHIVE",))


def test_a_hidden_answer_is_not_taken_for_none(filled: Shelf) -> None:
    filled.put("archive/decision.md", "결재선은 팀장과 본부장입니다.")
    filled.embed()
    answer = filled.search("결재선 팀장 본부장")
    assert answer.hits == ()
    assert answer.hidden == 1
    assert "search_all" in answer.message


def test_a_filter_is_applied_before_the_cut(shelf: Shelf) -> None:
    for number in range(120):
        shelf.put(f"many/{number}.md", f"배포 일정 안내 문서 {number}번입니다.", label="wiki")
    shelf.put(
        "one.txt", "배포 일정과 조금 관계있는 안내가 든 아주 긴 글입니다. " * 8, format="text"
    )
    shelf.embed()
    assert shelf.paths("배포 일정 안내", labels=("docs",)) == ["one.txt"]
    assert shelf.paths("배포 일정 안내", file_types=(".txt",)) == ["one.txt"]
    assert shelf.paths("배포 일정 안내", path_glob="*.txt") == ["one.txt"]
    assert shelf.paths("배포 일정 안내", path_glob="many/7?.md", top_k=50) != []
    assert "filters" in shelf.search("배포 일정", labels=("nobody",)).message


@pytest.mark.parametrize("mode", ["auto", "bm25", "vector"])
@pytest.mark.parametrize(
    "options",
    [
        {"modified_after": "2026-01-15"},
        {"modified_before": "2025-01-15"},
        {"lang": "en"},
        {"exclude": ("many",)},
        {"labels": ("docs",)},
        {"file_types": ("txt",)},
        {"path_glob": "few/*"},
    ],
)
def test_every_filter_works_inside_the_search(
    shelf: Shelf, mode: str, options: dict[str, Any]
) -> None:
    """What passes it is nearer to nothing than 120 others, and is found all the same."""
    for number in range(120):
        shelf.put(f"many/{number}.md", f"deploy schedule 배포 일정 안내 {number}번", label="wiki")
    day = 1_780_000_000 if "modified_after" in options else 1_730_000_000
    text = "deploy schedule, told in a long page about something else. " * 6
    shelf.put("few/one.txt", text, format="text", mtime_ns=day * 10**9)
    shelf.embed()
    found = shelf.paths("deploy schedule", mode=mode, threshold=0.01, **options)
    assert found == ["few/one.txt"]


def test_filters_hold_in_every_base_that_is_searched(make_shelf: Make) -> None:
    shelves = [make_shelf("first"), make_shelf("second")]
    for number, one in enumerate(shelves):
        one.put("a.md", f"parking fee of pier {number} is paid at the gate", label="rules")
        one.put("b.md", f"parking fee of pier {number} was discussed at length", label="minutes")
        one.embed()
    request = SearchRequest("parking fee pier", labels=("rules",), fold=False)
    answer = search([one.kb for one in shelves], request, shelves[0].embedder)
    assert {(hit.kb_id, hit.path) for hit in answer.hits} == {
        ("first", "a.md"),
        ("second", "a.md"),
    }


def test_passages_that_overlap_are_folded_and_others_move_up(shelf: Shelf) -> None:
    words = [f"word{number}" for number in range(40)]
    first, next_one = " ".join(words[:38]), " ".join(words[2:])
    shelf.put("a.md", f"harbour dues {first}\n\nharbour dues {next_one}")
    shelf.put("b.md", "harbour dues are paid monthly by every operator at the pier office")
    far = " ".join(f"other{number}" for number in range(90))
    shelf.put("c.md", f"harbour dues {far}")
    shelf.embed()
    answer = shelf.search("harbour dues", top_k=3)
    assert answer.folded == 1
    assert sorted(hit.path for hit in answer.hits) == ["a.md", "b.md", "c.md"]


def test_dates_filter_by_the_last_change(shelf: Shelf) -> None:
    for day, path in ((1, "old.md"), (20, "new.md")):
        shelf.put(path, f"회의록 {path}", mtime_ns=(1_767_225_600 + day * 86_400) * 10**9)
    assert shelf.paths("회의록", modified_after="2026-01-15") == ["new.md"]
    assert shelf.paths("회의록", modified_before="2026-01-02") == ["old.md"]


def test_language_filters(shelf: Shelf) -> None:
    shelf.put("ko.md", "FastAPI 서버를 설치하는 방법을 설명합니다.")
    shelf.put("en.md", "How to install the FastAPI server is explained here.")
    shelf.embed()
    assert shelf.paths("FastAPI", lang="en") == ["en.md"]
    assert shelf.paths("FastAPI", lang="ko") == ["ko.md"]


def test_one_document_does_not_fill_the_answer(shelf: Shelf) -> None:
    long = "\n\n".join(f"배포 절차 {n}단계에서는 서버 {n}번을 점검합니다." for n in range(80))
    shelf.put("long.md", long)
    for n in range(3):
        shelf.put(f"other{n}.md", f"서버실 이전 계획과 일정 {n}. 배포 절차와 점검도 조금 바뀝니다.")
    shelf.embed()
    paths = shelf.paths("배포 절차 점검", fold=False)
    assert paths.count("long.md") == 3
    assert len(paths) == 5


def test_the_same_passage_is_shown_once(shelf: Shelf) -> None:
    shelf.put("a.md", "재택근무는 주 이틀까지 허용되며 팀장 승인이 필요합니다.")
    shelf.put("b.md", "재택근무는 주 이틀까지 허용되며 팀장 승인이 필요합니다.")
    shelf.embed()
    answer = shelf.search("재택근무 승인")
    assert len(answer.hits) == 1
    assert answer.folded == 1
    assert len(shelf.paths("재택근무 승인", fold=False)) == 2


def test_the_answer_has_a_budget_and_says_what_was_left_out(shelf: Shelf) -> None:
    for n in range(5):
        shelf.put(f"{n}.md", f"예산 항목 {n}: " + f"제{n}조의 내용 {n * 7} " * 40)
    answer = shelf.search("예산 항목", max_chars=1000, fold=False)
    assert answer.left_out == 5 - len(answer.hits) > 0
    assert f"{answer.left_out} more left out" in answer.message


@pytest.mark.parametrize("top_k", [0, -1, 51, 10**6, True])
def test_top_k_out_of_range_is_refused(filled: Shelf, top_k: int) -> None:
    with pytest.raises(InvalidArgument, match="top_k"):
        filled.search("배포", top_k=top_k)


@pytest.mark.parametrize(
    "options",
    [
        {"mode": "magic"},
        {"fusion": "sum"},
        {"threshold": float("nan")},
        {"threshold": 2.0},
        {"lang": "de"},
        {"modified_after": "yesterday"},
        {"modified_before": "2026-13-01"},
        {"per_document": -1},
    ],
)
def test_values_out_of_range_name_themselves(filled: Shelf, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument, match=next(iter(options))):
        filled.search("배포", **options)


def test_neighbours_are_the_passages_around(shelf: Shelf) -> None:
    shelf.put("doc.md", "첫째 문단 사과\n\n둘째 문단 포도\n\n셋째 문단 수박")
    middle = next(hit for hit in shelf.search("포도").hits if "포도" in hit.text)
    conn = sqlite3.connect(shelf.kb.db_path)
    texts = dict(conn.execute("SELECT id, text FROM chunks"))
    conn.close()
    assert [texts[each] for each in middle.neighbours] == ["첫째 문단 사과", "셋째 문단 수박"]


def test_several_kbs_are_merged_and_a_missing_index_is_a_warning(make_shelf: Make) -> None:
    one, two = make_shelf("one"), make_shelf("two")
    one.put("a.md", "출장비는 영수증을 첨부해 신청합니다.")
    two.put("b.md", "출장비 신청은 매월 말일까지입니다.")
    empty = make_shelf("three")
    empty.close()
    for file in empty.kb.folder.glob("rag.db*"):
        file.unlink()
    answer = search([one.kb, two.kb, empty.kb], SearchRequest("출장비 신청"), one.embedder)
    assert {hit.kb_id for hit in answer.hits} == {"one", "two"}
    assert any(text.startswith("three was not searched") for text in answer.warnings)
    with pytest.raises(NotFound):
        search([empty.kb], SearchRequest("출장비"), None)
    with pytest.raises(SeogaError):
        search([], SearchRequest("출장비"), None)


def test_a_document_comes_first_for_its_own_name(shelf: Shelf) -> None:
    shelf.put("adr-0005.md", "우리는 큐를 하나만 둔다.", title="ADR-0005: One queue")
    for number in range(8):
        text = f"ADR-0005 ADR-0005 번째 언급: ADR-0005 결정에 따라 {number}번 서비스를 바꾼다."
        shelf.put(f"note-{number}.md", text)
    shelf.embed()
    assert shelf.search("ADR-0005").hits[0].path == "adr-0005.md"
    assert shelf.search("why was ADR-0005 decided", mode="bm25").hits[0].path == "adr-0005.md"


def test_a_name_that_many_documents_share_leads_nowhere(shelf: Shelf) -> None:
    for number in range(4):
        shelf.put(f"{number}.md", f"Part {number} says little.", title=f"GPT-4 part {number}")
    shelf.put("answer.md", "The GPT-4 context window has 8192 tokens; GPT-4 reads no more.")
    shelf.embed()
    assert shelf.search("context window tokens of GPT-4").hits[0].path == "answer.md"


@pytest.mark.parametrize("mode", ["auto", "bm25"])
def test_an_identifier_that_nobody_wrote_is_told_and_not_replaced(filled: Shelf, mode: str) -> None:
    filled.put("hash.md", "EIP-20 tokens: the hash is 0x1299999 and the sum 8999993.")
    filled.embed()
    answer = filled.search("EIP-99999", mode=mode)
    assert answer.hits == ()
    assert answer.message.startswith('"EIP-99999" occurs in no document.')
    answer = filled.search("EIP-99999 배포는 화요일", mode=mode)
    assert '"EIP-99999" occurs in no document.' in answer.message
    assert "deploy.md" in [hit.path for hit in answer.hits]


def test_an_identifier_whose_parts_are_all_known_is_searched_for_by_them(shelf: Shelf) -> None:
    shelf.put("covid.md", "COVID cases rose in 19 of the regions.")
    shelf.embed()
    assert shelf.search("COVID-19").hits[0].path == "covid.md"
