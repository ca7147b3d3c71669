"""Excel: values as shown, tables found on sheets, hidden sheets, comments, hostile workbooks."""

from __future__ import annotations

import io
import random
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pytest

from seoga.errors import ExtractionFailed, Reason
from seoga.models import Section, SectionKind
from seoga_extraction.format import Input
from seoga_extraction.formats.xlsx import FORMAT
from seoga_extraction.formats.xlsx.rows import column_letters
from seoga_extraction.limits import Limits

Reading = Callable[..., Any]
BAD = (Reason.CORRUPT, Reason.ENCRYPTED, Reason.TOO_LARGE)

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
STRICT = "http://purl.oclc.org/ooxml/spreadsheetml/main"
RELS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def relationships(*items: tuple[str, str, str]) -> str:
    rows = "".join(
        f'<Relationship Id="{one}" Type="{RELS}/{role}" Target="{target}"'
        + (' TargetMode="External"/>' if "://" in target else "/>")
        for one, role, target in items
    )
    return f'<Relationships xmlns="{PACKAGE}">{rows}</Relationships>'


def cell(reference: str, value: object, style: int = 0, kind: str = "") -> str:
    if isinstance(value, str) and not kind:
        text = f'<is><t xml:space="preserve">{escape(value)}</t></is>'
        return f'<c r="{reference}" s="{style}" t="inlineStr">{text}</c>'
    return f'<c r="{reference}" s="{style}" t="{kind or "n"}"><v>{value}</v></c>'


def rows(*lines: list[object], first: int = 1, column: int = 1) -> str:
    """Rows of cells without gaps; None leaves a cell out."""
    out = []
    for number, line in enumerate(lines, first):
        cells = [
            cell(f"{column_letters(at)}{number}", value)
            for at, value in enumerate(line, column)
            if value is not None
        ]
        out.append(f'<row r="{number}">{"".join(cells)}</row>')
    return "".join(out)


def workbook(
    *sheets: str,
    names: tuple[str, ...] = ("Data", "Second", "Third"),
    states: tuple[str, ...] = ("", "", ""),
    tail: str = "",
    formats: tuple[str, ...] = (),
    namespace: str = MAIN,
    properties: str = "",
    **more: str | bytes,
) -> bytes:
    listed = "".join(
        f'<sheet name="{names[at]}" sheetId="{at + 1}" state="{states[at] or "visible"}" '
        f'r:id="s{at}"/>'
        for at in range(len(sheets))
    )
    codes = "".join(
        f'<numFmt numFmtId="{200 + at}" formatCode="{escape(code, {chr(34): "&quot;"})}"/>'
        for at, code in enumerate(formats)
    )
    styles = "".join(f'<xf numFmtId="{200 + at}"/>' for at in range(len(formats)))
    files: dict[str, str | bytes] = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": relationships(("r1", "officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": f'<workbook xmlns="{namespace}" xmlns:r="{RELS}">{properties}'
        f"<sheets>{listed}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": relationships(
            *((f"s{at}", "worksheet", f"worksheets/sheet{at}.xml") for at in range(len(sheets))),
            ("st", "styles", "styles.xml"),
            ("ss", "sharedStrings", "sharedStrings.xml"),
        ),
        "xl/styles.xml": f'<styleSheet xmlns="{namespace}"><numFmts>{codes}</numFmts>'
        f'<cellXfs><xf numFmtId="0"/>{styles}</cellXfs></styleSheet>',
    }
    for at, sheet in enumerate(sheets):
        files[f"xl/worksheets/sheet{at}.xml"] = (
            f'<worksheet xmlns="{namespace}" xmlns:r="{RELS}">'
            f"<sheetData>{sheet}</sheetData>{tail if at == 0 else ''}</worksheet>"
        )
    files.update(more)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def shown(read: Reading, *sheets: str, **more: Any) -> list[tuple[str | None, str]]:
    """(cell range, text) of all sections but headings."""
    got = read("a.xlsx", workbook(*sheets, **more))
    kept = [one for one in got.sections if one.kind is not SectionKind.HEADING]
    return [(one.place.cells, one.text) for one in kept]


def outcome(path: Path) -> tuple[str, Reason | None]:
    """All text up to the end or the failure, and its reason."""
    texts: list[str] = []
    try:
        events = FORMAT.parse(Input(path, path.name, Limits()))
        texts.extend(one.text if isinstance(one, Section) else "" for one in events)
    except ExtractionFailed as error:
        return "\n".join(texts), error.reason
    return "\n".join(texts), None


