"""What a limit cuts off is told at the end of the file: what it was and how many there are."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pymupdf
import pytest

from seoga.errors import ExtractionFailed, Reason
from seoga_extraction.format import Input
from seoga_extraction.formats.eml import parts
from seoga_extraction.formats.pdf import bookmarks, remarks, stream
from seoga_extraction.formats.xlsx import extras, rows, sheet, strings, workbook
from seoga_extraction.limits import Limits
from seoga_extraction.ooxml import charts, drawing

from . import test_pptx as pptx
from . import test_xlsx as xlsx

Ending = Callable[[str, bytes], tuple[str, ExtractionFailed | None]]
Few = Callable[[object, str, int], None]


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> Few:
    """Sets the limit of a module, so that files stay small."""

    def limit(module: object, name: str, value: int) -> None:
        monkeypatch.setattr(module, name, value)

    return limit


def told(ending: tuple[str, ExtractionFailed | None]) -> tuple[str, str]:
    """The text, and what is said of what is missing."""
    text, failure = ending
    assert failure is not None
    assert failure.reason is Reason.TOO_LARGE
    return text, failure.message


def test_remarks_on_a_page_of_a_pdf(events: Ending, few: Few) -> None:
    few(remarks, "MOST", 3)
    document = pymupdf.open()
    for number in range(2):
        page = document.new_page()
        page.insert_text((72, 72), "typed")
        page.add_freetext_annot((72, 300, 200, 320), "drawn on the page")
        for note in range(3 + 2 * number):
            page.add_text_annot((72, 100 + 20 * note), f"note {note} of page {number + 1}")
    text, message = told(events("a.pdf", bytes(document.tobytes())))
    assert text.count("note ") == 6
    assert message == "Of 5 remarks on page 2, 3 are read."


def test_entries_of_the_outline_of_a_pdf(events: Ending, few: Few) -> None:
    few(bookmarks, "MOST_ENTRIES", 2)
    few(stream, "MOST_ENTRIES", 2)
    document = pymupdf.open()
    page = document.new_page()
    for number in range(4):
        page.insert_text((72, 72 + 40 * number), f"Chapter {number}")
    document.set_toc([[1, f"Chapter {number}", 1] for number in range(4)])
    text, message = told(events("a.pdf", bytes(document.tobytes())))
    assert "Chapter 3" in text
    assert message == "Of 4 entries of the outline, 2 are used."


def mail(inner: str) -> bytes:
    return f"From: a@b.kr\nTo: c@d.kr\nSubject: many\nMIME-Version: 1.0\n{inner}".encode()


def mixed(boundary: str, *inner: str) -> str:
    held = "".join(f"--{boundary}\n{one}\n" for one in inner)
    return f'Content-Type: multipart/mixed; boundary="{boundary}"\n\n{held}--{boundary}--\n'


def plain(text: str) -> str:
    return f"Content-Type: text/plain\n\n{text}\n"


def test_parts_of_a_mail_that_are_too_many_or_too_deep(events: Ending, few: Few) -> None:
    few(parts, "MAX_PARTS", 3)
    few(parts, "MAX_DEPTH", 2)
    deep = mixed("one", mixed("two", mixed("three", plain("deep A"), plain("deep B"))))
    text, message = told(events("a.eml", mail(deep)))
    assert "deep" not in text
    assert message == ("Parts of the message beyond 3 side by side or 2 deep are not read: 2.")
    wide = mixed("one", *(plain(f"part {number}") for number in range(5)))
    text, message = told(events("a.eml", mail(wide)))
    assert [f"part {number}" in text for number in range(5)] == [True, True, True, False, False]
    assert message.endswith("are not read: 2.")


CHART = (
    f'<c:chartSpace xmlns:c="{pptx.C}"><c:chart><c:plotArea><c:barChart><c:ser><c:val><c:numLit>'
    + "".join(f'<c:pt idx="{at}"><c:v>{at}</c:v></c:pt>' for at in range(4))
    + "</c:numLit></c:val></c:ser></c:barChart></c:plotArea></c:chart></c:chartSpace>"
)


def with_values(data: bytes) -> bytes:
    """The sheet of a workbook with nothing but a chart, as such and with values of its own."""
    kinds = (b'worksheet" Target="worksheets/sheet2', b'chartsheet" Target="worksheets/sheet2')
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as given, zipfile.ZipFile(out, "w") as made:
        for name in given.namelist():
            content = CHART.encode() if "charts/chart" in name else given.read(name)
            made.writestr(name, content.replace(*kinds))
    return out.getvalue()


@pytest.mark.parametrize(
    "path",
    [
        "docx/tika__testWORD_2006ml.docx",
        "pptx/markitdown__test.pptx",
        "xlsx/docling__xlsx_03_chartsheet.xlsx",
    ],
)
def test_points_and_series_of_a_chart(events: Ending, few: Few, handed: Path, path: str) -> None:
    data = (handed / path).read_bytes()
    data = with_values(data) if path.startswith("xlsx") else data
    assert events(path, data)[1] is None
    few(charts, "MAX_POINTS", 2)
    few(charts, "MAX_SERIES", 1)
    _, message = told(events(path, data))
    assert "points of a chart, 2 are read." in message


def test_comments_links_and_long_texts_of_a_sheet(events: Ending, few: Few) -> None:
    few(extras, "MAX_COMMENTS", 1)
    few(sheet, "MAX_LINKS", 1)
    for module in (rows, strings, workbook):
        few(module, "MAX_CELL_CHARS", 10)
    comment = '<comment ref="{}" authorId="0"><text><t>said</t></text></comment>'
    listed = "".join(comment.format(ref) for ref in ("A1", "B1"))
    said = f'<comments xmlns="{xlsx.MAIN}"><commentList>{listed}</commentList></comments>'
    tail = '<hyperlinks><hyperlink ref="A1" r:id="h"/><hyperlink ref="B1" r:id="h"/></hyperlinks>'
    relations = xlsx.relationships(
        ("h", "hyperlink", "https://example.org/"), ("c", "comments", "../comments1.xml")
    )
    shared = f'<sst xmlns="{xlsx.MAIN}"><si><t>shared and long</t></si><si><t>short</t></si></sst>'
    cells = '<row r="1"><c r="A1" t="inlineStr"><is><t>inline and long</t></is></c>'
    cells += '<c r="B1" t="s"><v>0</v></c></row>'
    data = xlsx.workbook(
        cells,
        tail=tail,
        **{
            "xl/comments1.xml": said,
            "xl/worksheets/_rels/sheet0.xml.rels": relations,
            "xl/sharedStrings.xml": shared,
        },
    )
    text, message = told(events("a.xlsx", data))
    assert text.count("said") == 1
    assert text.count("example.org") == 1
    assert "long" not in text
    assert "Of 2 links on a sheet, 1 are read." in message
    assert message.count("1 text of a cell is longer than 10 characters") == 2
    assert message.endswith("So it is in 1 more places.")


def test_comments_on_a_slide(events: Ending, few: Few) -> None:
    few(import_module("seoga_extraction.formats.pptx.remarks"), "MAX_COMMENTS", 2)
    one = '<p:cm authorId="0"><p:text>said</p:text></p:cm>'
    data = pptx.deck(
        pptx.box("slide"),
        **{
            "ppt/slides/_rels/slide0.xml.rels": pptx.relationships(("c", "comments", "../c.xml")),
            "ppt/c.xml": f"<p:cmLst {pptx.SPACES}>{one * 5}</p:cmLst>",
        },
    )
    text, message = told(events("a.pptx", data))
    assert text.count("said") == 2
    assert message == "Of 5 comments on a slide, 2 are read."


def test_a_file_says_three_of_its_cuts_and_how_many_more_there_are(tmp_path: Path) -> None:
    source = Input(tmp_path / "a", "a", Limits())
    source.tell_cuts()
    for number in range(5):
        source.cut(f"Cut {number}.")
    with pytest.raises(ExtractionFailed, match=r"^Cut 0. Cut 1. Cut 2. So it is in 2 more places."):
        source.tell_cuts()


def test_long_alternative_texts_are_whole() -> None:
    long = "A map of Seoul with all its rivers. " * 300
    said = drawing.alternative(
        shape(f"{long}Description automatically generated with high confidence")
    )
    assert said == long.strip()


def shape(description: str) -> object:
    from lxml import etree

    root = etree.Element("shape")
    etree.SubElement(root, "docPr", descr=description)
    return root
