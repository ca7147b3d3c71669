"""Any text is a query: never an exception, never long.

`FUZZ_STRINGS=100000 pytest tests/unit/shared/search/test_fuzz.py` asks as many; a few hundred else.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seoga.search.readers import close_readers
from seoga.search.semantic import MATRICES

from .conftest import Shelf

# CPU of one search over a small base; a query of ten thousand characters takes a tenth of it.
LIMIT_S = 2.0
EXAMPLES = int(os.environ.get("FUZZ_STRINGS", "300"))

WORDS = (
    "AND",
    "OR",
    "NOT",
    "NEAR(",
    "title:",
    "ADR-0005",
    "C++",
    "v2.3.1",
    "kuberntes",
    "보고서는",
)
MARKS = st.sampled_from("()*^\"':-;%_?[]{}\\|./\x00\u200b😀\ud800개")
SYNTAX = st.one_of(MARKS, st.sampled_from((*WORDS, "ａｂｃ", "--", "/*", "*/", "2026-05-02", "..")))
TEXTS = st.one_of(
    st.text(max_size=200),
    st.lists(SYNTAX, max_size=40).map(" ".join),
    st.lists(SYNTAX, max_size=40).map("".join),
    st.text("가각간뷁ㄱㅏ개는을 ", max_size=80),
    st.builds(
        lambda part, count: (part * count)[:12_000], st.text(min_size=1), st.integers(1, 4000)
    ),
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    shelf = Shelf(tmp_path_factory.mktemp("fuzz") / "kb")
    shelf.put("a.md", "보고서는 금요일까지 낸다 ADR-0005 ERR_TOKEN_EXPIRED v2.3.1", title="보고")
    shelf.put("b.md", "# C++\n\nThe kubernetes cluster, 100 % of a_b and a-b; 'quoted' \"twice\"")
    shelf.put("c.md", "개와 고양이 2026-05-02 😀 漢字 ｆｕｌｌ")
    shelf.embed()
    yield shelf
    shelf.close()
    close_readers()
    MATRICES.clear()


@settings(
    max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), database=None
)
@given(text=TEXTS, mode=st.sampled_from(("auto", "bm25")))
def test_any_text_is_answered_in_time(library: Shelf, text: str, mode: str) -> None:
    started = time.thread_time()
    answer = library.search(text, mode=mode, explain=True)
    assert time.thread_time() - started < LIMIT_S
    assert answer.hits or answer.message
    answer.to_json()


@settings(max_examples=EXAMPLES // 3, deadline=None, database=None)
@given(text=st.text(max_size=60))
def test_any_text_is_a_filter(library: Shelf, text: str) -> None:
    options = {"labels": (text,), "exclude": (text,), "file_types": (text,), "path_glob": text}
    for name, value in options.items():
        library.search("보고서", mode="bm25", **{name: value})


def test_what_is_typed_for_files_matches_no_other_files(library: Shelf) -> None:
    assert library.paths("kubernetes", path_glob="b_md") == []
    assert library.paths("kubernetes", path_glob="%") == []
    assert library.paths("kubernetes", file_types=("m_",)) == []
    assert library.paths("kubernetes", file_types=("%",)) == []
    assert library.paths("kubernetes", path_glob="[b].md") == []
    assert library.paths("kubernetes", path_glob="?.md") == ["b.md"]


def test_the_longest_query_that_is_read_is_answered_in_time(library: Shelf) -> None:
    started = time.thread_time()
    library.search(" ".join(f"word{n} 낱말{n}" for n in range(2_000)))
    assert time.thread_time() - started < LIMIT_S
