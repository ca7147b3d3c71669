"""One bad part costs itself: a chapter, a cell, a header; and what it says is true."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from seoga.errors import ExtractionFailed, Reason
from seoga.models import SectionKind
from seoga_extraction.ocr import tesseract

from .drawn import opened

Events = Callable[[str, bytes], tuple[str, ExtractionFailed | None]]
Reader = Callable[..., Any]


def zipped(members: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def book(hrefs: dict[str, str], order: list[str]) -> bytes:
    kind = "application/xhtml+xml"
    items = "".join(
        f'<item id="{one}" href="{href}" media-type="{kind}"/>' for one, href in hrefs.items()
    )
    spine = "".join(f'<itemref idref="{one}"/>' for one in order)
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": "<container><rootfiles><rootfile full-path='b.opf'/>"
            "</rootfiles></container>",
            "b.opf": f"<package><manifest>{items}</manifest><spine>{spine}</spine></package>",
            "a.xhtml": "<html><body><p>first chapter</p></body></html>",
            "c.xhtml": "<html><body><p>third chapter</p></body></html>",
        }
    )


@pytest.mark.parametrize(
    ("href", "named"),
    [
        ("gone.xhtml", "gone.xhtml"),
        ("../../etc/passwd", "etc/passwd"),
        ("b.opf#x", "b.opf"),
    ],
)
def test_a_missing_chapter_is_named_after_the_others_were_read(
    events: Events, href: str, named: str
) -> None:
    hrefs = {"a": "a.xhtml", "b": href, "c": "c.xhtml"}
    text, error = events("a.epub", book(hrefs, ["a", "b", "c"]))
    assert "first chapter" in text
    assert "third chapter" in text
    assert error is not None
    assert error.reason is Reason.CORRUPT
    assert named in error.message


def test_a_book_without_an_order_of_reading_is_corrupt(events: Events) -> None:
    _, error = events("a.epub", book({"a": "a.xhtml"}, []))
    assert error is not None
    assert error.reason is Reason.CORRUPT
    assert events("a.epub", book({"a": "a.xhtml"}, ["a"]))[1] is None


X = "http://schemas.openxmlformats.org"
BAD_CELLS = (
    '<c r="ZZZZZZZZ1" t="str"><v>far away</v></c><c r="B1"><v>NaN</v></c>'
    '<c r="C1"><v>Infinity</v></c><c r="D1" s="99999"><v>1</v></c><c r="1A" t="str"><v>back</v></c>'
    '<c r="F1" t="s"><v>99999999999999999999</v></c><c r="G1" t="d"><v>99999-99-99</v></c>'
)


def test_a_bad_cell_costs_itself(read: Reader) -> None:
    rows = f'<row r="1">{BAD_CELLS}</row><row r="2"><c r="A2" t="str"><v>needle</v></c></row>'
    relation = f"{X}/officeDocument/2006/relationships"
    sheet = f'<sheet name="s" sheetId="1" xmlns:r="{relation}" r:id="r1"/>'
    main = f"{X}/spreadsheetml/2006/main"
    got = read(
        "a.xlsx",
        zipped(
            {
                "xl/workbook.xml": f'<workbook xmlns="{main}"><sheets>{sheet}</sheets></workbook>',
                "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{X}/package/2006/'
                f'relationships"><Relationship Id="r1" Type="{relation}/worksheet" '
                'Target="sheet.xml"/></Relationships>',
                "xl/sheet.xml": f'<worksheet xmlns="{main}"><sheetData>{rows}</sheetData>'
                "</worksheet>",
            }
        ),
    )
    for text in ("far away", "NaN", "Infinity", "back", "99999-99-99", "needle"):
        assert text in got.text


@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"])
def test_a_byte_order_mark_alone_is_an_empty_text(read: Reader, mark: bytes) -> None:
    got = read("a.txt", mark)
    assert got.info.format == "text"
    assert not got.sections


def test_a_compound_file_with_impossible_sectors_is_corrupt(events: Events) -> None:
    head = bytearray(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2040))
    head[26:34] = b"\x03\x00\xfe\xff\x1f\x00\x06\x00"
    _, error = events("a.hwp", bytes(head))
    assert error is not None
    assert error.reason is Reason.CORRUPT
    assert "impossible sizes" in error.message


def test_remarks_on_a_page_are_comments(read: Reader) -> None:
    document = opened()
    page = document.new_page()
    page.insert_text((72, 72), "text of the page")
    note = page.add_text_annot((200, 200), "a sticky note")
    note.set_info(title="Kim")
    marked = page.add_highlight_annot((72, 60, 200, 80))
    marked.set_info(content="said on the mark")
    page.add_underline_annot((72, 60, 200, 80))
    comments = read("a.pdf", bytes(document.tobytes())).of(SectionKind.COMMENT)
    assert len(comments) == 2
    assert "Kim" in comments[0].text
    assert comments[0].text.endswith("a sticky note")
    assert comments[1].text.endswith("said on the mark")
    assert {one.place.page for one in comments} == {1}


def test_a_language_that_is_not_there_names_the_setting() -> None:
    with pytest.raises(ExtractionFailed) as caught:
        tesseract.check("klingon")
    if "klingon" in caught.value.message:
        assert "SEOGA_OCR_LANGUAGE" in caught.value.hint


def test_binary_data_longer_than_the_file_is_told(events: Events) -> None:
    text, error = events("a.rtf", rb"{\rtf1 before{\bin2147483647 x}behind}")
    assert text == "before"
    assert error is not None
    assert error.reason is Reason.CORRUPT
    assert events("a.rtf", rb"{\rtf1 before {\bin1 x}behind}") == ("before behind", None)


def test_a_large_transparent_image_is_refused_by_its_kind(events: Events) -> None:
    import struct
    import zlib

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 9000, 9000, 16, 6, 0, 0, 0))
    rows = chunk(b"IDAT", zlib.compress(bytes(1000)))
    _, error = events("a.png", b"\x89PNG\r\n\x1a\n" + head + rows + chunk(b"IEND", b""))
    assert error is not None
    assert error.reason is Reason.TOO_LARGE
    assert "transparent" in error.message
