"""HTML: what a reader sees beside running text: readings, fields, drawings, pages in pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Reading = Callable[..., Any]


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("これは<ruby>漢<rt>かん</rt>字<rt>じ</rt></ruby>です", "これは漢字(かんじ)です"),
        ("<ruby>東京<rp>(</rp><rt>とうきょう</rt><rp>)</rp></ruby>駅", "東京(とうきょう)駅"),
        ("<ruby><rb>漢<rb>字<rt>hàn<rt>zì</ruby>", "漢字(hàn zì)"),
        ("<ruby><b>大韓</b>民國<rt>대한민국</rt></ruby>의", "大韓民國(대한민국)의"),
        ("<ruby>無<rp>(</rp><rt></rt><rp>)</rp></ruby>", "無"),
    ],
)
def test_letters_with_readings_stay_in_one_piece(read: Reading, markup: str, text: str) -> None:
    assert read("a.html", f"<html><p>{markup}</p>").text == text
    assert read("a.html", f"<html><h1>{markup}</h1>").info.title == text


def test_what_is_filled_into_fields_is_read_as_it_shows(read: Reading) -> None:
    page = """<html><form>
    <p><label>Name</label><input name=a value="Zebulon"></p>
    <p>Token <input type=hidden value=HIDDEN><input type=password value=SECRET>
    <input type=submit value=SEND></p>
    <p>City <select><option>Seoul<option selected>Busan<option>Daegu</select>, first
    <select><option>One<option>Two</select></p>
    <p>Fruits <select multiple><option>Apple<option selected>Pear</select></p>
    <p>Remark <textarea>first line
second line</textarea></p>
    <p><input type=radio checked>yes <input type=radio>no</p></form>"""
    assert read("a.html", page).text.split("\n\n") == [
        "Name Zebulon",
        "Token",
        "City Busan , first One",
        "Fruits Apple, Pear",
        "Remark\nfirst line\nsecond line",
        "[x] yes [ ] no",
    ]


def test_words_of_a_drawing_are_read_and_a_name_only_where_it_has_none(read: Reading) -> None:
    page = """<html><p>Before <svg><title>Flow</title><defs><text>LATER</text></defs>
    <g><text><tspan>Order</tspan> <tspan>received</tspan></text></g><text display="none">GONE</text>
    <foreignObject><div>Paid?</div></foreignObject><style>.a{}</style></svg> after</p>
    <p><a href="#"><svg><title>Download</title><path d="M0"/></svg></a> the report</p>
    <p>An icon <svg aria-hidden="true"><title>Icon</title></svg> hidden</p>"""
    assert read("a.html", page).text.split("\n\n") == [
        "Before\nOrder received\nPaid?\nafter",
        "Download\nthe report",
        "An icon hidden",
    ]


def test_pages_in_frames_stand_in_their_place(read: Reading) -> None:
    inner = "&lt;h2&gt;Inner&lt;/h2&gt;&lt;p&gt;frame text&lt;/p&gt;&lt;script&gt;x&lt;/script&gt;"
    page = f'<html><p>before</p><iframe srcdoc="{inner}">no frames</iframe><p>after</p>'
    got = read("a.html", page)
    assert got.text.split("\n\n") == ["before", "## Inner", "frame text", "after"]
    assert read("a.html", '<html><p>x</p><iframe src="b.html">none</iframe>').text == "x"


def test_frames_inside_one_another_end_somewhere(read: Reading) -> None:
    page = "<p>deep</p>"
    for level in range(6):
        quoted = page.replace("&", "&amp;").replace('"', "&quot;")
        page = f'<p>level {level}</p><iframe srcdoc="{quoted}"></iframe>'
    text = read("a.html", f"<html>{page}").text
    assert text.split("\n\n") == ["level 5", "level 4", "level 3", "level 2"]


def test_what_stands_in_for_programs_is_read_only_where_nothing_else_is(read: Reading) -> None:
    instead = "<noscript><p>Read this instead</p></noscript>"
    assert read("a.html", f"<html><p>shown</p>{instead}").text == "shown"
    assert read("a.html", f"<html><div id=app></div>{instead}").text == "Read this instead"
