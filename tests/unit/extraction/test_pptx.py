"""PowerPoint: titles, reading order, lists, tables, charts, SmartArt, notes, comments, maths."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from seoga.errors import ExtractionFailed, Reason
from seoga.models import Section, SectionKind
from seoga_extraction.format import Input
from seoga_extraction.formats.pptx import FORMAT
from seoga_extraction.limits import Limits

Reading = Callable[..., Any]

P = "http://schemas.openxmlformats.org/presentationml/2006/main"
STRICT = "http://purl.oclc.org/ooxml/presentationml/main"
A = "http://schemas.openxmlformats.org/drawingml/2006/main"
C = "http://schemas.openxmlformats.org/drawingml/2006/chart"
DGM = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
M = "http://schemas.openxmlformats.org/officeDocument/2006/math"
MC = "http://schemas.openxmlformats.org/markup-compatibility/2006"
RELS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
SPACES = f'xmlns:p="{P}" xmlns:a="{A}" xmlns:r="{RELS}" xmlns:mc="{MC}" xmlns:m="{M}"'


def relationships(*items: tuple[str, str, str]) -> str:
    rows = "".join(
        f'<Relationship Id="{one}" Type="{RELS}/{role}" Target="{target}"/>'
        for one, role, target in items
    )
    return f'<Relationships xmlns="{PACKAGE}">{rows}</Relationships>'


def deck(*slides: str, attributes: str = "", spaces: str = SPACES, **more: str | bytes) -> bytes:
    """A presentation; `attributes` go on the last slide, `more` are further parts."""
    listed = "".join(f'<p:sldId id="{256 + at}" r:id="s{at}"/>' for at in range(len(slides)))
    files: dict[str, str | bytes] = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": relationships(("r1", "officeDocument", "ppt/presentation.xml")),
        "ppt/presentation.xml": f"<p:presentation {spaces}><p:sldIdLst>{listed}</p:sldIdLst>"
        "</p:presentation>",
        "ppt/_rels/presentation.xml.rels": relationships(
            *((f"s{at}", "slide", f"slides/slide{at}.xml") for at in range(len(slides))),
            ("au", "commentAuthors", "commentAuthors.xml"),
        ),
    }
    for at, shapes in enumerate(slides):
        own = attributes if at == len(slides) - 1 else ""
        files[f"ppt/slides/slide{at}.xml"] = (
            f"<p:sld {spaces} {own}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"
        )
    files.update(more)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def paragraph(text: str, properties: str = "") -> str:
    return f"<a:p>{properties}<a:r><a:t>{text}</a:t></a:r></a:p>"


def frame(x: int, y: int, width: int = 100, height: int = 20) -> str:
    return f'<a:xfrm><a:off x="{x}" y="{y}"/><a:ext cx="{width}" cy="{height}"/></a:xfrm>'


def box(body: str, at: str = "", placeholder: str = "", described: str = "") -> str:
    body = body if body.startswith("<") or not body else paragraph(body)
    mark = f"<p:ph {placeholder}/>" if placeholder else ""
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="1" name="x" descr="{described}"/><p:cNvSpPr/>'
        f"<p:nvPr>{mark}</p:nvPr></p:nvSpPr><p:spPr>{at}</p:spPr>"
        f"<p:txBody><a:bodyPr/>{body}</p:txBody></p:sp>"
    )


def group(inner: str, at: str) -> str:
    return f"<p:grpSp><p:nvGrpSpPr/><p:grpSpPr>{at}</p:grpSpPr>{inner}</p:grpSp>"


def graphic(inner: str, at: str = "") -> str:
    at = at.replace("a:xfrm", "p:xfrm")
    return (
        f"<p:graphicFrame><p:nvGraphicFramePr/>{at}<a:graphic><a:graphicData>{inner}"
        "</a:graphicData></a:graphic></p:graphicFrame>"
    )


def texts(read: Reading, data: bytes) -> list[str]:
    return [one.text for one in read("a.pptx", data).sections]


def test_titles_are_headings_and_everything_says_its_slide(read: Reading) -> None:
    first = box("본문") + box("제목", placeholder='type="ctrTitle"')
    second = box("Next", placeholder='type="title"') + box("more")
    got = read("a.pptx", deck(first, second))
    assert got.info.title == "제목"
    assert [(one.text, one.heading_path, one.place.slide) for one in got.sections] == [
        ("# 제목", ("제목",), 1),
        ("본문", ("제목",), 1),
        ("# Next", ("Next",), 2),
        ("more", ("Next",), 2),
    ]


def test_strict_files_are_read_like_transitional_ones(read: Reading) -> None:
    strict = SPACES.replace(P, STRICT)
    assert texts(read, deck(box("x"), spaces=strict)) == ["x"]


def test_hidden_slides_are_read_and_flagged(read: Reading) -> None:
    shapes = box("비밀", placeholder='type="title"') + box("내용")
    got = read("a.pptx", deck(box("open"), shapes, attributes='show="0"'))
    assert [one.meta.get("hidden") for one in got.sections] == [None, True, True]
    assert got.sections[1].text == "# 비밀 (hidden slide)"
    assert got.sections[1].heading_path == ("비밀",)


def test_text_is_read_from_top_to_bottom_whatever_its_order_in_the_file(read: Reading) -> None:
    shapes = box("c", frame(0, 200)) + box("b", frame(200, 100)) + box("a", frame(0, 100))
    assert texts(read, deck(shapes)) == ["a", "b", "c"]


def test_nested_groups_are_read_in_their_own_order(read: Reading) -> None:
    inner = group(box("3", frame(0, 900)) + box("2", frame(0, 800)), frame(0, 50))
    outer = group(inner + box("1", frame(0, 0)), frame(0, 300))
    assert texts(read, deck(outer + box("0", frame(0, 0)))) == ["0", "1", "2", "3"]


def test_too_deep_groups_are_corrupt_or_cut_not_a_crash(tmp_path: Path) -> None:
    deep = box("x")
    for _ in range(200):
        deep = group(deep, "")
    assert outcome(tmp_path, deck(deep + box("seen")))[1] in (None, Reason.CORRUPT)


def test_lists_carry_marks_numbers_and_levels(read: Reading) -> None:
    number = '<a:pPr><a:buAutoNum type="arabicPeriod" startAt="3"/></a:pPr>'
    dot = '<a:buChar char="•"/>'
    body = (
        paragraph("머리", "<a:pPr><a:buNone/></a:pPr>")
        + paragraph("하나", number)
        + paragraph("둘", number)
        + paragraph("점", f'<a:pPr lvl="1">{dot}</a:pPr>')
    )
    got = read("a.pptx", deck(box(body)))
    assert got.sections[0].kind is SectionKind.LIST
    assert got.sections[0].text == "머리\n3. 하나\n4. 둘\n  - 점"


def test_places_and_bullets_of_placeholders_come_from_the_layout(read: Reading) -> None:
    listed = '<a:lstStyle><a:lvl1pPr><a:buChar char="•"/></a:lvl1pPr></a:lstStyle>'
    layout = (
        f"<p:sldLayout {SPACES}><p:cSld><p:spTree>"
        + box(listed, frame(0, 10), 'type="body" idx="1"')
        + "</p:spTree></p:cSld></p:sldLayout>"
    )
    shapes = box("below", frame(0, 500))
    shapes += box(paragraph("a") + paragraph("b"), placeholder='idx="1"')
    parts = {
        "ppt/slides/_rels/slide0.xml.rels": relationships(
            ("l", "slideLayout", "../slideLayouts/l.xml")
        ),
        "ppt/slideLayouts/l.xml": layout,
    }
    assert texts(read, deck(shapes, **parts)) == ["- a\n- b", "below"]


def test_slide_numbers_and_dates_stay_out_and_a_footer_comes_once(read: Reading) -> None:
    number = '<a:p><a:fld type="slidenum"><a:t>7</a:t></a:fld></a:p>'
    shapes = (
        box(number, placeholder='type="sldNum"')
        + box("2024-01-01", placeholder='type="dt"')
        + box("대외비", placeholder='type="ftr"')
        + box(f"{paragraph('text')}{number}")
    )
    assert texts(read, deck(shapes, shapes)) == ["대외비", "text", "text"]


def test_tables_keep_their_grid_and_repeat_what_is_merged_down(read: Reading) -> None:
    def cell(text: str, merged: str = "") -> str:
        merged += '"1"' if merged else ""
        return f"<a:tc {merged}><a:txBody>{paragraph(text)}</a:txBody></a:tc>"

    table = (
        "<a:tbl>"
        f"<a:tr>{cell('구분', 'gridSpan=')}{cell('', 'hMerge=')}{cell('값|x')}</a:tr>"
        f"<a:tr>{cell('A', 'rowSpan=')}{cell('1')}{cell('2')}</a:tr>"
        f"<a:tr>{cell('', 'vMerge=')}{cell('3')}{cell('4')}</a:tr></a:tbl>"
    )
    got = read("a.pptx", deck(graphic(table)))
    assert got.sections[0].kind is SectionKind.TABLE
    assert got.sections[0].text == (
        "| 구분 |  | 값\\|x |\n| --- | --- | --- |\n| A | 1 | 2 |\n| A | 3 | 4 |"
    )


def test_charts_give_title_axes_and_data_in_their_format(read: Reading) -> None:
    def cache(kind: str, values: list[str], code: str = "") -> str:
        points = "".join(
            f'<c:pt idx="{at}"><c:v>{one}</c:v></c:pt>' for at, one in enumerate(values)
        )
        return f"<c:{kind}>{code}{points}</c:{kind}>"

    def title(text: str) -> str:
        return f"<c:title><c:tx><c:rich>{paragraph(text)}</c:rich></c:tx></c:title>"

    percent = "<c:formatCode>0.0%</c:formatCode>"
    series = (
        f"<c:ser><c:tx><c:strRef>{cache('strCache', ['비율'])}</c:strRef></c:tx>"
        f"<c:cat><c:strRef>{cache('strCache', ['서울', '부산'])}</c:strRef></c:cat>"
        f"<c:val><c:numRef>{cache('numCache', ['0.25', '0.5'], percent)}</c:numRef></c:val></c:ser>"
    )
    chart = (
        f'<c:chartSpace xmlns:c="{C}" xmlns:a="{A}"><c:chart>{title("인구")}<c:plotArea>'
        f"<c:bar3DChart>{series}</c:bar3DChart><c:valAx>{title('백분율')}</c:valAx>"
        "</c:plotArea></c:chart></c:chartSpace>"
    )
    parts = {
        "ppt/slides/_rels/slide0.xml.rels": relationships(("c", "chart", "../charts/c.xml")),
        "ppt/charts/c.xml": chart,
    }
    shape = graphic(f'<c:chart xmlns:c="{C}" r:id="c"/>')
    assert texts(read, deck(shape, **parts)) == [
        "Bar chart: 인구 (백분율)",
        "|  | 비율 |\n| --- | --- |\n| 서울 | 25.0% |\n| 부산 | 50.0% |",
    ]


def test_smart_art_is_a_nested_list(read: Reading) -> None:
    def point(own: str, text: str, kind: str = "node") -> str:
        return f'<d:pt modelId="{own}" type="{kind}"><d:t>{paragraph(text)}</d:t></d:pt>'

    def link(above: str, below: str, order: int) -> str:
        return f'<d:cxn srcId="{above}" destId="{below}" srcOrd="{order}"/>'

    data = (
        f'<d:dataModel xmlns:d="{DGM}" xmlns:a="{A}"><d:ptLst><d:pt modelId="0" type="doc"/>'
        + point("2", "둘") + point("1", "하나") + point("3", "아래") + point("9", "x", "pres")
        + f"</d:ptLst><d:cxnLst>{link('0', '2', 1)}{link('0', '1', 0)}{link('1', '3', 0)}"
        + link("3", "1", 0) + "</d:cxnLst></d:dataModel>"
    )  # fmt: skip
    parts = {
        "ppt/slides/_rels/slide0.xml.rels": relationships(("d", "diagramData", "../d.xml")),
        "ppt/d.xml": data,
    }
    shape = graphic(f'<d:relIds xmlns:d="{DGM}" r:dm="d"/>')
    assert texts(read, deck(shape, **parts)) == ["- 하나\n  - 아래\n- 둘"]


def test_alternative_texts_that_a_person_wrote_are_kept(read: Reading) -> None:
    def picture(described: str) -> str:
        named = f'<p:cNvPr id="1" name="Picture 1" descr="{described}"/>'
        return f"<p:pic><p:nvPicPr>{named}<p:nvPr/></p:nvPicPr></p:pic>"

    written = "조직도&#10;&#10;Description automatically generated"
    shapes = picture(written) + picture("IMG_001.png") + picture("그림 3") + picture("")
    assert texts(read, deck(shapes)) == ["[image: 조직도]"]


def test_notes_and_comments_follow_their_slide(read: Reading) -> None:
    notes = (
        f"<p:notes {SPACES}><p:cSld><p:spTree>"
        + box("말할 것", placeholder='type="body" idx="1"')
        + box('<a:p><a:fld type="slidenum"><a:t>1</a:t></a:fld></a:p>', "", 'type="sldNum"')
        + box("머리글", placeholder='type="hdr"')
        + "</p:spTree></p:cSld></p:notes>"
    )
    comments = (
        f'<p:cmLst {SPACES}><p:cm authorId="0" dt="2026-01-02T03:04:05.678">'
        "<p:text>확인</p:text></p:cm></p:cmLst>"
    )
    threads = (
        f'<q:cmLst xmlns:q="urn:q" {SPACES}><q:cm authorId="0" created="2026-02-03T04:05:06Z">'
        f"<q:replyLst><q:reply><q:txBody>{paragraph('답')}</q:txBody></q:reply></q:replyLst>"
        f"<q:txBody>{paragraph('물음')}</q:txBody></q:cm></q:cmLst>"
    )
    parts = {
        "ppt/slides/_rels/slide0.xml.rels": relationships(
            ("n", "notesSlide", "../n.xml"),
            ("c", "comments", "../c.xml"),
            ("t", "comments", "../t.xml"),
        ),
        "ppt/n.xml": notes,
        "ppt/c.xml": comments,
        "ppt/t.xml": threads,
        "ppt/commentAuthors.xml": f'<p:cmAuthorLst {SPACES}><p:cmAuthor id="0" name="Kim" '
        'initials="K"/></p:cmAuthorLst>',
    }
    got = read("a.pptx", deck(box("slide"), **parts)).sections
    assert [(one.kind, one.text) for one in got[1:]] == [
        (SectionKind.NOTE, "말할 것"),
        (SectionKind.COMMENT, "Comment (author: Kim (K), time: 2026-01-02T03:04:05): 확인"),
        (SectionKind.COMMENT, "Comment (author: Kim (K), time: 2026-02-03T04:05:06): 물음"),
        (SectionKind.COMMENT, "Comment: 답"),
    ]


def test_equations_are_latex_and_come_once(read: Reading) -> None:
    fraction = (
        "<m:oMathPara><m:oMath><m:f><m:num><m:r><m:t>1</m:t></m:r></m:num>"
        "<m:den><m:r><m:t>2</m:t></m:r></m:den></m:f></m:oMath></m:oMathPara>"
    )
    math = f'<a14:m xmlns:a14="urn:a14">{fraction}</a14:m>'
    both = (
        f"<mc:AlternateContent><mc:Choice Requires='a14'>{box(f'<a:p>{math}</a:p>')}</mc:Choice>"
        f"<mc:Fallback>{box('1/2')}</mc:Fallback></mc:AlternateContent>"
    )
    assert texts(read, deck(both)) == ["[math: \\frac{1}{2}]"]


def test_equations_of_a_real_file_are_read(read: Reading, handed: Path) -> None:
    text = read("a.pptx", (handed / "pptx" / "poi__stress013.pptx").read_bytes()).text
    assert text.count("[math: \\sqrt{x+1}-\\sqrt{x}]") == 3


def outcome(folder: Path, data: bytes) -> tuple[list[str], Reason | None]:
    """The texts up to the end or the failure, and its reason."""
    path = folder / "a.pptx"
    path.write_bytes(data)
    found: list[str] = []
    try:
        events = FORMAT.parse(Input(path, path.name, Limits()))
        found.extend(one.text for one in events if isinstance(one, Section))
    except ExtractionFailed as error:
        return found, error.reason
    return found, None


def test_a_broken_slide_is_told_after_the_others(tmp_path: Path) -> None:
    parts = {"ppt/slides/slide1.xml": "<p:sld", "ppt/slides/slide2.xml": ""}
    found, reason = outcome(tmp_path, deck(box("1"), box("2"), box("3"), box("4"), **parts))
    assert found == ["1", "4"]
    assert reason is Reason.CORRUPT


def test_files_cut_or_damaged_anywhere_are_told_or_read(tmp_path: Path, handed: Path) -> None:
    data = (handed / "pptx" / "tika__testPPT_groups.pptx").read_bytes()
    chance = random.Random(11)
    for _ in range(40):
        harmed = bytearray(data)
        for _ in range(chance.randrange(1, 6)):
            harmed[chance.randrange(len(harmed))] = chance.randrange(256)
        cut = chance.choice([len(harmed), chance.randrange(100, len(harmed))])
        reason = outcome(tmp_path, bytes(harmed[:cut]))[1]
        assert reason in (None, Reason.CORRUPT, Reason.ENCRYPTED, Reason.TOO_LARGE)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("markitdown__test.pptx", ["2cdda5c8-e50e-4db4-b5f0-9722a649f455",
                                   "04191ea8-5c73-4215-a1d3-1cfb43aaaf12",
                                   "chart: a3f6004b-6f4f-4ea8-bee3-3741f4dc385f", "| 2003 |",
                                   "[image: This phrase of the caption is Human-written.]"]),
        ("langchainkr__sample-ppt.pptx", ["의미를 파악"]),
        ("tika__testPPT_groups.pptx", ["- smart1\n- smart2", "WordArt1"]),
        ("tika__testPPT_various2.pptx", ["NotesForSlide2", "SLIDE3ChartTitle", "CommentSlide3"]),
        ("pythonpptx__sld-notes.pptx", ["Notes"]),
        ("docling__powerpoint_malformed_pictures.pptx", ["Slide With Dangling Rel"]),
        ("unstructured__fake-power-point-malformed.pptx", ["# Test Slide"]),
        ("tika__testPPT_macros.pptm", ["# The quick"]),
    ],
)  # fmt: skip
def test_known_words_of_real_files_are_found(
    read: Reading, handed: Path, name: str, words: list[str]
) -> None:
    text = read(name, (handed / "pptx" / name).read_bytes()).text
    assert not [one for one in words if one not in text], text
