from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seoga.errors import InvalidArgument
from seoga.models import Place
from seoga_gateway.excerpt import excerpt, unit_of
from seoga_gateway.quoting import BUDGET_BYTES, size

PAGES = "## Page 1\n\n하나\n\n## Page 2\n\n둘\n\n## Page 3\n\n셋"
PAGE_MARKS = [(PAGES.index(f"## Page {n}"), Place(page=n)) for n in (1, 2, 3)]


def test_pages_are_read_by_their_number() -> None:
    part = excerpt(PAGES, PAGE_MARKS, start=2, limit=1)
    assert (part.unit, part.start, part.end, part.total, part.next_start) == ("page", 2, 2, 3, 3)
    assert part.text == "## Page 2\n\n둘\n\n"


def test_the_last_page_has_no_next() -> None:
    assert excerpt(PAGES, PAGE_MARKS, start=2, limit=10).next_start is None


def test_slides_count_as_pages() -> None:
    marks = [(0, Place(slide=1)), (4, Place(slide=2))]
    assert unit_of(marks) == "page"
    assert excerpt("one\ntwo", marks, start=2, limit=1).text == "two"


def test_a_page_may_be_read_by_line() -> None:
    assert excerpt(PAGES, PAGE_MARKS, start=3, limit=1, unit="line").text == "하나\n"


def test_lines_carry_the_numbers_of_the_original() -> None:
    # Front matter of nine lines was cut off by the extraction, and the second paragraph stood at
    # line 40.
    text = "# Title\n\nfirst\nsecond\n\nfar away"
    marks = [
        (0, Place(line_start=10)),
        (9, Place(line_start=12)),
        (text.index("far"), Place(line_start=40)),
    ]
    assert excerpt(text, marks, start=12, limit=2).text == "first\nsecond\n"
    gap = excerpt(text, marks, start=20, limit=5)
    assert (gap.text, gap.next_start) == ("", 40)
    assert excerpt(text, marks, start=40, limit=5).text == "far away"


def test_a_start_past_the_end_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="past the last page, 3"):
        excerpt(PAGES, PAGE_MARKS, start=4, limit=1)


def test_pages_of_a_document_without_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="no pages"):
        excerpt("text", [], start=1, limit=1, unit="page")


def test_an_empty_document_reads_as_empty() -> None:
    assert excerpt("", [], start=1, limit=100).total == 0


def test_a_line_over_the_budget_is_cut_and_said() -> None:
    part = excerpt("가" * BUDGET_BYTES, [], start=1, limit=1)
    assert part.cut
    assert size(part.text) <= BUDGET_BYTES


@given(st.lists(st.text(max_size=40), max_size=40), st.integers(1, 10))
def test_reading_on_by_next_start_gives_the_whole_text(lines: list[str], limit: int) -> None:
    text = "\n".join(lines)
    read, position = "", 1
    while text:
        part = excerpt(text, [], start=position, limit=limit)
        read += part.text
        if part.next_start is None:
            break
        position = part.next_start
    assert read == text
