"""Chunks: exact slices that respect headings, tables, code, lists and pages, in linear time."""

from __future__ import annotations

import re
import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seoga.models import Chunk, DocumentInfo, Place, Section, SectionKind
from seoga_indexer.chunking import Assembled, assemble, chunk_document

INFO = DocumentInfo("test")
NOWHERE = Place()
KOREAN = "회의록은 매주 금요일에 정리한다. 담당자는 내용을 확인하고 의견을 남긴다. "


def heading(*path: str) -> Section:
    return Section(f"{'#' * len(path)} {path[-1]}", SectionKind.HEADING, path, len(path))


def para(text: str, *path: str, place: Place = NOWHERE) -> Section:
    return Section(text, SectionKind.PARAGRAPH, path, place=place)


def page(number: int) -> Section:
    return Section(f"## Page {number}", SectionKind.PAGE, place=Place(page=number))


def table(rows: int, width: int = 40) -> str:
    body = [f"| row {n} | {'x' * width} |" for n in range(rows)]
    return "\n".join(["| Name | Value |", "|---|---|", *body])


def chunks_of(
    *sections: Section, target: int = 1000, overlap: int = 150, cap: int = 4000
) -> list[Chunk]:
    document = assemble(INFO, sections)
    chunks = chunk_document(document, target, overlap, cap)
    for ordinal, chunk in enumerate(chunks):
        assert chunk.ordinal == ordinal
        assert chunk.text == document.text[chunk.start : chunk.end]
        assert 0 < len(chunk.text) <= cap
    return chunks


def test_a_short_section_is_one_chunk_with_its_heading() -> None:
    [chunk] = chunks_of(heading("A"), para("Body.", "A"))
    assert chunk.text == "# A\n\nBody."
    assert chunk.heading_path == ("A",)


def test_a_chunk_never_crosses_a_heading() -> None:
    chunks = chunks_of(heading("A"), para("One.", "A"), heading("A", "B"), para("Two.", "A", "B"))
    assert [c.text for c in chunks] == ["# A\n\nOne.", "## B\n\nTwo."]
    assert chunks[1].heading_path == ("A", "B")


def test_a_heading_with_only_headings_below_is_found_through_their_paths() -> None:
    chunks = chunks_of(heading("Guide"), heading("Guide", "Part"), para("Text.", "Guide", "Part"))
    assert [c.heading_path for c in chunks] == [("Guide", "Part")]


def test_a_section_that_is_only_a_heading_is_still_a_chunk() -> None:
    chunks = chunks_of(heading("Alone"), heading("Other"), para("Text.", "Other"), heading("Last"))
    assert [c.text for c in chunks] == ["# Alone", "# Other\n\nText.", "# Last"]


def test_a_heading_with_an_empty_section_below_the_same_level_is_kept() -> None:
    chunks = chunks_of(
        heading("T"), heading("T", "Empty"), heading("T", "Full"), para("x y.", "T", "Full")
    )
    assert [c.text for c in chunks] == ["## Empty", "## Full\n\nx y."]


@pytest.mark.parametrize(
    "sections", [[], [page(1), page(2)], [para("  \n ")], [para("---")], [page(1), para("***")]]
)
def test_textless_input_makes_no_chunk(sections: list[Section]) -> None:
    assert chunks_of(*sections) == []


def test_long_prose_is_cut_at_sentences_with_whole_sentences_of_overlap() -> None:
    chunks = chunks_of(para(KOREAN * 100))
    assert len(chunks) > 3
    for before, after in pairwise(chunks):
        assert 500 <= len(before.text) <= 1300
        assert before.text.endswith("다.")
        assert 0 < before.end - after.start <= 150
        assert after.text.startswith(("회의록은", "담당자는"))


def test_paragraphs_are_preferred_to_sentences() -> None:
    text = "\n\n".join([KOREAN.strip() * 8] * 6)
    ends = {m.start() for m in re.finditer("\n\n", text)} | {len(text)}
    assert {c.end for c in chunks_of(para(text))} <= ends