def test_a_sheet_is_a_heading_and_a_table_with_its_cell_range(read: Reading) -> None:
    got = read("a.xlsx", workbook(rows(["이름", "값"], ["가", 1], first=3, column=2)))
    heading, table = got.sections
    assert (heading.text, heading.heading_path, heading.place.sheet) == (
        "# Data",
        ("Data",),
        "Data",
    )
    assert (table.kind, table.place.sheet, table.place.cells) == (
        SectionKind.TABLE,
        "Data",
        "B3:C4",
    )
    assert table.text == "| 이름 | 값 |\n| --- | --- |\n| 가 | 1 |"
    assert table.heading_path == ("Data",)


def test_strict_files_are_read_like_transitional_ones(read: Reading) -> None:
    sheet = rows(["a", "b"], ["c", "d"])
    assert shown(read, sheet, namespace=STRICT) == shown(read, sheet)


def test_empty_rows_separate_tables_and_titles_stand_above_them(read: Reading) -> None:
    sheet = rows(["2024년 현황"], ["부서", "인원"], ["영업", 3]) + rows(["x", "y"], [1, 2], first=6)
    assert shown(read, sheet) == [
        ("A1", "2024년 현황"),
        ("A2:B3", "| 부서 | 인원 |\n| --- | --- |\n| 영업 | 3 |"),
        ("A6:B7", "| x | y |\n| --- | --- |\n| 1 | 2 |"),
    ]


def test_tables_side_by_side_are_two_and_a_spacer_column_keeps_rows_whole(read: Reading) -> None:
    side = rows(["a", "b", None, "p", "q"], [1, 2, None, 5, 6], [3, 4])
    assert [place for place, _ in shown(read, side)] == ["A1:B3", "D1:E2"]
    spaced = rows(["항목", None, 2023, None, 2024], ["매출", None, 10, None, 12])
    assert shown(read, spaced) == [
        ("A1:E2", "| 항목 | 2023 | 2024 |\n| --- | --- | --- |\n| 매출 | 10 | 12 |")
    ]


def test_new_lines_and_pipes_in_cells_do_not_break_the_table(read: Reading) -> None:
    sheet = rows(["a\nb", "c|d"], ["1", "_x000D_\n2"])
    assert shown(read, sheet)[0][1] == "| a b | c\\|d |\n| --- | --- |\n| 1 | 2 |"


def test_long_tables_come_in_parts_that_repeat_the_header(read: Reading) -> None:
    sheet = rows(["번호", "이름"], *([at, f"n{at}"] for at in range(2, 252)))
    parts = shown(read, sheet)
    assert [place for place, _ in parts] == ["A1:B100", "A101:B200", "A201:B251"]
    assert all(text.startswith("| 번호 | 이름 |\n| --- | --- |\n") for _, text in parts)
    assert sum(text.count("\n") - 1 for _, text in parts) == 250


def test_cells_merged_downwards_are_repeated(read: Reading) -> None:
    sheet = rows(["구분", "값"], ["A", 1], [None, 2], ["B", 3])
    tail = '<mergeCells count="1"><mergeCell ref="A2:A3"/></mergeCells>'
    assert "| A | 1 |\n| A | 2 |\n| B | 3 |" in shown(read, sheet, tail=tail)[0][1]


def test_hidden_sheets_are_read_and_flagged(read: Reading) -> None:
    data = workbook(rows(["a"]), rows(["b"]), rows(["c"]), states=("", "hidden", "veryHidden"))
    got = read("a.xlsx", data)
    assert got.info.meta["hidden_sheets"] == ["Second", "Third"]
    assert [one.text for one in got.of(SectionKind.HEADING)] == [
        "# Data",
        "# Second (hidden sheet)",
        "# Third (hidden sheet)",
    ]
    flags = [one.meta.get("hidden") for one in got.sections]
    assert flags == [None, None, True, True, True, True]


def test_booleans_errors_and_formula_results_are_shown(read: Reading) -> None:
    cells = [
        cell("A1", 1, kind="b"),
        cell("B1", "#DIV/0!", kind="e"),
        '<c r="C1"><f>1+2</f><v>3</v></c>',
        '<c r="D1" t="str"><f>T(1)</f><v></v></c><c r="E1"><f>SUM(A1:A9)</f></c>',
        cell("F1", "2024-03-01T00:00:00", kind="d"),
        '<c r="G1"><f>T("안녕")</f><v></v></c>',
    ]
    text = shown(read, f'<row r="1">{"".join(cells)}</row>')[0][1]
    assert text.split("\n")[0] == '| TRUE | #DIV/0! | 3 | =SUM(A1:A9) | 2024-03-01 | =T("안녕") |'


