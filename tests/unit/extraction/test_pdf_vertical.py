"""Text of a PDF that runs down: read from its letters, column by column from right to left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from seoga.models import SectionKind
from seoga_extraction.formats.pdf.page import read as layer
from seoga_extraction.formats.pdf.tables import Word
from seoga_extraction.formats.pdf.vertical import columns, words
from seoga_extraction.layout import Line

from .drawn import body, opened

Reading = Callable[..., Any]
FIRST, SECOND = "회의록은 세로로 쓴 문장이며", "두 번째 줄도 그렇게 읽습니다"


def letters(page: Any, text: str, x: float, y: float = 100, pitch: float = 18) -> None:
    """One under another, as programs set text that runs down."""
    for number, sign in enumerate(text):
        if sign != " ":
            page.insert_text((x, y + pitch * number), sign, fontname="korea", fontsize=16)


def in_vertical_mode(columns: tuple[str, ...], order: str) -> bytes:
    """A PDF in a font whose writing mode is vertical (ISO 32000-2, 9.7.4.3)."""
    shown = "\n".join(
        f"BT /F1 16 Tf 1 0 0 1 {400 - 30 * at} 700 Tm <{text.encode('utf-16-be').hex()}> Tj ET"
        for at, text in enumerate(columns)
    )
    encoding = {"Korea1": "UniKS-UCS2-V", "Japan1": "UniJIS-UCS2-V"}[order]
    objects = (
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1 4 0 R>>>>"
        "/Contents 6 0 R>>",
        f"<</Type/Font/Subtype/Type0/BaseFont/Own/Encoding/{encoding}/DescendantFonts[5 0 R]>>",
        "<</Type/Font/Subtype/CIDFontType0/BaseFont/Own/CIDSystemInfo<</Registry(Adobe)"
        f"/Ordering({order})/Supplement 1>>/FontDescriptor<</Type/FontDescriptor/FontName/Own"
        "/Flags 4/FontBBox[0 -200 1000 900]/ItalicAngle 0/Ascent 800/Descent -200/StemV 60>>>>",
        f"<</Length {len(shown)}>>stream\n{shown}\nendstream",
    )
    numbered = (f"{at} 0 obj{one} endobj\n" for at, one in enumerate(objects, start=1))
    return f"%PDF-1.4\n{''.join(numbered)}trailer<</Root 1 0 R>>\n%%EOF".encode()


def test_columns_of_letters_are_read_and_not_recognised(read: Reading) -> None:
    document = opened()
    page = document.new_page()
    letters(page, FIRST, 400)
    letters(page, SECOND, 360)
    got = read("a.pdf", bytes(document.tobytes()))
    assert " ".join(body(got).split()) == f"{FIRST} {SECOND}"
    assert "ocr_pages" not in got.figures
    assert not any("ocr" in section.meta for section in got.of(SectionKind.PAGE))


def test_columns_come_from_right_to_left_in_whatever_order_they_were_drawn() -> None:
    page = opened().new_page()
    letters(page, SECOND, 360)
    letters(page, FIRST, 400)
    assert " ".join(" ".join(layer(page).texts).split()) == f"{FIRST} {SECOND}"


@pytest.mark.parametrize(
    ("order", "text"),
    [("Korea1", (FIRST, SECOND)), ("Japan1", ("これは縦書きの文章で、", "次の行に続きます。"))],
)
def test_fonts_whose_writing_mode_is_vertical_are_read(
    read: Reading, order: str, text: tuple[str, ...]
) -> None:
    got = read("a.pdf", in_vertical_mode(text, order))
    between = " " if order == "Korea1" else ""
    assert " ".join(body(got).split()) == between.join(text)
    assert "ocr_pages" not in got.figures


def test_columns_on_a_level_page_are_one_block_at_their_place() -> None:
    page = opened().new_page()
    page.insert_text((50, 60), "A level line above the columns, longer than what they say")
    letters(page, "세로쓰기 문장", 400)
    letters(page, "둘째 줄", 370)
    page.insert_text((50, 400), "A level line below the columns, longer than what they say")
    above, block, below = layer(page).texts
    assert above.startswith("A level line above")
    assert " ".join(block.split()) == "세로쓰기 문장 둘째 줄"
    assert below.startswith("A level line below")
    assert layer(page).tables == frozenset()


def test_a_label_set_down_a_cell_is_a_word_and_rows_of_letters_are_not() -> None:
    page = opened().new_page()
    for y in (90, 130, 170, 210):
        page.draw_line((72, y), (400, y))
    for x in (72, 112, 400):
        page.draw_line((x, 90), (x, 210))
    for row, mark in enumerate("상중하"):
        page.insert_text((85, 114 + 40 * row), mark, fontname="korea")
        page.insert_text((120, 114 + 40 * row), f"value {row}")
    (table,) = layer(page).texts
    assert [row.split()[1] for row in table.splitlines()] == ["상", "---", "중", "하"]
    label = [Word(85, 12 * at, 95, 12 * at + 11, sign) for at, sign in enumerate("특이사항")]
    assert [one.text for one in words([*label, Word(120, 0, 200, 11, "value")])] == [
        "특이사항",
        "value",
    ]


def test_marks_of_columns_are_those_of_lines_and_other_letters_stay_as_they_are() -> None:
    def run(text: str) -> list[str]:
        placed = [Line(50, 11 * at, 60, 11 * at + 10, sign) for at, sign in enumerate(text)]
        return [line.text for line in columns(placed)]

    assert run("﹁첫제목﹂") == ["「첫제목」"]
    assert run("ABCD") == list("ABCD")
