"""Word: headings, lists, tables, tracked changes, and hostile packages."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from seoga.errors import ExtractionFailed, Reason
from seoga.models import SectionKind

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

    roles = ["styles", "numbering"]
    roles += [name[5:-4] for name in more if name.startswith("word/") and name.endswith(".xml")]
    rels = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}'
        "</Relationships>"
    )
    one = '<Relationship Id="r{2}" Type="{0}/{1}" Target="{2}"/>'
    files: dict[str, str | bytes] = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": rels.format(one.format(RELS, "officeDocument", "word/document.xml")),
        "word/_rels/document.xml.rels": rels.format(
            "".join(one.format(RELS, role, f"{role}.xml") for role in dict.fromkeys(roles))
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


def run(inner: str, properties: str = "") -> str:
    return f"<w:r><w:rPr>{properties}</w:rPr>{inner}</w:r>"


def notes(kind: str, *entries: str) -> bytes:
    return f'<w:{kind}s xmlns:w="{W}">{"".join(entries)}</w:{kind}s>'.encode()


def test_notes_follow_their_block_and_separators_are_known_by_type(read: Reading) -> None:
    foot = notes(
        "footnote",
        f'<w:footnote w:type="separator" w:id="0">{p("SEPARATOR")}</w:footnote>',
        f'<w:footnote w:id="1">{p("first")}</w:footnote>',
        f'<w:footnote w:id="-1">{p("second")}</w:footnote>',
        f'<w:footnote w:id="9">{p("UNUSED")}</w:footnote>',
    )
    end = notes("endnote", f'<w:endnote w:id="0">{p("last")}</w:endnote>')
    body = "<w:p>" + run('<w:t>a</w:t><w:footnoteReference w:id="1"/>')
    body += run('<w:t>b</w:t><w:footnoteReference w:id="-1"/><w:endnoteReference w:id="0"/>')
    body += '<w:del><w:r><w:footnoteReference w:id="9"/></w:r></w:del></w:p>' + p("next")
    more = {"word/footnotes.xml": foot, "word/endnotes.xml": end}
    got = read("a.docx", package(body, **more))
    assert [one.text for one in got.sections] == [
        "a[^1]b[^2][^e1]", "[^1]: first", "[^2]: second", "[^e1]: last", "next",
    ]  # fmt: skip
    assert [one.meta["note"] for one in got.of(SectionKind.NOTE)] == [
        "footnote", "footnote", "endnote",
    ]  # fmt: skip


def test_comments_say_who_wrote_them_and_hang_on_tables_too(read: Reading) -> None:
    entries = [
        '<w:comment w:id="0" w:author="Kim" w:date="2024-05-01T09:00:00Z">'
        f"{p('check')}</w:comment>",
        f'<w:comment w:id="1">{p("anonymous")}</w:comment>',
    ]
    mark = '<w:p><w:r><w:t>x</w:t></w:r><w:r><w:commentReference w:id="{}"/></w:r></w:p>'
    table = f"<w:tbl><w:tr>{cell('k')}<w:tc>{mark.format(1)}</w:tc></w:tr></w:tbl>"
    data = package(mark.format(0) + table, **{"word/comments.xml": notes("comment", *entries)})
    got = read("a.docx", data)
    assert [(one.kind.value, one.text) for one in got.sections] == [
        ("paragraph", "x"),
        ("comment", "Comment by Kim, 2024-05-01: check"),
        ("table", "| k | x |\n| --- | --- |"),
        ("comment", "Comment: anonymous"),
    ]
    assert got.sections[1].meta["author"] == "Kim"


def test_headers_and_footers_in_use_come_once_at_the_end(read: Reading) -> None:
    def story(name: str, text: str) -> bytes:
        return f'<w:{name} xmlns:w="{W}">{p(text)}</w:{name}>'.encode()

    def used(role: str, kind: str) -> str:
        part = f"{role}{kind}.xml"
        return f'<w:{role}Reference w:type="{kind}" xmlns:r="{RELS}" r:id="r{part}"/>'

    names = [("header", "default"), ("header", "first"), ("footer", "default"), ("footer", "even")]
    section = f"<w:sectPr>{''.join(used(*one) for one in names)}</w:sectPr>"
    texts = dict(zip(names, ["Secret", "NOT SHOWN", "Page 3", "NOR THIS"], strict=True))
    more = {
        f"word/{role}{kind}.xml": story("hdr" if role == "header" else "ftr", text)
        for (role, kind), text in texts.items()
    }
    body = f"<w:p><w:pPr>{section}</w:pPr><w:r><w:t>text</w:t></w:r></w:p>" + section
    got = read("a.docx", package(body, **more))
    assert [one.text for one in got.sections] == ["text", "Secret"]
    assert got.sections[1].meta == {"note": "header"}
    titled = read("a.docx", package(section.replace("</w:s", "<w:titlePg/></w:s"), **more))
    assert [one.text for one in titled.sections] == ["Secret", "NOT SHOWN"]


MATH = "http://schemas.openxmlformats.org/officeDocument/2006/math"


def test_equations_stand_in_their_order_and_stay_apart(read: Reading) -> None:
    one = f'<m:oMath xmlns:m="{MATH}"><m:r><m:t>%s</m:t></m:r></m:oMath>'
    body = f"<w:p>{run('<w:t>if </w:t>')}{one % 'a'}{one % 'b'}{run('<w:t>, then</w:t>')}</w:p>"
    assert read("a.docx", package(body)).text == "if [math: a] [math: b], then"


def field(*parts: str) -> str:
    return "".join(
        f'<w:r><w:fldChar w:fldCharType="{part}"/></w:r>'
        if part in ("begin", "separate", "end")
        else f"<w:r>{part}</w:r>"
        for part in parts
    )


def test_results_inside_the_code_of_a_field_do_not_show(read: Reading) -> None:
    text, code = "<w:t>{}</w:t>", "<w:instrText>CODE</w:instrText>"
    inner = ("begin", code, "separate", text.format("INNER"), "end")
    whole = field("begin", code, *inner, "separate", text.format("shown"), "end")
    assert read("a.docx", package(f"<w:p>{whole}</w:p>")).text == "shown"
    # A field that never ends hides nothing.
    broken = field("begin", code, text.format("kept"))
    assert read("a.docx", package(f"<w:p>{broken}</w:p>" + p("rest"))).text == "kept\n\nrest"


def test_old_form_fields_show_their_state(read: Reading) -> None:
    box = '<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox>{}</w:checkBox></w:ffData>'
    box += '</w:fldChar></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>'
    on, off = box.format("<w:checked/>"), box.format('<w:default w:val="0"/>')
    assert read("a.docx", package(f"<w:p>{on}{off}</w:p>")).text == "☒☐"


def test_hidden_text_is_left_out_and_symbols_are_read(read: Reading) -> None:
    body = "<w:p>" + run("<w:t>HIDDEN</w:t>", "<w:vanish/>")
    body += run("<w:t>a</w:t>", '<w:vanish w:val="0"/>')
    body += run('<w:sym w:font="Symbol" w:char="F061"/><w:sym w:font="Wingdings" w:char="F0FE"/>')
    body += run("<w:t>\uf0e0</w:t>", '<w:rFonts w:ascii="Wingdings"/>')
    body += run("<w:ruby><w:rt><w:r><w:t>한</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>韓</w:t></w:r>"
                "</w:rubyBase></w:ruby>") + "</w:p>"  # fmt: skip
    assert read("a.docx", package(body)).text == "aα☑→韓(한)"


def test_a_deleted_paragraph_mark_joins_two_paragraphs(read: Reading) -> None:
    body = p("one ", "<w:rPr><w:del/></w:rPr>") + p("two") + p("three")
    assert [one.text for one in read("a.docx", package(body)).sections] == ["one two", "three"]


def test_lists_by_linked_styles_restarts_and_overrides(read: Reading) -> None:
    numbering = f"""<w:numbering xmlns:w="{W}"><w:abstractNum w:abstractNumId="0">
