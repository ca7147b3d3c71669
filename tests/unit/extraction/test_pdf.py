"""PDF: reading order, paragraphs, and what is said of pages without text."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from seoga.errors import ExtractionFailed, Reason
from seoga.models import Place, Section
from seoga_extraction.engine import ExtractionEngine
from seoga_extraction.formats.pdf.overprint import once
from seoga_extraction.formats.pdf.tables import Word
from seoga_extraction.layout import Line, compounds, paragraphs, regions, turned

Reading = Callable[..., Any]


def column(x: float, lines: list[str], y: float = 100, width: float = 200) -> list[Line]:
    return [
        Line(x, y + 12 * row, x + width, y + 12 * row + 10, text) for row, text in enumerate(lines)
    ]


def texts(lines: list[Line]) -> list[str]:
    return [line.text for region in regions(lines) for line in region]


LEFT = [f"left line {n} of the first column here" for n in range(8)]
RIGHT = [f"right line {n} of the second column" for n in range(8)]


def test_two_columns_are_read_one_after_the_other() -> None:
    assert texts(column(50, LEFT) + column(300, RIGHT)) == LEFT + RIGHT


def test_columns_written_row_by_row_are_still_read_as_columns() -> None:
    rows = zip(column(50, LEFT), column(300, RIGHT), strict=True)
    assert texts([line for row in rows for line in row]) == LEFT + RIGHT


def test_a_title_across_comes_before_both_columns() -> None:
    title = Line(60, 60, 480, 80, "A title across the page")
    lines = [*column(50, LEFT), *column(300, RIGHT), title]
    assert texts(lines) == ["A title across the page", *LEFT, *RIGHT]


def test_cells_of_a_table_stay_in_their_rows() -> None:
    rows = [
        [Line(50, 100 + 12 * n, 90, 110 + 12 * n, f"k{n}"),
         Line(300, 100 + 12 * n, 340, 110 + 12 * n, f"v{n}")]
        for n in range(6)
    ]  # fmt: skip
    (region,) = regions([cell for row in rows for cell in row])
    assert paragraphs(region) == ["\n".join(f"k{n}  v{n}" for n in range(6))]


def test_lines_of_a_paragraph_are_joined_and_divided_words_made_whole() -> None:
    lines = column(50, ["The exam-", "ple is a well-", "known one, a well-known", "thing."])
    assert paragraphs(lines, compounds(lines)) == [
        "The example is a well-known one, a well-known thing."
    ]


def test_korean_lines_are_joined_by_a_blank_and_articles_begin_paragraphs() -> None:
    lines = column(50, ["가. 계약자는 보험료를 납입할", "의무를 집니다.", "나. 수익자는 받습니다."])
    assert paragraphs(lines) == [
        "가. 계약자는 보험료를 납입할 의무를 집니다.",
        "나. 수익자는 받습니다.",
    ]


def test_a_page_on_its_side_is_turned() -> None:
    sideways = [
        Line(100 + 12 * n, 50, 110 + 12 * n, 400, f"l{n}", direction=(0.0, -1.0)) for n in range(4)
    ]
    assert texts(turned(sideways)) == ["l0", "l1", "l2", "l3"]


def made(**pages: Any) -> bytes:
    document = pymupdf.open()
    for text in pages["texts"]:
        page = document.new_page()
        if text:
            page.insert_text((72, 72), text)
    data = document.tobytes(**pages.get("save", {}))
    document.close()
    return bytes(data)


def test_pages_are_marked_and_count_from_one(read: Reading) -> None:
    got = read("a.pdf", made(texts=["first page", "", "third page"]))
    assert [(one.text, one.place) for one in got.sections] == [
        ("## Page 1", Place(page=1)),
        ("first page", Place(page=1)),
        ("## Page 2", Place(page=2)),
        ("## Page 3", Place(page=3)),
        ("third page", Place(page=3)),
    ]
    assert got.info.meta["pages"] == 3


def test_blank_pages_are_an_empty_document_not_a_scan(read: Reading) -> None:
    assert not read("a.pdf", made(texts=["", ""])).text.replace("## Page", "").strip("12 \n")


@pytest.mark.parametrize("name", [b"bad\xff\xfe.pdf", "보고서.pdf".encode("cp949")])
def test_a_file_whose_name_is_not_utf_8_is_read(
    engine: ExtractionEngine, tmp_path: Path, name: bytes
) -> None:
    path = tmp_path / os.fsdecode(name)
    try:
        path.write_bytes(made(texts=["behind an old name"]))
    except OSError:
        pytest.skip("file names here are UTF-8")
    got = [one.text for one in engine.extract(path, path.name) if isinstance(one, Section)]
    assert got == ["## Page 1", "behind an old name"]


def test_what_is_protected_by_another_program_is_told_with_its_name(read: Reading) -> None:
    save = {"encryption": pymupdf.PDF_ENCRYPT_AES_256, "user_pw": "u", "owner_pw": "o"}
    data = made(texts=["locked"], save=save)
    assert b"/Filter/Standard" in data
    for handler in (b"Adobe.PubSec", b"FOPN_fweb", b"MarkAny"):
        with pytest.raises(ExtractionFailed, match=handler.decode()) as failed:
            read("a.pdf", data.replace(b"/Filter/Standard", b"/Filter/" + handler))
        assert failed.value.reason is Reason.ENCRYPTED
        assert "without protection" in failed.value.hint
    # The same, kept in an object of its own.
    plain = made(texts=["locked"])
    end = plain.rindex(b"startxref")
    last = plain[end:].split()[1].decode()
    held = (
        f"90 0 obj\n<</Filter/Adobe.PubSec/V 4>>\nendobj\nxref\n90 1\n{len(plain):010} 00000 n \n"
    )
    held += f"trailer\n<</Size 91/Root 1 0 R/Prev {last}/Encrypt 90 0 R/ID[<00><00>]>>\n"
    moved = plain + f"{held}startxref\n{len(plain) + held.index('xref')}\n%%EOF".encode()
    with pytest.raises(ExtractionFailed, match="certificates"):
        read("a.pdf", moved)


@pytest.mark.parametrize("count", [b"0", b"1", b"2000000000", b"-3"])
def test_pages_are_found_where_their_tree_counts_them_wrongly(events: Any, count: bytes) -> None:
    data = made(texts=["first page", "second page"])
    assert data.count(b"/Count 2") == 1
    text, failure = events("a.pdf", data.replace(b"/Count 2", b"/Count " + count))
    assert "first page" in text
    assert "second page" in text
    assert "counts its pages wrongly" in failure.message


def test_a_tree_whose_inner_nodes_count_too_few_loses_no_page_and_keeps_their_numbers(
    events: Any,
) -> None:
    document = pymupdf.open()
    for number in range(9):
        document.new_page().insert_text((72, 72), f"this is page number {number + 1}")
    root = int(document.xref_get_key(document.pdf_catalog(), "Pages")[1].split()[0])
    pages = [document.page_xref(number) for number in range(9)]
    nodes = [document.get_new_xref() for _ in range(3)]
    for number, node in enumerate(nodes):
        kids = pages[3 * number : 3 * number + 3]
        # One of them holds itself and the root: no end.
        more = [node, root] if number == 1 else []
        shown = " ".join(f"{kid} 0 R" for kid in [*kids, *more])
        count = 1 if number == 0 else 3
        node_is = f"<</Type/Pages/Parent {root} 0 R/Count {count}/Kids[{shown}]>>"
        document.update_object(node, node_is)
        for kid in kids:
            document.xref_set_key(kid, "Parent", f"{node} 0 R")
    shown = " ".join(f"{node} 0 R" for node in nodes)
    document.update_object(root, f"<</Type/Pages/Count 7/Kids[{shown}]>>")
    text, failure = events("a.pdf", bytes(document.tobytes()))
    for number in range(1, 10):
        assert f"## Page {number}\n\nthis is page number {number}" in text
    assert "counts its pages wrongly" in failure.message


def test_a_whole_file_with_another_behind_it_is_whole_and_a_cut_one_is_not(events: Any) -> None:
    data = made(texts=["first page", "second page"])
    text, failure = events("a.pdf", data + b"PK\x03\x04" + bytes(range(256)) * 60)
    assert failure is None
    assert "second page" in text
    at = data.rindex(b"endobj", 0, data.rindex(b"endobj"))
    _, failure = events("a.pdf", data[:at])
    assert failure is not None
    assert failure.reason is Reason.CORRUPT


@pytest.mark.parametrize(
    ("user", "reason"), [("", None), ("secret", Reason.ENCRYPTED)], ids=["empty", "secret"]
)
def test_only_a_real_password_keeps_a_file_closed(
    read: Reading, user: str, reason: Reason | None
) -> None:
    save = {"encryption": pymupdf.PDF_ENCRYPT_AES_256, "owner_pw": "owner", "user_pw": user}
    data = made(texts=["hello"], save=save)
    if reason is None:
        assert "hello" in read("a.pdf", data).text
        return
    with pytest.raises(ExtractionFailed) as failed:
        read("a.pdf", data)
    assert failed.value.reason is reason


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("tika__testPDFTwoTextBoxes.pdf", "Left column line 2", "Right column line 1"),
        ("olmocr__multi_column_miss.pdf", "industry’s public relations ambitions", "smokers. "),
        ("unstructured__multi-column-2p.pdf", "Abstract", "Introduction"),
        ("pdf.js__tracemonkey.pdf", "Abstract", "Introduction"),
    ],
)
def test_real_columns_are_read_in_order(
    read: Reading, handed: Path, name: str, before: str, after: str
) -> None:
    text = read(name, (handed / "pdf" / name).read_bytes()).text
    assert -1 < text.index(before) < text.rindex(after.strip())


def test_ligatures_come_out_as_letters(read: Reading, handed: Path) -> None:
    data = (handed / "pdf" / "pdf.js__copy_paste_ligatures.pdf").read_bytes()
    assert not set(read("a.pdf", data).text) & set("ﬀﬁﬂﬃﬄ")


@pytest.mark.parametrize("shift", [(0, 0), (0.3, 0), (1, 0), (1.5, 1.5)])
def test_a_line_drawn_twice_to_look_bold_comes_once(
    read: Reading, shift: tuple[float, float]
) -> None:
    document = pymupdf.open()
    page = document.new_page()
    for x, y in ((72, 100), (72 + shift[0], 100 + shift[1])):
        page.insert_text((x, y), "Doubled words here", fontsize=12)
    for row in range(3):
        page.insert_text((72, 200 + 20 * row), "The same words below each other")
    text = read("a.pdf", bytes(document.tobytes())).text
    assert text.count("Doubled") == 1
    assert text.count("The same words") == 3


def test_words_drawn_twice_come_once_in_tables() -> None:
    words = [Word(x, 0, x + 20, 10, text) for x, text in ((0, "a"), (0.4, "a"), (30, "a"))]
    assert [word.x0 for word in once(words)] == [0, 30]


def test_letters_set_wide_are_words_and_no_columns(read: Reading) -> None:
    document = pymupdf.open()
    page = document.new_page()
    for number, letter in enumerate("LETTERSPACED HEADING"):
        page.insert_text((72 + 20 * number, 100), letter)
    for number, digit in enumerate("123456"):
        page.insert_text((72 + 60 * number, 140), digit)
    got = read("a.pdf", bytes(document.tobytes()))
    assert "LETTERSPACED HEADING" in got.text
    assert "123456" not in got.text.replace("  ", "-").replace(" ", "-")
    assert "ocr_pages" not in got.figures


def one_by_one(page: Any, text: str, y: float, gap: float, *shifts: tuple[float, float]) -> None:
    """Each letter by itself, with so much behind it, drawn once for each shift."""
    font, x = pymupdf.Font("helv"), 72.0
    for letter in text:
        for dx, dy in shifts or ((0.0, 0.0),):
            if letter != " ":
                page.insert_text((x + dx, y + dy), letter, fontsize=12)
        x += font.text_length(letter, 12) + gap


@pytest.mark.parametrize("times", [2, 3])
@pytest.mark.parametrize("shift", [(0.3, 0), (1.5, 1.5)])
def test_letters_drawn_again_one_by_one_come_once(
    read: Reading, shift: tuple[float, float], times: int
) -> None:
    document = pymupdf.open()
    page = document.new_page()
    shifts = [(shift[0] * time, shift[1] * time) for time in range(times)]
    one_by_one(page, "Doubled words in a heading", 100, 0, *shifts)
    for y, text in ((200, "11 22 33 44 55 66"), (240, "bookkeeper aabb 1000 ......")):
        page.insert_text((72, y), text)
    text = read("a.pdf", bytes(document.tobytes())).text
    assert "Doubled words in a heading" in text or "Doubledwordsinaheading" in text
    assert "11 22 33 44 55 66" in text
    assert "bookkeeper aabb 1000" in text


@pytest.mark.parametrize("gap", [2, 4, 6, 8])
def test_letters_set_apart_are_words_and_letters_with_typed_blanks_are_not(
    read: Reading, gap: float
) -> None:
    document = pymupdf.open()
    page = document.new_page()
    one_by_one(page, "SPACED HEADING", 100, gap)
    one_by_one(page, "1234 5678", 140, gap)
    page.insert_text((72, 180), "choose A B C D E F")
    page.insert_text((72, 220), "A B C D E F")
    # One string whose letters are set apart, with a typed blank between its words.
    page.insert_text((72, 260), "plain")
    contents = page.get_contents()[-1]
    wide = f"q BT /helv 12 Tf {gap} Tc 72 400 Td (LOOSE TITLE) Tj ET Q".encode()
    document.update_stream(contents, document.xref_stream(contents) + b"\n" + wide)
    text = " ".join(read("a.pdf", bytes(document.tobytes())).text.split())
    assert "SPACED HEADING" in text
    assert "LOOSE TITLE" in text
    assert "choose A B C D E F" in text
    assert text.count("A B C D E F") == 2
    assert "1 2 3 4" in text


def test_pages_that_are_damaged_are_named_and_the_others_read(events: Any) -> None:
    document = pymupdf.open()
    for number in range(7):
        document.new_page().insert_text((72, 72), f"page number {number + 1}")
    second, third, _, fifth, sixth = (document[number].xref for number in range(1, 6))
    document.update_object(second, "null")
    document.xref_set_key(third, "Contents", "[99999 0 R]")
    document.xref_set_key(fifth, "Contents", f"[{document[4].get_contents()[0]} 0 R 99999 0 R]")
    document.update_object(sixth, f"<</Type/Pages/Kids[{sixth} 0 R]/Count 1>>")
    text, error = events("a.pdf", bytes(document.tobytes()))
    assert re.findall("page number .", text) == [f"page number {n}" for n in (1, 4, 5, 7)]
    assert (error.reason, error.message) == (
        Reason.CORRUPT,
        "Of the PDF, pages 2 to 3, 5 to 6 cannot be read whole; the others are.",
    )