def test_shared_strings_leave_out_phonetic_text(read: Reading) -> None:
    strings = (
        f'<sst xmlns="{MAIN}"><si><t>서울</t><rPh sb="0" eb="1"><t>ソウル</t></rPh></si>'
        "<si><r><t>rich </t></r><r><t>text</t></r></si></sst>"
    )
    sheet = f'<row r="1">{cell("A1", 0, kind="s")}{cell("B1", 1, kind="s")}'
    sheet += f"{cell('C1', 99, kind='s')}</row>"
    got = shown(read, sheet, **{"xl/sharedStrings.xml": strings})
    assert got[0][1].startswith("| 서울 | rich text |\n")


def test_comments_come_once_with_author_and_cell(read: Reading) -> None:
    classic = (
        f'<comments xmlns="{MAIN}"><authors><author>홍길동</author><author>tc=1</author></authors>'
        '<commentList><comment ref="A1" authorId="0"><text><r><t>홍길동:\n확인 필요</t></r></text>'
        '</comment><comment ref="B1" authorId="1"><text><t>[Threaded comment] copy</t></text>'
        "</comment></commentList></comments>"
    )
    threads = (
        '<ThreadedComments xmlns="urn:x"><threadedComment ref="B1" dT="2026-01-02T03:04:05.6"'
        ' personId="{P}"><text>왜요?</text></threadedComment></ThreadedComments>'
    )
    people = '<personList xmlns="urn:x"><person id="{P}" displayName="Kim"/></personList>'
    base = zipfile.ZipFile(io.BytesIO(workbook(rows(["a", "b"]))))
    book = base.read("xl/_rels/workbook.xml.rels").decode()
    person = f'<Relationship Id="p" Type="{RELS}/person" Target="p.xml"/></Relationships>'
    got = read(
        "a.xlsx",
        workbook(
            rows(["a", "b"]),
            **{
                "xl/comments1.xml": classic,
                "xl/threads.xml": threads,
                "xl/p.xml": people,
                "xl/_rels/workbook.xml.rels": book.replace("</Relationships>", person),
                "xl/worksheets/_rels/sheet0.xml.rels": relationships(
                    ("c", "comments", "../comments1.xml"),
                    ("t", "threadedComment", "/xl/threads.xml"),
                ),
            },
        ),
    ).of(SectionKind.COMMENT)
    assert [(one.place.cells, one.text) for one in got] == [
        ("B1", "Comment on B1 (author: Kim, time: 2026-01-02T03:04:05): 왜요?"),
        ("A1", "Comment on A1 (author: 홍길동): 확인 필요"),
    ]


def test_links_are_kept_where_the_text_does_not_say_them(read: Reading) -> None:
    tail = '<hyperlinks><hyperlink ref="A1" r:id="h"/><hyperlink ref="B1" r:id="h"/></hyperlinks>'
    link = relationships(("h", "hyperlink", "https://example.org/"))
    parts = {"xl/worksheets/_rels/sheet0.xml.rels": link}
    text = shown(read, rows(["문서", "see https://example.org"]), tail=tail, **parts)[0][1]
    assert text.startswith("| [문서](https://example.org/) | see https://example.org |")


def test_a_million_formatted_but_empty_rows_cost_nothing(read: Reading) -> None:
    blank = "".join(f'<row r="{at}" s="1"><c r="A{at}" s="1"/></row>' for at in range(2, 300_000))
    sheet = rows(["only"]) + blank + rows(["last"], first=1_048_576)
    data = workbook(sheet)
    del blank, sheet
    tracemalloc.start()
    started = time.process_time()
    got = shown(read, "", **{"xl/worksheets/sheet0.xml": zipfile.ZipFile(io.BytesIO(data)).read(
        "xl/worksheets/sheet0.xml")})  # fmt: skip
    spent, peak = time.process_time() - started, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert got == [("A1", "only"), ("A1048576", "last")]
    # The bytes of the sheet themselves are 13 MiB, twice.
    assert spent < 10
    assert peak < 64 << 20


def test_memory_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    def peak(count: int) -> int:
        path = tmp_path / f"{count}.xlsx"
        path.write_bytes(workbook(rows(*([at, f"이름 {at}", at / 7] for at in range(count)))))
        tracemalloc.start()
        for _ in FORMAT.parse(Input(path, path.name, Limits())):
            continue
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert peak(12_000) < 1.3 * peak(3_000)


def test_columns_far_apart_do_not_make_wide_tables(read: Reading) -> None:
    sheet = "".join(
        f'<row r="{at}">{cell(f"A{at}", at)}{cell(f"{column_letters(40 * at)}{at}", 1)}</row>'
        for at in range(1, 401)
    )
    assert sum(len(text) for _, text in shown(read, sheet)) < 2_000_000