def test_a_short_tail_merges_back() -> None:
    words = "word " * 200
    chunks = chunks_of(para(words + "and a tail that is short."))
    assert len(chunks) == 1
    assert 1000 < len(chunks[0].text) < 1300


def test_text_without_any_space_is_cut_at_the_target() -> None:
    chunks = chunks_of(para("가" * 3000), overlap=0)
    assert [len(c.text) for c in chunks] == [1000, 1000, 1000]


def test_the_cap_holds_where_it_is_below_the_target() -> None:
    assert max(len(c.text) for c in chunks_of(para(KOREAN * 50), cap=200)) <= 200


def test_an_unmatched_bracket_changes_nothing_beyond_its_paragraph() -> None:
    paragraph = KOREAN.strip() * 10
    plain = "\n\n".join([paragraph] * 8)
    broken = plain.replace("회의록은", "회의록(", 1)
    cuts = [(c.start, c.end) for c in chunks_of(para(plain))]
    assert len(plain) == len(broken)
    assert [(c.start, c.end) for c in chunks_of(para(broken))][1:] == cuts[1:]


def test_a_table_is_split_between_rows_and_its_header_travels_beside() -> None:
    chunks = chunks_of(heading("T"), Section(table(100), SectionKind.TABLE, ("T",)))
    assert len(chunks) > 3
    assert chunks[0].text.startswith("# T\n\n| Name | Value |")
    assert chunks[0].header_row == ""
    for chunk in chunks[1:]:
        assert chunk.header_row == "| Name | Value |"
        assert chunk.kind is SectionKind.TABLE
    for chunk in chunks:
        assert chunk.text.endswith(" |")
        assert chunk.text.startswith(("#", "| row"))
    rows = [row for chunk in chunks for row in re.findall(r"row \d+", chunk.text)]
    assert rows == [f"row {n}" for n in range(100)]


def test_a_row_longer_than_the_target_stays_whole() -> None:
    chunks = chunks_of(Section(table(4, width=1500), SectionKind.TABLE))
    assert [len(re.findall("x+", c.text)) for c in chunks] == [1, 1, 1, 1]


def test_a_row_over_the_cap_is_still_cut() -> None:
    chunks = chunks_of(Section(table(2, width=9000), SectionKind.TABLE))
    assert sum(c.text.count("x") for c in chunks) >= 18000


def test_a_code_block_is_whole_up_to_the_cap() -> None:
    code = "```python\n" + "x = 1  # not a heading\n" * 120 + "```"
    chunks = chunks_of(para("Before. " * 60), Section(code, SectionKind.CODE), para("After. " * 60))
    assert sum(code in c.text for c in chunks) == 1


def test_a_code_block_over_the_cap_is_cut_between_lines() -> None:
    code = "\n".join(f"value_{n} = compute({n})" for n in range(1000))
    chunks = chunks_of(Section(code, SectionKind.CODE))
    assert len(chunks) > 20
    for chunk in chunks:
        assert all(
            re.fullmatch(r"value_\d+ = compute\(\d+\)", line) for line in chunk.text.split("\n")
        )


def test_a_list_stays_with_its_lead_line() -> None:
    items = "\n".join(f"- 항목 {n}은 다음과 같이 처리한다" for n in range(20))
    chunks = chunks_of(
        para("Filler sentence here. " * 40),
        para("처리 순서는 다음과 같다:"),
        Section(items, SectionKind.LIST),
    )
    [lead] = [c for c in chunks if "순서는" in c.text]
    assert "- 항목 0은" in lead.text


def test_a_long_list_is_cut_between_items() -> None:
    items = "\n".join(f"- 항목 {n}은 다음과 같이 처리한다" for n in range(200))
    for chunk in chunks_of(para("순서:"), Section(items, SectionKind.LIST))[1:]:
        assert chunk.text.startswith("- ")


@pytest.mark.parametrize(
    "sentence", ["Dr. Kim agreed", "제3조. 다음 각 호", "the value 3.14 holds"]
)
def test_cuts_never_fall_inside(sentence: str) -> None:
    text = (sentence + " and so it goes on for a while. ") * 80
    for chunk in chunks_of(para(text)):
        assert chunk.text.startswith(sentence)


