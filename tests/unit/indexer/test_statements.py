"""Statements of a document's own life are found at its top, whatever its form, and nowhere else."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from seoga.models import DocumentInfo, Section, SectionKind
from seoga.search.references import references_in, values_in
from seoga.search.statuses import Standing, day_in, status_of, understood
from seoga_indexer.statements import LONGEST, MOST, statements_of

INFO = DocumentInfo("markdown")


def section(text: str, *path: str, level: int = 0) -> Section:
    return Section(text, heading_path=path, level=level)


def test_a_word_in_the_prose_states_nothing() -> None:
    prose = "The old scheme was superseded by another one.\nStatus: the status of a build is red."
    assert statements_of(INFO, [section("# A", "A", level=1), section(prose, "A", "Story")]) == []
    assert statements_of(INFO, [section("Some text about statuses.", "A")]) == []


def test_program_text_states_nothing() -> None:
    code = Section("```\nStatus: superseded\n```", SectionKind.CODE)
    assert statements_of(INFO, [code]) == []


def test_a_status_section_deep_inside_is_about_something_else() -> None:
    deep = section("Superseded by 5.", "A", "B", "C", "Status")
    assert statements_of(INFO, [deep]) == []


def test_a_hostile_document_states_no_more_than_the_bound() -> None:
    lines = "\n".join(f"Supersedes: {'x' * 5000}{n}" for n in range(5000))
    meta = {"superseded_by": [f"{n}.md" for n in range(5000)], "status": "s" * 100_000}
    found = statements_of(DocumentInfo("markdown", meta=meta), [section(lines)])
    assert len(found) == MOST
    assert all(len(text) <= LONGEST for _, text in found)


WORDS = st.sampled_from(
    (
        *("superseded by ", "replaces ", "Status: ", "[a](", "[[", "](b.md)", "`x <", "EIP-"),
        *("**", "|", "로 대체됨", "in favor of ", "2024-01-", "(", "<", "\n", "- ", "ADR 5", ": "),
    )
)
TEXTS = st.lists(WORDS | st.text(max_size=20), max_size=60).map("".join)


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_any_text_is_understood_without_an_error(text: str) -> None:
    found = statements_of(
        DocumentInfo("rst", meta={text[:40]: text, "status": text}),
        [section(text, "A"), section(text, "A", "Status")],
    )
    stated = understood(found)
    assert stated.standing in Standing
    assert all(reference.targets for reference in (*stated.by, *stated.of))
    assert len(references_in(text, numbers=True)) <= 12
    assert len(values_in(text)) <= 12
    assert len(day_in(text)) in (0, 10)


def test_long_lines_cost_no_more_than_their_length() -> None:
    for piece in ("superseded by [", "`x <", "[[a|", "ADR-", "x.md", "in favour of not ", "("):
        assert understood([["status", piece * 20_000], ["line", piece * 20_000]]) is not None


def test_status_texts_come_down_to_one_word() -> None:
    assert status_of("⌛️ Superseded [0019](0019-x.md)") == ("superseded", Standing.RETIRED)
    assert status_of("Inactive (superseded by CIP-0121)") == ("superseded", Standing.RETIRED)
    assert status_of("✅ Accepted") == ("accepted", Standing.LIVE)
    assert status_of("Last Call") == ("last call", Standing.DRAFT)
    assert status_of("partially superseded by 5") == ("partially superseded by", Standing.UNKNOWN)
    assert status_of("simmering") == ("simmering", Standing.UNKNOWN)
    assert status_of("not accepted")[1] is Standing.UNKNOWN
    assert status_of("") == ("", Standing.LIVE)


def test_days_are_read_in_the_forms_that_documents_use() -> None:
    assert day_in("07-Dec-2003") == "2003-12-07"
    assert day_in("Superseded on 2026/3/1") == "2026-03-01"
    assert day_in("2026-13-45") == ""