def test_entities_are_refused(read: Reading) -> None:
    head = '<!DOCTYPE w [<!ENTITY a "x"><!ENTITY b "&a;&a;&a;">]>'
    sheet = f'{head}<worksheet xmlns="{MAIN}"><sheetData><row><c><v>&b;</v></c></row></sheetData>'
    with pytest.raises(ExtractionFailed) as failed:
        read("a.xlsx", workbook("", **{"xl/worksheets/sheet0.xml": sheet + "</worksheet>"}))
    assert failed.value.reason is Reason.CORRUPT


def test_a_broken_sheet_gives_its_beginning_and_the_other_sheets(tmp_path: Path) -> None:
    broken = f'<worksheet xmlns="{MAIN}"><sheetData>{rows(["a", "b"], ["c", "d"])}<row r="3"><c'
    path = tmp_path / "a.xlsx"
    path.write_bytes(workbook("", rows(["whole"]), **{"xl/worksheets/sheet0.xml": broken}))
    text, reason = outcome(path)
    assert reason is Reason.CORRUPT
    assert "| c | d |" in text
    assert "whole" in text


def test_files_cut_or_damaged_anywhere_are_told_or_read(tmp_path: Path) -> None:
    data = workbook(
        rows(*([f"k{at}", at, at / 3] for at in range(400))),
        tail='<mergeCells><mergeCell ref="A1:A3"/></mergeCells>',
    )
    chance = random.Random(7)
    for _ in range(60):
        harmed = bytearray(data)
        for _ in range(chance.randrange(1, 6)):
            harmed[chance.randrange(len(harmed))] = chance.randrange(256)
        path = tmp_path / "a.xlsx"
        path.write_bytes(harmed[: chance.randrange(200, len(harmed) + 1)])
        assert outcome(path)[1] in (None, *BAD)


def test_number_formats_of_cells_are_applied(read: Reading) -> None:
    sheet = (
        f'<row r="1">{cell("A1", 44927, 1)}{cell("B1", 0.5, 2)}{cell("C1", "가", 3)}'
        f"{cell('D1', 3, 9)}</row>"
    )
    got = shown(read, sheet, formats=("yyyy/mm/dd", "0%", '0;0;0;"<"@">"'))
    assert got[0][1].startswith("| 2023/01/01 | 50% | <가> | 3 |")
    old = shown(read, sheet, formats=("d-m-y",), properties='<workbookPr date1904="1"/>')
    assert old[0][1].startswith("| 2-1-27 |")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("markitdown__test.xlsx", ["09060124-b5e7-4717-9d07-3c046eb",
                                   "6ff4173b-42a5-4784-9b19-f49caff4d93d",
                                   "affc7dad-52dc-4b98-9b5d-51e65d8a8ad0"]),
        ("unstructured__stanley-cups.xlsx", ["| Maple Leafs | TOR | 13 |"]),
        ("poi__1_NoIden.xlsx", ["하천진출입로 차단시설 설치(구로구 도림천)"]),
        ("poi__SampleSS.strict.xlsx", ["This one is red"]),
        ("docling__xlsx_03_chartsheet.xlsx", ["Bar chart: Wild Duck Observations by Year"]),
        ("docling__xlsx_06_edge_cases_.xlsx", ["| G1 | H1 | I3 |\n| --- | --- | --- |"]),
        ("poi__InlineStrings.xlsx", ["Inline"]),
    ],
)  # fmt: skip
def test_known_words_of_real_files_are_found(
    read: Reading, handed: Path, name: str, words: list[str]
) -> None:
    text = read(name, (handed / "xlsx" / name).read_bytes()).text
    assert not [one for one in words if one not in text]


def test_inflated_dimensions_change_nothing(read: Reading, handed: Path) -> None:
    texts = [
        read(name, (handed / "xlsx" / name).read_bytes()).text
        for name in ("docling__xlsx_01.xlsx", "docling__xlsx_04_inflated.xlsx")
    ]
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    "name", ["poi__57893-many-merges.xlsx", "poi__poc-shared-strings.xlsx", "poi__poc-xmlbomb.xlsx"]
)
def test_bombs_cost_little_time_and_text(handed: Path, name: str) -> None:
    path = handed / "xlsx" / name
    started = time.process_time()
    text, reason = outcome(path)
    assert reason in (None, Reason.CORRUPT, Reason.TOO_LARGE)
    assert time.process_time() - started < 10
    assert len(text) < 16 << 20


def test_an_empty_workbook_is_empty_and_one_without_parts_is_corrupt(
    read: Reading, handed: Path
) -> None:
    assert not read("a.xlsx", (handed / "xlsx" / "unstructured__empty.xlsx").read_bytes()).sections
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("xl/other.xml", "<x/>")
    with pytest.raises(ExtractionFailed) as failed:
        read("a.xlsx", out.getvalue())
    assert failed.value.reason is Reason.CORRUPT
