"""Forms in PDF: what is filled in stands beside its label, what is ticked is a tick."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

from seoga_extraction.formats.pdf import fields
from seoga_extraction.formats.pdf.page import PageLayer
from seoga_extraction.formats.pdf.page import read as layer

from .drawn import body, opened

# Its types are partial.
pymupdf: Any = import_module("pymupdf")
Reading = Callable[..., Any]
TEXT, TICK = pymupdf.PDF_WIDGET_TYPE_TEXT, pymupdf.PDF_WIDGET_TYPE_CHECKBOX
Box = tuple[float, float, float, float]


def put(page: Any, kind: int, box: Box, value: object, **more: Any) -> int:
    """A field on the page; its reference."""
    widget = pymupdf.Widget()
    widget.field_name, widget.field_type = f"field {box}", kind
    widget.rect, widget.field_value = pymupdf.Rect(box), value
    for name, told in more.items():
        setattr(widget, name, told)
    page.add_widget(widget)
    return int(page.annot_xrefs()[-1][0])


def form() -> tuple[Any, Any]:
    document = opened()
    return document, document.new_page()


def said(document: Any) -> PageLayer:
    """What the first page says once it is written and opened again."""
    written = opened(document.tobytes())
    return layer(written[0], fields=True)


def test_answers_stand_beside_their_labels_and_what_is_ticked_is_a_tick(read: Reading) -> None:
    document, page = form()
    page.insert_text((72, 60), "Employee form")
    answers = {"Name:": "Zebulon Q", "Dept:": "총무팀 3층", "City:": "Busan", "Phone:": "010-1234"}
    for row, (label, answer) in enumerate(answers.items()):
        page.insert_text((72, 114 + 30 * row), label)
        put(page, TEXT, (130, 100 + 30 * row, 400, 120 + 30 * row), answer, text_fontsize=11)
    for row, (label, ticked) in enumerate({"Remote work": True, "Full time": False}.items()):
        y = 240 + 30 * row
        page.insert_text((72, y + 11), label)
        put(page, TICK, (150, y, 164, y + 14), ticked)
    result = read("form.pdf", document.tobytes())
    text = body(result)
    for label, answer in answers.items():
        assert " ".join(f"{label} {answer}".split()) in " ".join(text.split())
    assert "Remote work ☑" in " ".join(text.split())
    assert "Full time ☐" in " ".join(text.split())
    assert text.count("Zebulon") == 1
    assert "3" not in text.replace("총무팀 3층", "").replace("010-1234", "")


def test_boxes_of_one_row_stand_before_their_captions_and_labels_above_before_their_answer() -> (
    None
):
    document, page = form()
    for x, caption, ticked in ((72, "Bus", False), (172, "Train", True), (272, "Plane", False)):
        put(page, TICK, (x, 100, x + 12, 112), ticked)
        page.insert_text((x + 18, 110), caption)
    page.insert_text((72, 160), "Address")
    several = {"field_flags": pymupdf.PDF_TX_FIELD_IS_MULTILINE}
    put(page, TEXT, (72, 165, 400, 265), "12 Main Street\nBusan", **several)
    page.insert_text((72, 300), "Signed in the office")
    assert [" ".join(text.split()) for text in said(document).texts] == [
        "☐ Bus ☑ Train ☐ Plane",
        "Address 12 Main Street Busan",
        "Signed in the office",
    ]


def test_questions_and_answers_of_many_lines_are_no_two_columns() -> None:
    document, page = form()
    for row in range(6):
        question = f"Question {row}: what was done in this quarter?"
        page.insert_text((72, 114 + 30 * row), question)
        answer = f"The answer {row} is as long as the question is, or longer"
        put(page, TEXT, (300, 100 + 30 * row, 580, 120 + 30 * row), answer, text_fontsize=9)
    text = " ".join(" ".join(said(document).texts).split())
    assert all(f"quarter? The answer {row} is" in text for row in range(6))


def test_choices_are_read_as_they_are_shown_and_what_is_hidden_or_secret_is_not() -> None:
    document, page = form()
    page.insert_text((72, 114), "Country")
    one = put(
        page, pymupdf.PDF_WIDGET_TYPE_COMBOBOX, (130, 100, 300, 120), "KR", choice_values=["KR"]
    )
    many = put(
        page, pymupdf.PDF_WIDGET_TYPE_LISTBOX, (130, 140, 300, 160), "a", choice_values=["a"]
    )
    for field in (one, many):
        document.xref_set_key(field, "Opt", "[[(KR) (Republic of Korea)] [(a) (Apples)] (Pears)]")
    document.xref_set_key(many, "V", "[(a) (Pears)]")
    hidden = put(page, TEXT, (130, 180, 300, 200), "HIDDENWORD")
    document.xref_set_key(hidden, "F", "2")
    secret = put(page, TEXT, (130, 220, 300, 240), "hunter2")
    document.xref_set_key(secret, "Ff", str(1 << 13))
    text = " ".join(" ".join(said(document).texts).split())
    assert "Country Republic of Korea" in text
    assert "Apples, Pears" in text
    assert "HIDDENWORD" not in text


def test_a_line_that_runs_below_fields_is_filled_where_they_stand() -> None:
    document, page = form()
    page.insert_text((72, 112), "Name: ______________  Date: ____________  Sum: ________ KRW")
    width = pymupdf.get_text_length
    for before, answer in (("Name: ", "Kim"), ("Name: ______________  Date: ", "2026-03-01")):
        x = 72 + width(before, fontsize=11)
        put(page, TEXT, (x, 98, x + 60, 116), answer)
    (text,) = said(document).texts
    assert " ".join(text.split()) == "Name: Kim Date: 2026-03-01 Sum: ________ KRW"


def test_answers_fall_into_the_cells_of_a_form_with_ruling_lines() -> None:
    document, page = form()
    for y in (100, 130, 160):
        page.draw_line((72, y), (400, y))
    for x in (72, 172, 400):
        page.draw_line((x, 100), (x, 160))
    for row, (label, answer) in enumerate({"성명": "홍길동", "직위": "과장"}.items()):
        page.insert_text((80, 120 + 30 * row), label, fontname="korea")
        put(page, TEXT, (174, 102 + 30 * row, 398, 128 + 30 * row), answer)
    page.insert_text((72, 200), "Below the table")
    table, below = said(document).texts
    assert table.splitlines()[0] == "| 성명 | 홍길동 |"
    assert table.splitlines()[2] == "| 직위 | 과장 |"
    assert below == "Below the table"


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_a_turned_form_keeps_its_answers(degrees: int) -> None:
    document, page = form()
    page.set_rotation(degrees)
    back = page.derotation_matrix
    for row, (label, answer) in enumerate({"Name:": "Zebulon", "City:": "Busan"}.items()):
        start = pymupdf.Point(72, 114 + 30 * row) * back
        page.insert_text(start, label, rotate=degrees)
        shown = pymupdf.Rect(130, 100 + 30 * row, 300, 120 + 30 * row) * back
        put(page, TEXT, tuple(shown), answer)
    text = " ".join(" ".join(said(document).texts).split())
    assert text == "Name: Zebulon City: Busan"


def test_fields_beyond_the_limit_are_read_as_drawn_and_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fields, "MOST", 1)
    document, page = form()
    for row in range(3):
        put(page, TEXT, (130, 100 + 30 * row, 300, 120 + 30 * row), f"answer {row}")
    told: list[str] = []
    texts = layer(opened(document.tobytes())[0], fields=True, cut=told.append).texts
    assert sorted(" ".join(texts).split()) == ["0", "1", "2", "answer", "answer", "answer"]
    assert told == ["Of 3 fields on page 1, 1 stand beside their labels."]


def test_ticks_of_a_flattened_form_are_no_digits() -> None:
    document, page = form()
    page.insert_text((72, 100), "3 4 8 n l", fontname="zadb")
    page.insert_text((172, 100), "3 of 4 done")
    assert " ".join(layer(opened(document.tobytes())[0]).texts).split() == [
        *["✓", "✔", "✘", "■", "●"],
        *["3", "of", "4", "done"],
    ]