def test_paragraphs_run_across_pages_and_the_place_spans_them() -> None:
    [chunk] = chunks_of(page(1), para("The end of"), page(2), para("the sentence."), page(3))
    assert chunk.text == "The end of\n\n## Page 2\n\nthe sentence."
    assert chunk.place == Place(page=1, page_end=2)


def test_chunks_of_a_long_run_of_pages_know_their_pages() -> None:
    sections: list[Section] = []
    for number in range(1, 6):
        sections += [page(number), para(KOREAN * 20)]
    chunks = chunks_of(*sections)
    for chunk in chunks:
        assert not chunk.text.startswith("## Page")
        assert not re.search(r"## Page \d+$", chunk.text)
        for number in re.findall(r"## Page (\d+)", chunk.text):
            assert int(number) == chunk.place.page_end
    assert {c.place.page for c in chunks} >= {1, 2, 3, 4}


def test_lines_of_a_part_of_a_section_are_counted() -> None:
    code = "\n".join(f"line {n:06d}" for n in range(10, 1010))
    chunks = chunks_of(Section(code, SectionKind.CODE, place=Place(line_start=10, line_end=1009)))
    for chunk in chunks:
        lines = chunk.text.split("\n")
        assert (chunk.place.line_start, chunk.place.line_end) == (
            int(lines[0][5:]),
            int(lines[-1][5:]),
        )


@pytest.mark.parametrize("first", [1, 602])
def test_rows_of_a_table_of_a_file_of_lines_are_counted(first: int) -> None:
    # The first part of a CSV begins with its header; a later one repeats it.
    rows = [f"| SENSOR-{line} | {'x' * 60} |" for line in range(2 if first == 1 else first, 802)]
    text = "\n".join(["| name | note |", "| --- | --- |", *rows])
    place = Place(line_start=first, line_end=801)
    chunks = chunks_of(Section(text, SectionKind.TABLE, place=place))
    assert len(chunks) > 5
    for chunk in chunks:
        lines = [int(number) for number in re.findall(r"SENSOR-(\d+)", chunk.text)]
        assert chunk.place.line_start in (lines[0], first)
        assert chunk.place.line_end == lines[-1]
        assert chunk.place.line_start == lines[0] or "name" in chunk.text
    folded = Section(text, SectionKind.TABLE, place=Place(line_start=first, line_end=900))
    assert {chunk.place for chunk in chunks_of(folded)} == {folded.place}


def test_sheets_and_slides_are_not_mixed() -> None:
    chunks = chunks_of(
        para("one a.", place=Place(sheet="A")), para("two b.", place=Place(sheet="B"))
    )
    assert [(c.text, c.place.sheet) for c in chunks] == [("one a.", "A"), ("two b.", "B")]


def test_a_transcript_chunk_spans_its_seconds_and_keeps_what_the_sections_say() -> None:
    chunks = chunks_of(
        *(
            Section(
                f"[00:00:{n:02d}] words that were spoken here",
                SectionKind.TRANSCRIPT,
                place=Place(start_s=float(n), end_s=n + 1.0),
                meta={"audio.model_size": "base"},
            )
            for n in range(60)
        )
    )
    assert chunks[0].place.start_s == 0.0
    assert chunks[-1].place.end_s == 60.0
    assert all(c.meta == {"audio.model_size": "base"} for c in chunks)
    assert all(c.text.startswith("[00:00:") for c in chunks)


def test_marks_say_where_the_text_stands_and_text_is_nfc() -> None:
    document = assemble(INFO, [page(1), para("가"), para("b"), page(2), para("c")])
    assert "가" in document.text
    assert [(document.text[at:][:9].strip(), place.page) for at, place in document.marks] == [
        ("## Page 1", 1),
        ("## Page 2", 2),
    ]


def test_a_page_mark_never_makes_a_chunk_that_only_repeats_the_one_before() -> None:
    chunks = chunks_of(heading("h"), para("1", "h"), page(6), para("11", "h"), target=13, overlap=4)
    assert [c.end for c in chunks] == sorted({c.end for c in chunks})


