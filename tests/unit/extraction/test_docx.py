"""Word: headings, lists, tables, tracked changes, and hostile packages."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from seoga.errors import ExtractionFailed, Reason
from seoga.models import SectionKind
from seoga_extraction.numerals import shown

Reading = Callable[..., Any]

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"
RELS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
STYLES = """
<w:style w:type="paragraph" w:styleId="1"><w:name w:val="heading 1"/></w:style>
<w:style w:type="paragraph" w:styleId="a2"><w:name w:val="제목 2"/></w:style>
<w:style w:type="paragraph" w:styleId="x"><w:name w:val="조항"/>
<w:pPr><w:outlineLvl w:val="2"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="y"><w:name w:val="세부"/><w:basedOn w:val="x"/></w:style>
<w:style w:type="paragraph" w:styleId="loop"><w:name w:val="l"/><w:basedOn w:val="loop"/></w:style>
"""
NUMBERS = """
<w:abstractNum w:abstractNumId="0">
<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="제%1조"/></w:lvl>
<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="ganada"/><w:lvlText w:val="%2."/></w:lvl>
</w:abstractNum>
<w:abstractNum w:abstractNumId="1">
<w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="•"/></w:lvl></w:abstractNum>
<w:num w:numId="5"><w:abstractNumId w:val="0"/></w:num>
<w:num w:numId="6"><w:abstractNumId w:val="1"/></w:num>
"""


def package(body: str, namespace: str = W, head: str = "", **more: bytes) -> bytes:
    def part(root: str, inner: str) -> str:
        return f'{head}<w:{root} xmlns:w="{namespace}">{inner}</w:{root}>'

    rels = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}'
        "</Relationships>"
    )
    one = '<Relationship Id="r{2}" Type="{0}/{1}" Target="{2}"/>'
    files: dict[str, str | bytes] = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": rels.format(one.format(RELS, "officeDocument", "word/document.xml")),
        "word/_rels/document.xml.rels": rels.format(
            one.format(RELS, "styles", "styles.xml")
            + one.format(RELS, "numbering", "numbering.xml")
        ),
        "word/document.xml": part("document", f"<w:body>{body}</w:body>"),
        "word/styles.xml": part("styles", STYLES),
        "word/numbering.xml": part("numbering", NUMBERS),
        **more,
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def p(text: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def styled(text: str, style: str) -> str:
    return p(text, f'<w:pStyle w:val="{style}"/>')


def item(text: str, number: int, level: int = 0) -> str:
    return p(text, f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>')


def cell(text: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{p(text)}</w:tc>"


def test_headings_are_known_by_local_name_style_id_and_inherited_outline(read: Reading) -> None:
    body = styled("하나", "1") + styled("둘", "a2") + styled("셋", "y") + styled("본문", "loop")
    got = read("a.docx", package(body))
    assert [(one.text, one.level) for one in got.of(SectionKind.HEADING)] == [
        ("# 하나", 1),
        ("## 둘", 2),
        ("### 셋", 3),
    ]
    assert got.sections[-1].heading_path == ("하나", "둘", "셋")


def test_lists_carry_the_numbers_that_word_shows(read: Reading) -> None:
    body = item("목적", 5) + item("정의", 5, 1) + item("범위", 5, 1) + item("적용", 5)
    body += item("하위", 5, 1) + p("끝") + item("점", 6)
    got = read("a.docx", package(body))
    assert [one.text for one in got.of(SectionKind.LIST)] == [
        "제1조 목적\n  가. 정의\n  나. 범위\n제2조 적용\n  가. 하위",
        "- 점",
    ]


def test_merged_cells_repeat_downwards_and_stay_on_their_column(read: Reading) -> None:
    rows = [
        cell("구분") + cell("값", '<w:gridSpan w:val="2"/>') + cell("비고"),
        cell("A", '<w:vMerge w:val="restart"/>') + cell("1") + cell("2") + cell("x|y"),
        cell("", "<w:vMerge/>") + cell("3") + cell("4") + cell("z"),
    ]
    table = "<w:tbl>" + "".join(f"<w:tr>{row}</w:tr>" for row in rows) + "</w:tbl>"
    got = read("a.docx", package(p("앞") + table + p("뒤")))
    assert [one.text for one in got.sections] == [
        "앞",
        "| 구분 | 값 |  | 비고 |\n| --- | --- | --- | --- |\n"
        "| A | 1 | 2 | x\\|y |\n| A | 3 | 4 | z |",
        "뒤",
    ]


def test_tracked_changes_are_read_as_accepted_and_field_codes_stay_out(read: Reading) -> None:
    body = (
        "<w:p><w:r><w:t>a</w:t></w:r><w:del><w:r><w:delText>GONE</w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t>b</w:t></w:r></w:ins><w:moveFrom><w:r><w:t>MOVED</w:t></w:r></w:moveFrom>"
        "<w:r><w:instrText>PAGE \\* MERGEFORMAT</w:instrText></w:r><w:r><w:tab/><w:t>c</w:t><w:br/>"
        "<w:t>d</w:t></w:r></w:p>"
        "<w:sdt><w:sdtPr/><w:sdtContent>" + p("in a control") + "</w:sdtContent></w:sdt>"
    )
    assert read("a.docx", package(body)).text == "ab\tc\nd\n\nin a control"


def test_strict_files_are_read_like_transitional_ones(read: Reading) -> None:
    assert read("a.docx", package(p("strict"), STRICT)).text == "strict"


def test_a_table_of_one_column_is_a_frame_around_blocks(read: Reading) -> None:
    table = f"<w:tbl><w:tr>{cell('frame')}</w:tr></w:tbl>"
    assert [one.kind for one in read("a.docx", package(table)).sections] == [SectionKind.PARAGRAPH]


def test_text_boxes_come_once(read: Reading, handed: Path) -> None:
    data = (handed / "docx" / "mammoth.js__text-box.docx").read_bytes()
    assert read("a.docx", data).text.count("Datum plane") == 1


def test_deleted_text_of_a_real_file_does_not_leak(read: Reading, handed: Path) -> None:
    path = handed / "docx" / "poi__delins.docx"
    xml = zipfile.ZipFile(path).read("word/document.xml").decode()
    deleted = [piece.split("<")[0].partition(">")[2] for piece in xml.split("<w:delText")[1:]]
    text = read("a.docx", path.read_bytes()).text
    assert deleted
    assert not [one for one in deleted if len(one) > 8 and one in text]


@pytest.mark.parametrize(
    ("number", "kind", "expected"),
    [(4, "lowerRoman", "iv"), (27, "upperLetter", "AA"), (3, "ganada", "다"), (2, "chosung", "ㄴ"),
     (3, "decimalEnclosedCircle", "③"), (7, "decimalZero", "07"), (0, "lowerRoman", "0")],
)  # fmt: skip
def test_numbers_are_shown_in_words_formats(number: int, kind: str, expected: str) -> None:
    assert shown(number, kind) == expected


LOL = "".join(f'<!ENTITY l{n} "{"".join(f"&l{n - 1};" for _ in range(10))}">' for n in range(1, 12))


@pytest.mark.parametrize("element", ["<w:t>&l11;</w:t>", '<w:t w:x="&l11;">x</w:t>'])
def test_entity_bombs_are_not_expanded(read: Reading, element: str) -> None:
    head = f'<!DOCTYPE w [<!ENTITY l0 "lol">{LOL}]>'
    text = ""
    with suppress(ExtractionFailed):
        text = read("a.docx", package(f"<w:p><w:r>{element}</w:r></w:p>", head=head)).text
    assert len(text) < 100


def test_external_entities_are_not_read(read: Reading, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("SECRET")
    head = f'<!DOCTYPE w [<!ENTITY x SYSTEM "{secret.as_uri()}">]>'
    assert "SECRET" not in read("a.docx", package(p("a &x; b"), head=head)).text


def test_deep_nesting_is_told_as_corrupt_or_read(read: Reading) -> None:
    deep = "<w:sdt><w:sdtContent>" * 5000 + p("x") + "</w:sdtContent></w:sdt>" * 5000
    with pytest.raises(ExtractionFailed) as failed:
        read("a.docx", package(deep))
    assert failed.value.reason is Reason.CORRUPT


def test_zip_bombs_are_refused_before_they_inflate(read: Reading) -> None:
    bomb = package(p("x"), **{"word/media/a.bin": b"\x00" * (200 << 20)})
    with pytest.raises(ExtractionFailed) as failed:
        read("a.docx", bomb)
    assert failed.value.reason is Reason.TOO_LARGE


@pytest.mark.parametrize("share", [0.1, 0.5, 0.95])
def test_a_cut_file_is_corrupt(read: Reading, share: float) -> None:
    data = package(p("text " * 2000))
    with pytest.raises(ExtractionFailed) as failed:
        read("a.docx", data[: int(len(data) * share)])
    assert failed.value.reason is Reason.CORRUPT


@pytest.mark.parametrize(
    ("names", "what"),
    [(["xl/workbook.bin"], "xlsb"), (["AndroidManifest.xml"], "Android"), (["x.txt"], "zip")],
)
def test_other_packages_are_refused_by_their_name(
    read: Reading, names: list[str], what: str
) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    with pytest.raises(ExtractionFailed, match=what) as failed:
        read("a.docx", out.getvalue())
    assert failed.value.reason is Reason.UNSUPPORTED
