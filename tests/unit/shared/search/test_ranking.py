"""Scores are absolute and exact; the language of a document decides what they weigh."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seoga.search import fusion, matrix
from seoga.search.abstain import Bar, for_size, label_of
from seoga.search.filters import Scope
from seoga.search.fusion import Candidate
from seoga.search.globs import glob_pattern
from seoga.search.lexical import KeywordTrack
from seoga.search.query import analyse, is_identifier
from seoga.search.readers import reading
from seoga.search.semantic import MATRICES, SHARPNESS, _closeness
from seoga.storage.vectors import unpack

from .conftest import Shelf


def test_a_keyword_share_is_bm25_over_its_ideal(shelf: Shelf) -> None:
    shelf.put("a.md", "alpha beta beta both")
    shelf.put("b.md", "gamma delta epsilon zeta both")
    with reading(shelf.kb.db_path) as conn:
        track = KeywordTrack(conn, analyse("beta both unknownword"))
        found = track.candidates(Scope(), 10)
        score = track.score(found)[found[0]]
        assert (track.rows, track.mean_length) == (2, 4.5)
    rare, common = math.log(1 + 1.5 / 1.5), math.log(1 + 0.5 / 2.5)
    norm = 0.8 * (1 - 0.75 + 0.75 * 4 / 4.5)
    mass = rare + common + rare
    gained = rare * 2 / (2 + norm) + common * 1 / (1 + norm)
    assert score.share == pytest.approx(gained / mass)
    assert score.coverage == pytest.approx((rare + common) / mass)


def test_an_off_topic_query_never_scores_high(shelf: Shelf) -> None:
    for n in range(30):
        shelf.put(f"{n}.md", f"회의 안건 {n} 예산과 일정")
    answer = shelf.search("은하 충돌 시뮬레이션 예산", mode="bm25", abstain=False)
    assert answer.hits[0].keyword is not None
    assert answer.hits[0].keyword < 0.3


def test_the_commonest_terms_are_left_to_the_second_stage(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(40):
        shelf.put(f"{n}.md", f"common words everywhere {'needle' if n == 7 else ''}")
    thorough = shelf.search("common needle", mode="bm25").hits[0]
    monkeypatch.setattr("seoga.search.lexical.MAX_POSTINGS", 10)
    (quick,) = shelf.search("common needle", mode="bm25").hits
    assert quick.path == "7.md"
    assert quick.keyword == thorough.keyword


def test_a_syllable_alone_finds_the_words_it_begins(shelf: Shelf) -> None:
    shelf.put("a.md", "화요일에 모입니다")
    assert shelf.paths("화", mode="bm25") == ["a.md"]


def test_only_the_rarest_terms_of_an_endless_query_count(shelf: Shelf) -> None:
    shelf.put("a.md", "needle")
    query = " ".join(f"w{n}" for n in range(1500)) + " needle"
    with reading(shelf.kb.db_path) as conn:
        assert len(KeywordTrack(conn, analyse(query)).terms) <= 96


def test_shared_words_count_in_the_same_language_and_mislead_in_another() -> None:
    same = Candidate(1, 1, same_language=True, cosine=0.4, keyword=0.5)
    other = Candidate(2, 2, same_language=False, cosine=0.4, keyword=0.5)
    named = Candidate(3, 3, same_language=False, cosine=0.4, keyword=0.5, exact=True)
    fusion.convex([same, other, named])
    assert same.rank_score == pytest.approx(0.65 * 0.5 + 0.35 * 0.4)
    assert other.rank_score == pytest.approx(0.05 * 0.5 + 0.7 * 0.4)
    assert named.rank_score == pytest.approx(other.rank_score + 0.1)


def test_words_of_another_language_do_not_lift_what_is_not_embedded_yet() -> None:
    embedded = Candidate(1, 1, same_language=False, cosine=0.6, keyword=0.1)
    waiting = Candidate(2, 2, same_language=False, keyword=0.9)
    fusion.convex([embedded, waiting])
    assert embedded.rank_score > waiting.rank_score
    fusion.convex([waiting])
    assert waiting.rank_score == 0.9


def test_rrf_uses_ranks_only() -> None:
    both = Candidate(1, 1, cosine=0.9, keyword=0.1)
    one = Candidate(2, 2, cosine=0.2, keyword=0.0)
    fusion.rank_tracks([both, one])
    fusion.rrf([both, one])
    assert both.rank_score == pytest.approx(1.0)
    assert one.rank_score == pytest.approx(61 / 62 / 2)


def test_gated_lets_two_keyword_hits_follow_the_semantic_ones() -> None:
    close = Candidate(1, 1, cosine=0.6, keyword=0.0)
    rare = [
        Candidate(n, n, cosine=0.1, keyword=n / 10, matched=frozenset({"rare"})) for n in (2, 3, 4)
    ]
    common = Candidate(5, 5, cosine=0.1, keyword=0.9, matched=frozenset({"common"}))
    every = [close, common, *rare]
    bar = Bar(0.5, 0.99)
    fusion.gated(every, bar.admits, [frozenset({"rare"})])
    assert [each.chunk_id for each in fusion.in_order(every)][:3] == [1, 4, 3]
    assert [each.chunk_id for each in every if bar.admits(each)] == [1, 3, 4]


def test_gated_lets_no_rare_word_speak_for_a_question_about_something_else() -> None:
    matched = frozenset({"rare"})
    little = Candidate(1, 1, cosine=0.1, keyword=0.5, known=0.2, matched=matched)
    much = Candidate(2, 2, cosine=0.1, keyword=0.4, known=0.4, matched=matched)
    bar = Bar(0.5, 0.99)
    fusion.gated([little, much], bar.admits, [matched], 0.3)
    assert [each.chunk_id for each in (little, much) if bar.admits(each)] == [2]


def test_beside_what_holds_all_of_a_short_query_the_others_are_doubted() -> None:
    said = Candidate(1, 1, cosine=0.2, keyword=0.9, exact=True)
    noise = Candidate(2, 2, cosine=0.47, keyword=0.0, same_language=False)
    fusion.doubt([noise])
    bar = Bar(0.5, 0.3, 0.8, across=0.85, doubt=1.25)
    assert bar.admits(noise)
    fusion.doubt([noise, said])
    assert [each.chunk_id for each in (said, noise) if bar.admits(each)] == [1]
    assert bar.admits(Candidate(3, 3, cosine=0.63, keyword=0.0, doubted=True))


def test_gated_needs_a_rare_word_whole(shelf: Shelf) -> None:
    shelf.put("form.md", "도형 가운데 오각형을 그립니다.")
    for number in range(12):
        shelf.put(f"{number}.md", f"다른 글 {number}")
    with reading(shelf.kb.db_path) as conn:
        rare = KeywordTrack(conn, analyse("삼각형을 오각형으로")).rare(0.01)
    assert rare == [frozenset({"오각", "각형"})]
    part = Candidate(1, 1, cosine=0.1, keyword=0.5, matched=frozenset({"각형"}))
    whole = Candidate(2, 2, cosine=0.1, keyword=0.5, matched=frozenset({"오각", "각형"}))
    bar = Bar(0.5, 0.99)
    fusion.gated([part, whole], bar.admits, rare)
    assert [each.chunk_id for each in (part, whole) if bar.admits(each)] == [2]


def test_equal_scores_come_in_a_fixed_order() -> None:
    twins = [Candidate(2, 1, rank_score=0.5), Candidate(1, 1, rank_score=0.5)]
    assert [each.chunk_id for each in fusion.in_order(twins)] == [1, 2]


@pytest.mark.parametrize(
    ("cosine", "keyword", "coverage", "label"),
    [
        (0.7123, 0.0, 0.0, "[semantic 0.712]"),
        (0.688, 0.5, 0.6, "[both 0.688]"),
        (0.1, 0.5, 0.6, "[keyword match]"),
        (0.4, 0.5, 0.6, "[both 0.400]"),
        (None, 0.5, 0.6, "[keyword match]"),
    ],
)
def test_a_label_names_the_evidence(
    cosine: float | None, keyword: float, coverage: float, label: str
) -> None:
    candidate = Candidate(1, 1, cosine=cosine, keyword=keyword, coverage=coverage)
    assert label_of(candidate, Bar(0.5, 0.3, 0.8)) == label


@pytest.mark.parametrize(
    ("cosine", "coverage", "admitted"),
    [
        (0.5, 0.0, True),
        (0.49, 0.0, False),
        (0.3, 0.4, True),
        (0.3, 0.3, False),
        (0.0, 0.8, True),
        (-0.2, 0.7, False),
        (None, 0.3, True),
        (None, 0.29, False),
    ],
)
def test_part_of_the_cosine_and_part_of_the_words_make_enough(
    cosine: float | None, coverage: float, admitted: bool
) -> None:
    candidate = Candidate(1, 1, cosine=cosine, keyword=0.5, coverage=coverage)
    assert Bar(0.5, 0.3, 0.8).admits(candidate) == admitted


def test_another_language_needs_a_lower_cosine_unless_one_was_chosen() -> None:
    other = Candidate(1, 1, cosine=0.45, keyword=0.0, same_language=False)
    assert Bar(0.5, 0.3, 0.8, across=0.85).admits(other)
    assert not Bar(0.5, 0.3, 0.8).admits(other)
    assert label_of(other, Bar(0.5, 0.3, 0.8, across=0.85)) == "[semantic 0.450]"


def test_bars_come_down_among_few_passages_only() -> None:
    sizes = [for_size(count) for count in (0, 1, 50, 80, 275, 500, 100_000)]
    assert sizes == sorted(sizes)
    assert (sizes[0], sizes[3], sizes[-2:]) == (0.85, 0.85, [1.0, 1.0])
    assert 0.9 < sizes[4] < 1


def test_grammar_of_a_query_is_no_part_of_what_must_be_found(shelf: Shelf) -> None:
    shelf.put("a.md", "배포 담당자는 운영팀입니다.")
    shelf.put("b.md", "다른 이야기를 적은 글입니다.")
    with reading(shelf.kb.db_path) as conn:
        track = KeywordTrack(conn, analyse("배포를 담당하는"))
        (score,) = track.score(track.candidates(Scope(), 5)).values()
    assert score.coverage == 1.0


@pytest.mark.parametrize("term", ["adr-0005", "v2.3.1", "err_token_expired", "health.base", "c++"])
def test_what_names_one_thing_is_an_identifier(term: str) -> None:
    assert is_identifier(term)


@pytest.mark.parametrize("query", ["aaaaaaaaaaaaaaaa", "ㅋㅋㅋㅋㅋㅋㅋ", "zzzzzzz  ㅎㅎㅎㅎㅎㅎ"])
def test_a_key_held_down_is_answered_by_its_own_letters_alone(shelf: Shelf, query: str) -> None:
    shelf.put("a.md", "a letter about letters, such as a and aa")
    shelf.put("b.md", "다른 이야기를 적은 글입니다.")
    shelf.embed()
    answer = shelf.search(query, threshold=-1.0)
    assert not answer.hits
    assert "in no document" in answer.message
    shelf.put("c.md", f"누가 {query} 라고 적었다.")
    shelf.embed()
    assert shelf.paths(query)[0] == "c.md"


@pytest.mark.parametrize("term", ["post-war", "3.14", "19th", "1990", "react", "and/or", "don't"])
def test_ordinary_words_and_numbers_are_none(term: str) -> None:
    assert not is_identifier(term)


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        ("*.md", "a/b/c.md", True),
        ("docs/*.md", "docs/a.md", True),
        ("docs/*.md", "docs/b/a.md", False),
        ("docs/**/*.md", "docs/b/c/a.md", True),
        ("docs/**/*.md", "docs/a.md", True),
        ("docs/**", "docs/a/b", True),
        ("a_b.md", "axb.md", False),
        ("100%.md", "100x.md", False),
        ("보고?.md", "보고서.md", True),
        ("[a].md", "[a].md", True),
    ],
)
def test_globs_stay_within_segments(glob: str, path: str, matches: bool) -> None:
    assert bool(glob_pattern(glob).fullmatch(path)) is matches


def check_matrix(shelf: Shelf) -> None:
    """What is in memory must be what a search of all stored vectors gives."""
    query = shelf.embedder.embed_query("배포 일정 서버", shelf.kb.embedding_spec())
    with reading(shelf.kb.db_path) as conn:
        held = MATRICES.get(conn, shelf.kb.db_path, shelf.generation, 256)
        rows = conn.execute("SELECT chunk_id, count, data, penalties FROM vectors").fetchall()
    want = {
        chunk: float((unpack(data, count) @ query - np.frombuffer(penalties, "<f4")).max())
        for chunk, count, data, penalties in rows
    }
    got: dict[int, float] = {}
    for chunk, language, score in zip(
        held.chunks.tolist(), held.languages, held.scores(query).tolist(), strict=True
    ):
        if language != matrix.GONE:
            got[chunk] = max(score, got.get(chunk, -2.0))
    assert got.keys() == want.keys()
    for chunk, score in want.items():
        assert got[chunk] == pytest.approx(score, abs=0.02)


def test_the_matrix_follows_every_change(shelf: Shelf) -> None:
    ids: dict[str, int] = {}
    for n in range(30):
        ids[f"{n}"] = shelf.put(f"{n}.md", f"배포 일정 {n}\n\n서버 점검 목록 {n * 3}")
        if n % 4 == 0:
            shelf.embed()
            check_matrix(shelf)
    shelf.embed()
    check_matrix(shelf)
    shelf.store.remove([ids["3"], ids["17"]])
    check_matrix(shelf)
    # The last row goes and its number is used again.
    shelf.store.remove([ids["29"]])
    shelf.put("again.md", "서버 교체 기록")
    shelf.embed()
    check_matrix(shelf)
    shelf.put("5.md", "완전히 새로운 내용")
    shelf.embed()
    check_matrix(shelf)
    shelf.store.remove([each.id for each in shelf.store.known("docs")])
    check_matrix(shelf)


def test_the_matrix_is_the_same_without_the_fast_library(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(5):
        shelf.put(f"{n}.md", f"배포 일정 {n}")
    shelf.embed()
    monkeypatch.setitem(__import__("sys").modules, "simsimd", None)
    check_matrix(shelf)


def test_memory_is_given_back_when_there_is_too_much(make_shelf: Callable[..., Shelf]) -> None:
    small = matrix.MatrixCache(max_bytes=1)
    for name in ("one", "two"):
        shelf = make_shelf(name)
        shelf.put("a.md", "배포 일정")
        shelf.embed()
        with reading(shelf.kb.db_path) as conn:
            assert len(small.get(conn, shelf.kb.db_path, shelf.generation, 256).chunks) == 1
    assert len(small) == 1


def test_many_threads_search_while_the_index_grows(shelf: Shelf) -> None:
    shelf.put("fixed.md", "배포 일정은 화요일입니다")
    shelf.embed()
    done = threading.Event()

    def ask(_: int) -> None:
        while not done.is_set():
            assert "fixed.md" in shelf.paths("배포 일정 화요일", top_k=50, fold=False)

    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(ask, n) for n in range(4)]
        try:
            for n in range(25):
                shelf.put(f"{n}.md", f"배포 서버 {n} 점검")
                shelf.embed()
        finally:
            done.set()
        for future in asked:
            future.result()


def test_one_window_has_no_support_and_many_as_near_have_the_most() -> None:
    alone, alike, apart = _closeness(
        np.array([0.4, 0.4, 0.4, 0.4, 0.0, 0.4, -0.3], np.float32), np.array([1, 3, 3])
    )
    assert [one.cosine for one in (alone, alike, apart)] == pytest.approx([0.4] * 3)
    assert alone.support == 0
    assert alike.support == pytest.approx(math.log(3) / SHARPNESS, abs=1e-6)
    assert 0 <= apart.support < 1e-4
    assert _closeness(np.zeros(0, np.float32), np.zeros(0, np.int64)) == []


@given(st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=40))
def test_support_is_bounded_by_the_number_of_windows(scores: list[float]) -> None:
    (found,) = _closeness(np.array(scores, np.float32), np.array([len(scores)]))
    assert found.cosine == max(scores)
    assert -1e-6 <= found.support <= math.log(len(scores)) / SHARPNESS + 1e-6


def test_support_orders_hits_and_admits_none() -> None:
    once = Candidate(1, 1, cosine=0.34, keyword=0.0)
    often = Candidate(2, 2, cosine=0.33, support=0.05, keyword=0.0)
    shown = Bar(0.3, None).admits
    for fuse in (fusion.convex, lambda found: fusion.gated(found, shown, [])):
        fuse([once, often])
        assert fusion.in_order([once, often])[0] is often
    fusion.rank_tracks([once, often])
    assert (often.cosine_rank, once.cosine_rank) == (1, 2)
    assert not Bar(0.35, None).admits(often)
    assert label_of(often, Bar(0.3, None)) == "[semantic 0.330]"