WORDS = st.text(alphabet='가나다요. \n\n?!()"“”-|:#·abc 12…', min_size=0, max_size=400)
KINDS = st.sampled_from(
    [SectionKind.PARAGRAPH, SectionKind.LIST, SectionKind.TABLE, SectionKind.CODE, SectionKind.NOTE]
)


@st.composite
def documents(draw: st.DrawFn) -> Assembled:
    sections: list[Section] = []
    path: tuple[str, ...] = ()
    for step in range(draw(st.integers(0, 14))):
        choice = draw(st.integers(0, 5))
        if choice == 0:
            level = draw(st.integers(1, 3))
            path = (*path[: level - 1], f"h{step}")
            sections.append(Section("#" * level + f" h{step}", SectionKind.HEADING, path, level))
        elif choice == 1:
            sections.append(page(step + 1))
        else:
            text = draw(WORDS) * draw(st.integers(1, 5))
            sections.append(Section(text, draw(KINDS), path))
    return assemble(INFO, sections)


@settings(max_examples=300, deadline=None)
@given(documents(), st.integers(1, 300), st.integers(0, 200), st.integers(20, 600))
def test_any_document_is_covered_by_exact_ordered_slices(
    document: Assembled, target: int, overlap: int, cap: int
) -> None:
    chunks = chunk_document(document, target, overlap, cap)
    covered = bytearray(len(document.text))
    previous = -1
    for ordinal, chunk in enumerate(chunks):
        assert chunk.ordinal == ordinal
        assert chunk.text == document.text[chunk.start : chunk.end]
        assert chunk.text == chunk.text.strip() != ""
        assert len(chunk.text) <= cap
        assert chunk.end > previous
        assert previous - chunk.start <= overlap
        previous = chunk.end
        covered[chunk.start : chunk.end] = b"\1" * len(chunk.text)
        heads = [s for s in document.spans if s.section.kind is SectionKind.HEADING]
        assert not any(chunk.start < s.start < chunk.end for s in heads)
    carried = {name for chunk in chunks for name in chunk.heading_path}
    for span in document.spans:
        if span.section.kind is SectionKind.PAGE:
            continue
        if span.section.kind is SectionKind.HEADING:
            assert span.section.heading_path[-1] in carried
            continue
        missed = [document.text[n] for n in range(span.start, span.end) if not covered[n]]
        assert not any(char.isalnum() or char in "가나다요" for char in missed)


@pytest.mark.parametrize(
    "unit", ["가나다라 (", "plain words. ", "x", "| a | b |\n", "a:\n- b\n\n", "가" * 99 + "\n\n"]
)
@pytest.mark.parametrize("kind", [SectionKind.PARAGRAPH, SectionKind.TABLE, SectionKind.CODE])
def test_time_is_linear_whatever_the_text(unit: str, kind: SectionKind) -> None:
    text = unit * (144_000 // len(unit))
    place = Place(line_start=1, line_end=1 + text.count("\n"))
    started = time.perf_counter()
    chunks_of(Section(text, kind, place=place))
    assert time.perf_counter() - started < 2.0


@pytest.mark.parametrize("repeated", [False, True])
def test_parts_of_a_sheets_table_say_their_own_rows(repeated: bool) -> None:
    # Row 5 is the header; where it is repeated from an earlier part, the table begins behind it.
    text, top = table(60), 6 if repeated else 5
    section = Section(text, SectionKind.TABLE, place=Place(sheet="S", cells=f"B{top}:C65"))
    chunks = chunks_of(section, target=600)
    assert len(chunks) > 3
    for chunk in chunks:
        rows = [int(found) for found in re.findall(r"row (\d+)", chunk.text)]
        first = top if chunk.start == 0 else rows[0] + 6
        assert chunk.place.cells == f"B{first}:C{rows[-1] + 6}"


def test_a_chunk_of_several_ranges_says_the_range_that_holds_them() -> None:
    title = para("Title", place=Place(sheet="S", cells="A1"))
    below = Section(table(2, 3), SectionKind.TABLE, place=Place(sheet="S", cells="B3:C5"))
    [chunk] = chunks_of(title, below)
    assert chunk.place.cells == "A1:C5"
