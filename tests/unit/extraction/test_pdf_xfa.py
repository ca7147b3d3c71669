"""XFA forms: PDF files whose one page asks for another program give the words of the form."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import pytest

from seoga.errors import ExtractionFailed, Reason
from seoga.models import Place, SectionKind

from .drawn import opened

# Its types are partial.
pymupdf: Any = import_module("pymupdf")
Reading = Callable[..., Any]

WAIT = (
    "Please wait... If this message is not eventually replaced with the proper contents of the "
    "document, your PDF viewer may not be able to display this type of document."
)
TEMPLATE = """<template xmlns="http://www.xfa.org/schema/xfa-template/3.3/"><subform name="form1">
<pageSet><pageArea><draw><value><text>Ministry of Boats</text></value></draw></pageArea></pageSet>
<subform name="owner">
<draw><value><exData contentType="text/html"><body xmlns="http://www.w3.org/1999/xhtml"><p>휴가
신청서</p><p>All dates <b>count</b>.</p></body></exData></value></draw>
<field name="who"><caption><value><text>성명</text></value></caption></field>
<field name="team"><caption><value><text>Team:</text></value></caption>
<items><text>Hull and keel</text><text>Sails</text></items>
<items save="1"><text>1</text><text>2</text></items></field>
<field name="paid"><ui><checkButton/></ui><caption><value><text>Paid leave</text></value></caption>
<items><integer>1</integer><integer>0</integer></items></field>
<field name="days"><assist><toolTip>Days</toolTip></assist>
<value><integer>3</integer></value></field>
<field name="secret"><ui><passwordEdit/></ui></field>
<field name="inner" presence="hidden"/>
<exclGroup name="half"><field><caption><value><text>Morning</text></value></caption>
<items><text>am</text></items></field><field><caption><value><text>Evening</text></value></caption>
<items><text>pm</text></items></field></exclGroup></subform>
<subform name="trip" layout="row"><occur max="-1"/><field name="day"/><field name="port"/></subform>
</subform></template>"""
DATA = """<xfa:datasets xmlns:xfa="http://www.xfa.org/schema/xfa-data/1.0/"><xfa:data><form1>
<owner><who>김철수 &amp; 이영희</who><team>2</team><paid>1</paid><secret>hunter2</secret>
<inner>42</inner><half>pm</half></owner>
<trip><day>Monday</day><port>부산</port></trip><trip><day>Tuesday</day><port>Ulsan</port></trip>
<unbound><remark>Left over</remark></unbound></form1></xfa:data></xfa:datasets>"""
START, END = '<xdp:xdp xmlns:xdp="http://ns.adobe.com/xdp/">', "</xdp:xdp>"


def shell(parts: Sequence[str | bytes], text: str = WAIT, rendering: bool = False) -> bytes:
    """A PDF of one page with `text`, and these parts as its form: one stream or a list of them."""
    document = opened()
    document.new_page().insert_textbox(pymupdf.Rect(72, 72, 500, 400), text)
    streams = []
    for part in parts:
        xref = document.get_new_xref()
        document.update_object(xref, "<<>>")
        document.update_stream(xref, part.encode() if isinstance(part, str) else part)
        streams.append(f"{xref} 0 R")
    listed = " ".join(f"(part{number}) {one}" for number, one in enumerate(streams))
    form = document.get_new_xref()
    document.update_object(form, f"<</XFA {streams[0] if len(parts) == 1 else f'[{listed}]'}>>")
    document.xref_set_key(document.pdf_catalog(), "AcroForm", f"{form} 0 R")
    if rendering:
        document.xref_set_key(document.pdf_catalog(), "NeedsRendering", "true")
    return bytes(document.tobytes())


@pytest.mark.parametrize(
    "parts",
    [[START + TEMPLATE + DATA + END], [START, TEMPLATE, DATA, END], [TEMPLATE, DATA]],
    ids=["one stream", "parts", "parts without their frame"],
)
def test_the_words_and_values_of_a_form_are_read_in_place_of_its_shell(
    read: Reading, parts: list[str]
) -> None:
    got = read("a.pdf", shell(parts))
    assert [one.text for one in got.sections] == [
        "## Page 1",
        "Ministry of Boats",
        "휴가 신청서\nAll dates count.\n성명: 김철수 & 이영희\nTeam: Sails\n☑ Paid leave\nDays: 3\n"
        "☐ Morning\n☑ Evening",
        "Monday | 부산\nTuesday | Ulsan",
        "remark: Left over",
    ]
    assert {one.place for one in got.sections} == {Place(page=1)}
    assert got.sections[0].kind is SectionKind.PAGE
    assert got.info.meta["note"].startswith("It is an XFA form")


def test_a_form_that_nobody_filled_in_gives_its_labels(read: Reading) -> None:
    text = read("a.pdf", shell([START, TEMPLATE, END])).text
    assert "성명\nTeam:\n☐ Paid leave\nDays: 3\n☐ Morning\n☐ Evening" in text


def test_a_blank_page_of_a_file_that_says_it_needs_rendering_is_a_shell(read: Reading) -> None:
    assert "김철수" in read("a.pdf", shell([START, TEMPLATE, DATA, END], " ", rendering=True)).text


def test_a_form_whose_page_shows_it_is_read_from_its_page(read: Reading) -> None:
    got = read("a.pdf", shell([START, TEMPLATE, DATA, END], "The form as it is printed."))
    assert [one.text for one in got.sections] == ["## Page 1", "The form as it is printed."]


@pytest.mark.parametrize(
    "parts",
    [["<broken"], [b"\xff\x00" * 50], [f"{START}<template/>{END}"], [f"{START}<config/>{END}"]],
)
def test_a_form_that_cannot_be_read_says_what_it_is_and_the_way_out(
    read: Reading, parts: list[str | bytes]
) -> None:
    with pytest.raises(ExtractionFailed, match=r"XFA form.*Adobe Reader") as failed:
        read("a.pdf", shell(parts))
    assert failed.value.reason is Reason.UNSUPPORTED
    assert "print it to a new PDF" in failed.value.hint


def test_entities_and_files_outside_are_never_read(read: Reading) -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/hostname"><!ENTITY b "BOMB">]>'
    xml = START + TEMPLATE.replace("All dates", "&a;&b; All dates") + DATA + END
    text = read("a.pdf", shell([bomb + xml])).text
    assert "BOMB" not in text
    assert "성명: 김철수" in text


def test_a_form_that_inflates_without_end_is_refused(events: Callable[..., Any]) -> None:
    document = opened(shell(["x"]))
    stream = int(document.xref_get_key(document.pdf_catalog(), "AcroForm/XFA")[1].split()[0])
    document.xref_set_key(stream, "Filter", "/FlateDecode")
    document.update_stream(stream, zlib.compress(b" " * (1 << 25), 9), compress=False)
    document.xref_set_key(stream, "Filter", "/FlateDecode")
    text, error = events("a.pdf", document.tobytes())
    assert not text
    assert error.reason is Reason.TOO_LARGE


def test_what_is_repeated_over_and_over_ends_and_is_told(events: Callable[..., Any]) -> None:
    fields = "<draw><value><text>x</text></value></draw>" * 1000
    template = f'<template><subform name="f"><subform name="r"><occur max="-1"/>{fields}'
    data = "<datasets><data><f>" + "<r/>" * 2000 + "</f></data></datasets>"
    whole = f"{START}{template}</subform></subform></template>{data}{END}"
    text, error = events("a.pdf", shell([whole]))
    assert text.count("x") > 100_000
    assert error.reason is Reason.TOO_LARGE