<w:numStyleLink w:val="S"/></w:abstractNum><w:abstractNum w:abstractNumId="1">
<w:styleLink w:val="S"/><w:lvl w:ilvl="0"><w:numFmt w:val="upperRoman"/><w:lvlText w:val="%1."/>
<w:pStyle w:val="x"/></w:lvl><w:lvl w:ilvl="1"><w:isLgl/><w:lvlText w:val="%1.%2"/>
<w:lvlRestart w:val="0"/><w:pStyle w:val="y"/></w:lvl></w:abstractNum>
<w:num w:numId="3"><w:abstractNumId w:val="0"/></w:num>
<w:num w:numId="4"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0">
<w:startOverride w:val="7"/></w:lvlOverride></w:num></w:numbering>"""
    linked = "<w:pPr><w:numPr><w:numId w:val='3'/></w:numPr></w:pPr>"
    styles = f"""<w:styles xmlns:w="{W}">
<w:style w:type="paragraph" w:styleId="x"><w:name w:val="Item"/>{linked}</w:style>
<w:style w:type="paragraph" w:styleId="y"><w:name w:val="Sub"/>{linked}</w:style></w:styles>"""
    body = styled("a", "x") + styled("b", "y") + styled("c", "x") + styled("d", "y") + item("e", 4)
    data = package(body, **{"word/styles.xml": styles.encode(),
                            "word/numbering.xml": numbering.encode()})  # fmt: skip
    assert read("a.docx", data).text == "I. a\n  1.1 b\nII. c\n  2.2 d\nVII. e"


def test_the_table_of_contents_is_one_list(read: Reading) -> None:
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="t{n}"><w:name w:val="toc {n}"/></w:style>'
        for n in (1, 2)
    )
    part = f'<w:styles xmlns:w="{W}">{styles}</w:styles>'.encode()
    body = "<w:sdt><w:sdtContent>" + styled("One", "t1") + styled("Deep", "t2")
    data = package(body + "</w:sdtContent></w:sdt>", **{"word/styles.xml": part})
    assert [(one.kind.value, one.text) for one in read("a.docx", data).sections] == [
        ("list", " One\n   Deep")
    ]


def test_charts_and_alternative_texts_are_read(read: Reading, handed: Path) -> None:
    got = read("a.docx", (handed / "docx" / "tika__testWORD_2006ml.docx").read_bytes())
    assert "Chart: Bar chart: This is the chart title" in got.text
    assert "| Category 1 | 4.3 | 2.4 | 2 |" in got.text
    alt = '<w:p><w:r><w:drawing><w:docPr descr="A map of Seoul"/></w:drawing></w:r></w:p>'
    assert read("a.docx", package(alt)).text == "[image: A map of Seoul]"


def test_a_chunk_of_html_is_read_in_its_place(read: Reading) -> None:
    chunk = f'<w:altChunk xmlns:r="{RELS}" r:id="rafchunk.xml"/>'
    html = b"<html><body><h1>Inside</h1><p>text</p></body></html>"
    data = package(styled("Top", "1") + chunk + p("end"), **{"word/afchunk.xml": html})
    assert read("a.docx", data).text == "# Top\n\n## Inside\n\ntext\n\nend"


def live_words(path: Path) -> set[str]:
    """Words of the body that show: not deleted, not the old version of a drawing."""
    words: set[str] = set()
    with zipfile.ZipFile(path) as archive:
        root = etree.fromstring(archive.read("word/document.xml"))
    for one in root.iter("{*}t"):
        above = {etree.QName(parent).localname for parent in one.iterancestors()}
        if not above & {"del", "moveFrom", "Fallback", "oMath"}:
            words |= set(re.findall(r"[^\W\d_]{3,}", "".join(one.itertext())))
    return words


@pytest.mark.parametrize("name", ["tika__testWORD_2006ml", "docling__word_sample",
                                  "unstructured__docx-shapes", "poi__60329",
                                  "tika__testWORD_numbered_list"])  # fmt: skip
def test_every_word_that_shows_is_read(read: Reading, handed: Path, name: str) -> None:
    path = handed / "docx" / f"{name}.docx"
    text = read("a.docx", path.read_bytes()).text
    assert not {word for word in live_words(path) if word not in text}


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


def test_deep_nesting_is_told_as_such(read: Reading) -> None:
    deep = "<w:sdt><w:sdtContent>" * 5000 + p("x") + "</w:sdtContent></w:sdt>" * 5000
    with pytest.raises(ExtractionFailed) as failed:
        read("a.docx", package(deep))
    assert failed.value.reason is Reason.TOO_LARGE
    assert "nested too deep: more than 256" in failed.value.message


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
