"""OpenDocument: numbers of lists, merged cells, notes, tracked changes, hostile packages."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from seoga.errors import ExtractionFailed, Reason
from seoga.models import SectionKind

Reading = Callable[..., Any]

NAMES = ("office", "text", "table", "style", "manifest")
SPACES = " ".join(f'xmlns:{n}="urn:oasis:names:tc:opendocument:xmlns:{n}:1.0"' for n in NAMES)
SPACES += (
    ' xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"'
    ' xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xlink="http://www.w3.org/1999/xlink"'
)
LISTS = (
    '<text:list-style style:name="L"><text:list-level-style-number text:level="1" '
    'style:num-suffix="." style:num-format="1"/><text:list-level-style-number text:level="2" '
    'style:num-format="가, 나, 다, ..." style:num-suffix=")"/></text:list-style>'
)


def odt(body: str, styles: str = "", head: str = "", **more: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr(
            "content.xml",
            f"{head}<office:document-content {SPACES}><office:automatic-styles>{LISTS}"
            f"</office:automatic-styles><office:body><office:text>{body}</office:text>"
            "</office:body></office:document-content>",
        )
        archive.writestr("styles.xml", f"<office:x {SPACES}>{styles}</office:x>")
        for name, content in more.items():
            archive.writestr(name.replace("__", "/").replace("_xml", ".xml"), content)
    return out.getvalue()


def p(text: str) -> str:
    return f"<text:p>{text}</text:p>"


def cell(text: str, more: str = "") -> str:
    return f"<table:table-cell {more}>{p(text)}</table:table-cell>"


def test_blanks_tabs_and_line_ends_of_the_text_are_kept(read: Reading) -> None:
    got = read("a.odt", odt(p('a<text:s text:c="3"/>b\n   c<text:tab/>d<text:line-break/>e')))
    assert got.text == "a   b c\td\ne"


def test_lists_carry_their_numbers_and_go_on(read: Reading) -> None:
    def items(*texts: str) -> str:
        return "".join(f"<text:list-item>{one}</text:list-item>" for one in texts)

    deep = f"<text:list>{items(p('x'), p('y'))}</text:list>"
    first = f'<text:list text:style-name="L">{items(p("one") + deep, p("two"))}</text:list>'
    more = '<text:list text:style-name="L" text:continue-numbering="true">'
    got = read("a.odt", odt(first + p("between") + f"{more}{items(p('three'))}</text:list>"))
    assert [one.text for one in got.sections] == [
        "1. one\n  가) x\n  나) y\n2. two",
        "between",
        "3. three",
    ]


def test_merged_and_repeated_cells_stay_on_their_column(read: Reading) -> None:
    covered = "<table:covered-table-cell/>"
    rows = [
        cell("k") + cell("v", 'table:number-columns-spanned="2"') + covered,
        cell("A", 'table:number-rows-spanned="2"') + cell("1", 'table:number-columns-repeated="2"'),
        covered + cell("2") + cell("3"),
    ]
    table = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
    got = read("a.odt", odt(f"<table:table>{table}</table:table>"))
    assert got.text == "| k | v |  |\n| --- | --- | --- |\n| A | 1 | 1 |\n| A | 2 | 3 |"


def test_rows_that_stand_there_again_are_read_and_what_is_too_many_is_told(read: Reading) -> None:
    def table(times: int, columns: int) -> bytes:
        row = cell("a") + cell("b", f'table:number-columns-repeated="{columns}"')
        rows = f'<table:table-row table:number-rows-repeated="{times}">{row}</table:table-row>'
        return odt(f"<table:table>{rows}</table:table><text:p>after</text:p>")

    got = read("a.odt", table(3, 2))
    assert got.text == "| a | b | b |\n| --- | --- | --- |\n| a | b | b |\n| a | b | b |\n\nafter"
    with pytest.raises(ExtractionFailed, match="A row of a table stands there 9,999,999 times; 20"):
        read("a.odt", table(9_999_999, 1))
    with pytest.raises(ExtractionFailed, match="A cell of a table stands there 99,999 times; 200"):
        read("a.odt", table(1, 99_999))


def test_notes_comments_boxes_and_headers_follow_the_text(read: Reading) -> None:
    note = (
        '<text:note text:note-class="endnote"><text:note-citation>i</text:note-citation>'
        f"<text:note-body>{p('end')}</text:note-body></text:note>"
    )
    memo = f"<office:annotation><dc:creator>Kim</dc:creator>{p('check')}</office:annotation>"
    box = f"<draw:frame><draw:text-box>{p('box')}</draw:text-box></draw:frame>"
    page = f"<style:master-page><style:header>{p('Secret')}</style:header></style:master-page>"
    got = read("a.odt", odt(p(f"body{note}{memo}{box}"), page))
    assert [(one.kind.value, one.text) for one in got.sections] == [
        ("paragraph", "body[^e1]"),
        ("note", "[^e1]: end"),
        ("comment", "Comment by Kim: check"),
        ("paragraph", "box"),
        ("note", "Secret"),
    ]


def test_deleted_text_does_not_leak(read: Reading) -> None:
    gone = (
        f"<text:tracked-changes><text:deletion>{p('GONE')}</text:deletion></text:tracked-changes>"
    )
    assert read("a.odt", odt(gone + p("stays"))).text == "stays"


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        ("<mi>E</mi><mo>=</mo><msup><mi>c</mi><mn>2</mn></msup>", "so [math: E=c^{2}]"),
        ("", "so `E = c^2`"),
    ],
)
def test_a_formula_is_latex_or_what_was_typed(read: Reading, shown: str, text: str) -> None:
    frame = '<draw:frame><draw:object xlink:href="./Object 1"/></draw:frame>'
    typed = '<annotation encoding="StarMath 5.0">E = c^2</annotation>'
    formula = f"<math><semantics><mrow>{shown}</mrow>{typed}</semantics></math>"
    data = odt(p(f"so {frame}"), **{"Object 1__content_xml": formula})
    assert read("a.odt", data).text == text


def test_a_password_is_told(read: Reading) -> None:
    manifest = f"<manifest:manifest {SPACES}><manifest:encryption-data/></manifest:manifest>"
    with pytest.raises(ExtractionFailed) as failed:
        read("a.odt", odt(p("x"), **{"META-INF__manifest_xml": manifest}))
    assert failed.value.reason is Reason.ENCRYPTED


def test_hostile_packages_fail_as_their_own(read: Reading) -> None:
    deep = "<text:section>" * 5000 + p("x") + "</text:section>" * 5000
    with pytest.raises(ExtractionFailed) as failed:
        read("a.odt", odt(deep))
    assert failed.value.reason is Reason.TOO_LARGE
    repeated = cell("x", 'table:number-columns-repeated="99999999"')
    row = f"<table:table-row>{repeated}</table:table-row>"
    with pytest.raises(ExtractionFailed) as failed:
        read("a.odt", odt(f"<table:table>{row * 3}</table:table>"))
    assert failed.value.reason is Reason.TOO_LARGE
    entity = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    assert "root:" not in read("a.odt", odt(p("a &x; b"), head=entity)).text


def test_other_open_documents_are_refused_by_name(read: Reading) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", "<x/>")
    with pytest.raises(ExtractionFailed, match="OpenDocument") as failed:
        read("a.ods", out.getvalue())
    assert failed.value.reason is Reason.UNSUPPORTED


def test_headings_without_a_style_sheet_keep_their_level(read: Reading) -> None:
    body = '<text:h text:outline-level="2">둘</text:h><text:h>하나</text:h>'
    got = read("a.odt", odt(body))
    assert [one.level for one in got.of(SectionKind.HEADING)] == [2, 1]
