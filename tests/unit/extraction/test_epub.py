"""EPUB: reading order, names of chapters, protection, and broken books."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from seoga.errors import ExtractionFailed, Reason
from seoga.models import SectionKind

Reading = Callable[..., Any]

CONTAINER = '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
OPF = """<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>책</dc:title>
<dc:creator>지은이</dc:creator></metadata><manifest>
<item id="b" href="b%20c.xhtml" media-type="application/xhtml+xml"/>
<item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>
<item id="n" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="i" href="a.png" media-type="image/png"/></manifest>
<spine><itemref idref="n"/><itemref idref="b"/><itemref idref="a"/><itemref idref="i"/>
<itemref idref="gone"/></spine></package>"""
PARTS = {
    "mimetype": "application/epub+zip",
    "META-INF/container.xml": CONTAINER,
    "OEBPS/book.opf": OPF,
    "OEBPS/a.xhtml": "<html><body><h1>둘째</h1><p>끝</p></body></html>",
    "OEBPS/b c.xhtml": "<html><body><p>시작</p><h2>속</h2><p>더</p></body></html>",
    "OEBPS/nav.xhtml": '<nav><a href="b%20c.xhtml#x">첫째</a><a href="a.xhtml">다른 이름</a></nav>',
}


def epub(parts: Mapping[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in {**PARTS, **parts}.items():
            archive.writestr(name, content)
    return out.getvalue()


def test_chapters_come_in_the_order_of_the_spine_with_their_names(read: Reading) -> None:
    got = read("a.epub", epub({}))
    note = "Of its order of reading, what is image/png is not read (1)."
    meta = {"author": "지은이", "note": note}
    assert (got.info.format, got.info.title, got.info.meta) == ("epub", "책", meta)
    assert [one.text for one in got.sections] == [
        "# 첫째", "시작", "### 속", "더", "# 둘째", "끝",
    ]  # fmt: skip
    assert got.sections[3].heading_path == ("첫째", "속")
    assert got.sections[-1].heading_path == ("둘째",)


def test_a_chapter_that_is_a_drawing_gives_its_words(read: Reading) -> None:
    drawing = """<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><title>표지</title>
    <text x="1">그림 속 글</text></svg>"""
    opf = OPF.replace(
        'href="a.png" media-type="image/png"', 'href="a.svg" media-type="image/svg+xml"'
    )
    got = read("a.epub", epub({"OEBPS/book.opf": opf, "OEBPS/a.svg": drawing}))
    assert got.sections[-1].text == "그림 속 글"
    assert "note" not in got.info.meta


def test_a_book_is_known_by_its_content(read: Reading) -> None:
    assert read("book.zip", epub({})).info.format == "epub"


def test_a_protected_book_is_told_and_scrambled_fonts_are_not(read: Reading) -> None:
    def rights(method: str) -> dict[str, str]:
        method = f'<EncryptionMethod Algorithm="{method}"/>'
        return {"META-INF/encryption.xml": f"<x><EncryptedData>{method}</EncryptedData></x>"}

    assert read("a.epub", epub(rights("http://www.idpf.org/2008/embedding"))).sections
    with pytest.raises(ExtractionFailed) as failed:
        read("a.epub", epub(rights("http://www.w3.org/2001/04/xmlenc#aes128-cbc")))
    assert failed.value.reason is Reason.ENCRYPTED


@pytest.mark.parametrize(
    "parts",
    [
        {"META-INF/container.xml": "<container/>"},
        {"META-INF/container.xml": '<c><rootfile full-path="../../etc/passwd"/></c>'},
        {"OEBPS/book.opf": "<package>"},
    ],
)
def test_a_book_without_its_package_document_is_corrupt(
    read: Reading, parts: dict[str, str]
) -> None:
    with pytest.raises(ExtractionFailed) as failed:
        read("a.epub", epub(parts))
    assert failed.value.reason is Reason.CORRUPT


def test_a_broken_table_of_contents_costs_the_names_only(read: Reading) -> None:
    got = read("a.epub", epub({"OEBPS/nav.xhtml": "<nav><a"}))
    assert [one.text for one in got.sections][:2] == ["시작", "## 속"]


def test_what_a_chapter_says_of_itself_stands_before_it(read: Reading) -> None:
    broken = "<html><body><p>시작합니다\udcff</p></body></html>"
    parts = {"OEBPS/b c.xhtml": broken.encode("utf-8", "surrogateescape")}
    got = read("a.epub", epub(parts))
    assert [one.text for one in got.of(SectionKind.NOTE)] == [
        "OEBPS/b c.xhtml: 1 byte is not utf-8, the first in line 1: "
        "each such place reads as \ufffd."
    ]
