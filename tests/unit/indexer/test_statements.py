"""Statements of a document's own life are found at its top, whatever its form, and nowhere else."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seoga.models import DocumentInfo, Section, SectionKind
from seoga.search.days import day_in
from seoga.search.references import references_in, values_in
from seoga.search.statuses import Standing, status_of, understood
from seoga_indexer.statements import FAULT, LONGEST, MOST, statements_of

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


def test_what_a_file_beside_another_says_in_no_known_form_is_told() -> None:
    lines = "# of ours\nstatuz: superseded\nsuperseded_by: [new.md\nold since May\nnote: kept"
    found = statements_of(
        INFO, [section(f"```yaml\n{lines}\nstatus: retired\n```")], "a.pdf.seoga.yaml"
    )
    assert [text for field, text in found if field == FAULT] == [
        "a.pdf.seoga.yaml: key 'statuz' is not known.",
        "a.pdf.seoga.yaml: list '[new.md' has no end.",
        "a.pdf.seoga.yaml: line 'old since May' is no key with a value.",
    ]
    assert understood(found).word == "retired"
    assert len(understood(found).faults) == 3


@pytest.mark.parametrize(
    ("text", "standing"),
    [
        ("취소 규정 승인", Standing.LIVE),
        ("환불 및 취소 절차 초안", Standing.DRAFT),
        ("폐기 기준 시행", Standing.LIVE),
        ("취소", Standing.RETIRED),
        ("폐기 (2024-01-01)", Standing.RETIRED),
        ("승인 취소", Standing.RETIRED),
        ("폐기된 규정", Standing.RETIRED),
        ("취소 규정 폐지", Standing.RETIRED),
    ],
)
def test_a_paper_about_cancelling_is_not_cancelled(text: str, standing: Standing) -> None:
    assert status_of(text)[1] is standing


def retired(title: str, *lines: str) -> bool:
    """Whether a document of this title and these first lines is understood as out of force."""
    info = DocumentInfo("markdown", title)
    found = statements_of(info, [section("\n".join(lines), title)])
    return understood(found).standing is Standing.RETIRED


@pytest.mark.parametrize(
    ("title", "line"),
    [
        ("Sails [DEPRECATED]", ""),
        ("(obsolete) Sails", ""),
        ("주차 안내 (폐지)", ""),
        ("[폐기] 주차 안내", ""),
        ("A", "**DEPRECATED**"),
        ("A", "> ⌛ Superseded"),
        ("A", "> This document is obsolete. See [B](b.md)."),
        ("A", "> **This policy is no longer in force.**"),
        ("A", "This page has been archived; read b.md"),
        ("A", "※ 본 문서는 2024년 1월 1일부로 폐지되었음."),
        ("A", "이 규정은 [새 규정](b.md)으로 대체되었습니다."),
        ("A", "해당 지침은 더 이상 사용하지 않습니다."),
        ("A", "부칙: 이 규정은 2020년 1월 1일 폐지한다."),
        ("A", "[상태] 폐기 (2022.3.1.)"),
        ("A", "문서 상태 : 대체됨 -> [새 규정](b.md)"),
        ("A", "Warning: This document is obsolete. See the new one."),
        ("A", "> **Deprecated**: use e2.md"),
        ("A", "> ⚠️ **Obsolete:** see the new one"),
    ],
)
def test_a_document_that_says_in_its_own_words_that_it_is_over_is_over(
    title: str, line: str
) -> None:
    assert retired(title, line, "Sails are repaired with cotton thread.")


@pytest.mark.parametrize(
    ("title", "line"),
    [
        ("Orders (cancelled)", ""),
        ("Handling of [deprecated] marks", ""),
        ("폐지 규정 안내", ""),
        ("A", "This document describes what was deprecated in May."),
        ("A", "This page is about obsolete boats."),
        ("A", "The old policy is no longer in force."),
        ("A", "- ⌛ Superseded"),
        ("A", "**Deprecated**: the flag --old"),
        ("A", "> Deprecated: the flag --old"),
        ("A", "* `deprecated`"),
        ("A", "`deprecated`"),
        ("A", "이 규정은 종전 규정을 폐지하였다."),
        ("A", "이 규정 시행과 함께 종전 규정을 폐지한다."),
        ("A", "[Status](status.md) superseded"),
        ("A", "이 규정은 2030년 1월 1일 폐지될 예정이다."),
        ("A", "본 규정은 유효하다. 옛 문서는 폐지되었다."),
        ("A", "본 문서는 종전 규정이 폐지되었음을 알린다."),
        ("A", "이 규정은 종전 규정을 대체하였다."),
    ],
)
def test_a_document_about_what_is_over_is_not_over(title: str, line: str) -> None:
    assert not retired(title, line, "Sails are repaired with cotton thread.")


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("| 문서번호 | 상태 | 개정일 |\n|---|---|---|\n| A-1 | 폐지 | 2020 |", ["A-1", "폐지"]),
        ("| Status | Date |\n|---|---|\n| Retired | 2020-01-01 |", ["Retired", "2020-01-01"]),
        ("| Status | Retired |\n|---|---|\n| Date | 2020-01-01 |", ["Retired", "2020-01-01"]),
        ("| Nr | Status |\n|---|---|\n| 1 | retired |\n| 2 | accepted |", []),
        ("| Title | Status | Nr |\n|---|---|---|\n| a | retired | 1 |\n| b | final | 2 |", []),
    ],
)
def test_a_table_states_in_rows_or_in_columns_and_a_list_of_others_nothing(
    table: str, told: list[str]
) -> None:
    found = statements_of(INFO, [Section(table, SectionKind.TABLE, heading_path=("A",))])
    assert [text for _, text in found] == told


def test_what_a_sentence_says_of_a_successor_and_a_day_counts() -> None:
    told = statements_of(INFO, [section("This policy is obsolete. See [B](b.md).", "A")])
    assert [one.targets[0] for one in understood(told).by] == ["b.md"]
    told = statements_of(
        INFO, [section("본 문서는 2024년 3월 1일부로 폐지되었음. 후속 문서: 새것.md", "A")]
    )
    assert (understood(told).until, understood(told).by[0].targets[0]) == ("2024-03-01", "새것.md")
    told = statements_of(INFO, [section("> **Deprecated**: use e2.md", "A")])
    assert {one.targets[0] for one in understood(told).by} == {"e2.md"}
    assert [one.text for one in understood([["status", "Superseded by d"]]).by] == ["d"]
    revised = understood([["status", "개정됨 (여비 규정 2판)"]])
    assert [one.text for one in revised.by] == ["여비 규정 2판"]
    assert revised.standing is not Standing.RETIRED


@pytest.mark.parametrize("key", ["effective", "effective_from", "valid-from", "시행일자"])
def test_the_day_from_which_a_document_is_in_force_is_its_date(key: str) -> None:
    said = statements_of(DocumentInfo("markdown", meta={key: "2026-03-01", "status": "ok"}), [])
    assert understood(said).date == "2026-03-01"


def test_the_end_of_validity_counts_where_metadata_names_it() -> None:
    meta = {"valid_until": "2026-03-01"}
    assert understood(statements_of(DocumentInfo("markdown", meta=meta), [])).ends == "2026-03-01"
    assert statements_of(DocumentInfo("html", meta={"expires": "2001-01-01"}), []) == []
    assert statements_of(INFO, [section("Expires: 2001-01-01", "A")]) == []


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
    for piece in (
        "superseded by [",
        "더 이상 ",
        "~~",
        "으로 대체",
        "the 은 ",
        "<s>",
        "`x <",
        "[[a|",
        "ADR-",
        "x.md",
        "in favour of not ",
        "(",
    ):
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


GONE = """no longer valid|No longer in use|not in force|out of date|end-of-life|void|Expired
outdated
historical|Sunset|obsolete|cancelled|revoked|accepted → superseded|Accepted, now deprecated
Accepted (superseded 2020-01-01)|~~accepted~~ superseded|<s>accepted</s> retired
더 이상 유효하지 않음|더이상 사용되지 않습니다|만료|만료됨|종료|취소|취소됨
사용 중지|사용중단|실효|효력 상실
효력을 잃음|구버전|구 버전|폐기|폐기됨|폐기 처리|폐지된
시행 종료|유효기간 만료|대체됨|[기준 2판](b.md)으로 대체됨"""


@pytest.mark.parametrize("text", GONE.replace("\n", "|").split("|"))
def test_what_is_out_of_force_is_so_in_any_words(text: str) -> None:
    assert status_of(text)[1] is Standing.RETIRED
    assert understood([["status", text]]).standing is Standing.RETIRED


KEPT = """Not superseded|to be retired|will be superseded by 5|폐기 예정|폐기되지 않음|개정됨|legacy
새 규정으로 대체될 예정|no longer a draft|Accepted (not superseded)|not yet in force
~~superseded~~ accepted
Accepted, replaces the expired one|승인 (폐기 예정)|시행 중|검토 종료"""


@pytest.mark.parametrize("text", KEPT.replace("\n", "|").split("|"))
def test_what_is_not_yet_or_not_surely_out_of_force_is_shown(text: str) -> None:
    assert understood([["status", text]]).standing is not Standing.RETIRED


def test_a_word_for_what_replaces_or_is_replaced_counts_for_what_is_out_of_force() -> None:
    either = ["either", "b.md"]
    assert understood([["status", "폐지"], either]).by
    assert understood([either]).by
    live = understood([either, ["status", "시행"]])
    assert (live.by, live.of) == ((), ())


def test_days_are_read_in_the_forms_that_documents_use() -> None:
    assert day_in("07-Dec-2003") == "2003-12-07"
    assert day_in("Superseded on 2026/3/1") == "2026-03-01"
    assert day_in("2026-13-45") == ""
