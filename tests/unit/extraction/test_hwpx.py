"""HWPX and HWPML: order, headings, lists, tables, notes, equations, and hostile packages."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from seoga.errors import ExtractionFailed, Reason
from seoga.models import SectionKind
from seoga_extraction.formats._hancom.lists import shown

Reading = Callable[..., Any]

NAMESPACES = " ".join(
    f'xmlns:{prefix}="http://www.hancom.co.kr/hwpml/2011/{name}"'
    for prefix, name in (("hp", "paragraph"), ("hs", "section"), ("hh", "head"))
)


def number_head(level: int, text: str, shape: str = "DIGIT") -> str:
    return f'<hh:paraHead start="1" level="{level}" numFormat="{shape}">{text}</hh:paraHead>'


def shape(number: int, kind: str, level: int, list_id: int = 0) -> str:
    heading = f'<hh:heading type="{kind}" idRef="{list_id}" level="{level}"/>'
    return f'<hh:paraPr id="{number}">{heading}</hh:paraPr>'


HEADER = (
    "<hh:numberings><hh:numbering id='1' start='0'>"
    + number_head(1, "^1.")
    + number_head(2, "^2.", "HANGUL_SYLLABLE")
    + number_head(3, "^n")
    + "</hh:numbering></hh:numberings>"
    + shape(0, "NONE", 0)
    + shape(1, "OUTLINE", 0)
    + shape(2, "OUTLINE", 1)
    + shape(3, "NUMBER", 0, 1)
    + shape(4, "NUMBER", 1, 1)
    + shape(5, "BULLET", 0, 1)
    + shape(6, "NUMBER", 4294967295, 1)
    + shape(7, "NUMBER", 2, 1)
    + '<hh:style id="0" name="바탕글"/><hh:style id="1" name="제목"/>'
    + '<hh:style id="2" name="개요 2"/>'
)


def package(*sections: str, **more: str) -> bytes:
    files = {
        "mimetype": "application/hwp+zip",
        "Contents/header.xml": f"<hh:head {NAMESPACES}>{HEADER}</hh:head>",
    }
    for number, body in enumerate(sections):
        files[f"Contents/section{number}.xml"] = f"<hs:sec {NAMESPACES}>{body}</hs:sec>"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (files | more).items():
            archive.writestr(name, content)
    return out.getvalue()


def t(text: str) -> str:
    return f"<hp:t>{text}</hp:t>"


def p(runs: str, shape_id: int = 0, style: int = 0) -> str:
    runs = runs if runs.startswith("<") else t(runs)
    return f'<hp:p paraPrIDRef="{shape_id}" styleIDRef="{style}"><hp:run>{runs}</hp:run></hp:p>'


def ctrl(name: str, body: str, attributes: str = "") -> str:
    inner = f"<hp:subList>{body}</hp:subList>"
    return f"<hp:ctrl><hp:{name} {attributes}>{inner}</hp:{name}></hp:ctrl>"


def cell(at: tuple[int, int], body: str, spans: tuple[int, int] = (1, 1)) -> str:
    return (
        f"<hp:tc><hp:subList>{body if body.startswith('<') else p(body)}</hp:subList>"
        f'<hp:cellAddr rowAddr="{at[0]}" colAddr="{at[1]}"/>'
        f'<hp:cellSpan rowSpan="{spans[0]}" colSpan="{spans[1]}"/></hp:tc>'
    )


def table(*rows: str) -> str:
    return "<hp:tbl>" + "".join(f"<hp:tr>{row}</hp:tr>" for row in rows) + "</hp:tbl>"


def equation(script: str) -> str:
    return f"<hp:equation><hp:script>{script}</hp:script></hp:equation>"


def test_sections_come_in_the_order_of_their_numbers(read: Reading) -> None:
    got = read("a.hwpx", package(*(p(f"section {number}") for number in range(12))))
    assert re.findall(r"\d+", got.text) == [str(number) for number in range(12)]


def test_headings_are_known_by_outline_level_and_by_style_name(read: Reading) -> None:
    start = '<hp:secPr outlineShapeIDRef="1"/>' + t("총칙")
    body = p("표제", style=1) + p(start, 1) + p("목적", 2) + p("정의", style=2) + p("본문")
    got = read("a.hwpx", package(body + p("가" * 201, 2)))
    assert [(one.text, one.level) for one in got.of(SectionKind.HEADING)] == [
        ("# 표제", 1),
        ("# 1. 총칙", 1),
        ("## 가. 목적", 2),
        ("## 정의", 2),
    ]
    paragraph = got.of(SectionKind.PARAGRAPH)[0]
    assert (paragraph.text, paragraph.heading_path) == ("본문", ("1. 총칙", "정의"))
    assert got.sections[-1].kind is SectionKind.LIST


def test_lists_carry_the_numbers_that_hangul_shows(read: Reading) -> None:
    body = p("하나", 3) + p("갑", 4) + p("을", 4) + p("둘", 3) + p("병", 4) + p("깊이", 7)
    got = read("a.hwpx", package(body + p("점", 5) + p("끝없이", 6)))
    lines = "\n".join(one.text for one in got.of(SectionKind.LIST)).split("\n")
    assert [line.strip() for line in lines[:7]] == [
        "1. 하나",
        "가. 갑",
        "나. 을",
        "2. 둘",
        "가. 병",
        "2.가.1. 깊이",
        "- 점",
    ]


@pytest.mark.parametrize(
    ("number", "kind", "expected"),
    [(4, "ROMAN_SMALL", "iv"), (9, "ROMAN_CAPITAL", "IX"), (15, "HANGUL_SYLLABLE", "거"),
     (3, "CIRCLED_DIGIT", "③"), (2, "HANGUL_JAMO", "ㄴ"), (99, "CIRCLED_DIGIT", "99"),
     (0, "ROMAN_SMALL", "0"), (10**9, "ROMAN_SMALL", "1000000000"), (7, "NO_SUCH", "7")],
)  # fmt: skip
def test_numbers_are_shown_in_hanguls_shapes(number: int, kind: str, expected: str) -> None:
    assert shown(number, kind) == expected


def test_merged_cells_repeat_downwards_and_stay_on_their_column(read: Reading) -> None:
    rows = (
        cell((0, 0), "구분") + cell((0, 1), "값", (1, 2)) + cell((0, 3), "비고"),
        cell((1, 0), "A", (2, 1)) + cell((1, 1), "1") + cell((1, 2), "2") + cell((1, 3), "x|y"),
        cell((2, 1), "3") + cell((2, 2), p("4") + p("5")) + cell((2, 3), "z"),
    )
    got = read("a.hwpx", package(p(table(*rows))))
    assert [one.text for one in got.sections] == [
        "| 구분 | 값 |  | 비고 |\n| --- | --- | --- | --- |\n"
        "| A | 1 | 2 | x\\|y |\n| A | 3 | 4 5 | z |",
    ]


def test_a_label_set_down_a_cell_letter_by_letter_is_a_word(read: Reading) -> None:
    down = "".join(map(p, "응시자격"))
    rows = (
        cell((0, 0), down) + cell((0, 1), p("가") + p("나")),
        cell((1, 0), down + p("요건 2")) + cell((1, 1), "값"),
    )
    got = read("a.hwpx", package(p(table(*rows))))
    assert got.sections[0].text == "| 응시자격 | 가 나 |\n| --- | --- |\n| 응시자격 요건 2 | 값 |"


def test_a_table_inside_a_cell_stays_in_its_cell(read: Reading) -> None:
    inner = table(cell((0, 0), "a") + cell((0, 1), "b"), cell((1, 0), "c") + cell((1, 1), "d"))
    rows = (cell((0, 0), "겉") + cell((0, 1), p(inner)), cell((1, 0), "x") + cell((1, 1), "y"))
    got = read("a.hwpx", package(p(table(*rows))))
    assert got.sections[0].text == "| 겉 | a, b; c, d |\n| --- | --- |\n| x | y |"


def test_a_table_that_only_lays_out_is_read_as_blocks(read: Reading) -> None:
    frame = table(cell((0, 0), p("제목", style=1) + p("글")), cell((1, 0), "아래"))
    bar = table(cell((0, 0), "1") + cell((0, 1), "채용 인원"))
    got = read("a.hwpx", package(p(frame) + p(bar)))
    assert [one.text for one in got.sections] == ["# 제목", "글", "아래", "1 채용 인원"]


def test_a_paragraph_with_a_table_keeps_its_notes_and_equations(read: Reading) -> None:
    grid = table(
        cell((0, 0), "a") + cell((0, 1), p(equation("x over y"))),
        cell((1, 0), p(t("b") + ctrl("footNote", p("표 안")))) + cell((1, 1), "c"),
    )
    runs = t("앞 ") + equation("a^2") + grid + ctrl("footNote", p("각주")) + t(" 뒤")
    got = read("a.hwpx", package(p(runs) + p(t("끝") + ctrl("endNote", p("미주")))))
    assert [(one.kind, one.text) for one in got.sections] == [
        (SectionKind.PARAGRAPH, "앞 [math: a^{2}][^1] 뒤"),
        (SectionKind.NOTE, "[^1]: 각주"),
        (SectionKind.TABLE, "| a | [math: \\frac{x}{y}] |\n| --- | --- |\n| b[^2] | c |"),
        (SectionKind.NOTE, "[^2]: 표 안"),
        (SectionKind.PARAGRAPH, "끝[^e1]"),
        (SectionKind.NOTE, "[^e1]: 미주"),
    ]
    assert [one.meta.get("math") for one in got.sections if "math" in one.meta] == [
        ["a^2"],
        ["x over y"],
    ]


def test_headers_and_footers_are_notes_at_the_end_and_never_in_the_text(read: Reading) -> None:
    page = ctrl("footer", p("<hp:ctrl><hp:autoNum numType='PAGE' num='1'/></hp:ctrl>" + t("- -")))
    first = ctrl("header", p("머리말")) + page + t("본문")
    got = read("a.hwpx", package(p(first), p(ctrl("header", p("머리말")) + t("둘째"))))
    assert [(one.text, one.meta.get("note")) for one in got.sections] == [
        ("본문", None),
        ("둘째", None),
        ("머리말", "header"),
    ]


def test_memos_and_hidden_comments_are_comments(read: Reading) -> None:
    author = '<hp:parameters><hp:stringParam name="Author">홍길동</hp:stringParam></hp:parameters>'
    memo = f"<hp:fieldBegin type='MEMO'>{author}<hp:subList>{p('확인')}</hp:subList>"
    runs = f"<hp:ctrl>{memo}</hp:fieldBegin></hp:ctrl>" + t("글") + ctrl("hiddenComment", p("숨김"))
    got = read("a.hwpx", package(p(runs)))
    assert [(one.kind, one.text, dict(one.meta)) for one in got.sections] == [
        (SectionKind.PARAGRAPH, "글", {}),
        (SectionKind.COMMENT, "확인", {"note": "memo", "author": "홍길동"}),
        (SectionKind.COMMENT, "숨김", {"note": "hidden"}),
    ]


def test_tabs_and_breaks_are_kept_and_deleted_text_is_not(read: Reading) -> None:
    runs = t("a<hp:tab/>b<hp:lineBreak/>c<hp:nbSpace/>d<hp:deleteBegin/>GONE<hp:deleteEnd/>e")
    got = read("a.hwpx", package(p(runs) + p(t("x<hp:deleteBegin/>GONE")) + p("after")))
    assert [one.text for one in got.sections] == ["a\tb\nc de", "x", "after"]


def test_shapes_charts_and_fields_give_their_text(read: Reading) -> None:
    drawn = f"<hp:drawText><hp:subList>{p('상자')}</hp:subList></hp:drawText>"
    rect = f"<hp:container><hp:rect>{drawn}<hp:shapeComment>모름</hp:shapeComment></hp:rect>"
    chart = '<hp:switch><hp:case><hp:chart chartIDRef="Chart/c.xml"/></hp:case></hp:switch>'
    series = (
        "<ser><tx><v>매출</v></tx><cat><pt><v>1월</v></pt></cat><val><pt><v>3</v></pt></val></ser>"
    )
    runs = (
        t("글")
        + f"{rect}</hp:container>{chart}"
        + '<hp:compose composeText="12"/><hp:btn caption="단추"/>'
        + "<hp:dutmal><hp:mainText>본</hp:mainText><hp:subText>덧</hp:subText></hp:dutmal>"
    )
    got = read("a.hwpx", package(p(runs), **{"Chart/c.xml": f"<c>{series}</c>"}))
    assert [one.text for one in got.sections] == [
        "글12 단추 본(덧)",
        "상자",
        "|  | 매출 |\n| --- | --- |\n| 1월 | 3 |",
    ]


def test_title_and_properties_come_from_the_package(read: Reading) -> None:
    meta = '<meta name="creator">홍길동</meta><meta name="CreatedDate">2026-01-02</meta>'
    hpf = {"Contents/content.hpf": f"<package><title>사업 계획</title>{meta}</package>"}
    info = read("a.hwpx", package(p("x"), **hpf)).info
    assert (info.title, dict(info.meta)) == (
        "사업 계획",
        {"author": "홍길동", "created": "2026-01-02"},
    )
    poor = {"Contents/content.hpf": "<package><title>1</title></package>"}
    assert read("a.hwpx", package(p("첫 장", 1), **poor)).info.title == "첫 장"


HML = (
    '<?xml version="1.0" encoding="UTF-8"?><HWPML Version="2.8"><HEAD><DOCSUMMARY><TITLE>공문서'
    '</TITLE></DOCSUMMARY><MAPPINGTABLE><STYLE Id="0" Name="개요 1"/></MAPPINGTABLE></HEAD><BODY>'
    '<SECTION><P Style="0"><TEXT><SECDEF><P><TEXT><CHAR>GONE</CHAR></TEXT></P></SECDEF>'
    "<CHAR>제목</CHAR></TEXT></P><P><TEXT><CHAR>가<TAB/>나</CHAR><EQUATION><SCRIPT>a over b"
    "</SCRIPT></EQUATION><TABLE><ROW><CELL ColAddr='0' RowAddr='0'><PARALIST><P><TEXT>"
    "<CHAR>1</CHAR></TEXT></P></PARALIST></CELL><CELL ColAddr='1' RowAddr='0'/></ROW><ROW>"
    "<CELL ColAddr='0' RowAddr='1'><PARALIST><P><TEXT><CHAR>2</CHAR></TEXT></P></PARALIST></CELL>"
    "<CELL ColAddr='1' RowAddr='1'><PARALIST><P><TEXT><CHAR>3</CHAR></TEXT></P></PARALIST></CELL>"
    "</ROW></TABLE></TEXT></P></SECTION></BODY></HWPML>"
)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_hwp_that_is_xml_is_read_by_its_content(read: Reading, encoding: str) -> None:
    got = read("a.hwp", HML.replace("UTF-8", encoding).encode(encoding))
    assert (got.info.format, got.info.title) == ("hwpml", "공문서")
    assert [one.text for one in got.sections] == [
        "# 제목",
        "가\t나[math: \\frac{a}{b}]",
        "| 1 |  |\n| --- | --- |\n| 2 | 3 |",
    ]


def test_a_hwp_that_is_hwpx_is_read_by_its_content(read: Reading) -> None:
    got = read("a.hwp", package(p("안녕")))
    assert (got.info.format, got.text) == ("hwpx", "안녕")


def failure(read: Reading, data: bytes) -> Reason:
    with pytest.raises(ExtractionFailed) as failed:
        read("a.hwpx", data)
    return failed.value.reason


def test_a_password_is_told(read: Reading, handed: Path) -> None:
    manifest = {"META-INF/manifest.xml": "<odf:encryption-data/>"}
    assert failure(read, package("x", **manifest)) is Reason.ENCRYPTED
    locked = handed / "hwpx" / "kordoc__HWP5-password-123456.hwpx"
    assert failure(read, locked.read_bytes()) is Reason.ENCRYPTED


@pytest.mark.parametrize("share", [0.1, 0.5, 0.95])
def test_a_cut_file_is_corrupt(read: Reading, share: float) -> None:
    data = package(p("text " * 2000))
    assert failure(read, data[: int(len(data) * share)]) is Reason.CORRUPT


def test_a_package_without_sections_is_corrupt(read: Reading) -> None:
    assert failure(read, package()) is Reason.CORRUPT


def test_deep_nesting_is_told_as_such(read: Reading) -> None:
    deep = table(cell((0, 0), "x"))
    for _ in range(200):
        deep = table(cell((0, 0), p(deep)))
    assert failure(read, package(p(deep))) is Reason.TOO_LARGE


def test_claimed_spans_and_places_cost_nothing(read: Reading) -> None:
    big = 4294967295
    cells = (cell((row * 1000, row * 1000), "x", (big, big)) for row in range(2000))
    got = read("a.hwpx", package(p(table(*cells))))
    assert len(got.text) < 100_000


def test_entity_bombs_are_not_expanded(read: Reading) -> None:
    lol = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    section = f'<!DOCTYPE s [<!ENTITY l0 "lol">{lol}]><hs:sec {NAMESPACES}>{p(t("&l11;"))}</hs:sec>'
    text = ""
    with suppress(ExtractionFailed):
        text = read("a.hwpx", package(**{"Contents/section0.xml": section})).text
    assert len(text) < 100
