"""Numbers and dates look as the program that wrote the sheet shows them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from seoga_extraction.format import Input
from seoga_extraction.formats.xlsx import FORMAT
from seoga_extraction.formats.xlsx.rows import cell_place, column_letters, column_number
from seoga_extraction.limits import Limits
from seoga_extraction.ooxml.numbers import number_format


@pytest.mark.parametrize(
    ("code", "value", "expected"),
    [
        ("#,##0.00", 1234567.891, "1,234,567.89"), ("0.0%", 0.1234, "12.3%"),
        ("#,##0;(#,##0)", -5, "(5)"), ("[$₩-412]#,##0", -1234, "-₩1,234"),
        ('_-* #,##0_-;-* #,##0_-;_-* "-"_-;_-@_-', 0, "-"), ("# ?/?", 2.25, "2 1/4"),
        ("# ??/??", 0.3333, "1/3"), ("# ?/8", 2.5, "2 4/8"), ("0.00E+00", 12345678, "1.23E+07"),
        ("##0.0E+0", 12345678, "12.3E+6"), ("000-0000-0000", 1012345678, "010-1234-5678"),
        ("#,##0,", 1234567, "1,235"), ('0.0,,"M"', 1234567, "1.2M"), ("0.???", 1.5, "1.5"),
        ("0.00", 1.005, "1.01"), ("0.00", -0.001, "0.00"), (";;;", 5, ""),
        ('[>=100]"big "0;[<10]"small "0;0', 5, "small 5"), ("General", 0.1 + 0.2, "0.3"),
        ("General", 8801234567890, "8801234567890"), ("General", 1e20, "1E+20"),
        ("@", 7, "7"), ('G/표준"원"', 7, "7원"), ('"제"0"조"', 12, "제12조"),
        ("yyyy\\-mm\\-dd", 44927, "2023-01-01"), ("yyyy\\-mm\\-dd", 60, "1900-02-29"),
        ("yyyy\\-mm\\-dd", 61, "1900-03-01"), ("yyyy\\-mm\\-dd", 1, "1900-01-01"),
        ('yyyy"년" m"월" d"일" aaaa', 44927.75, "2023년 1월 1일 일요일"),
        ("[$-412]AM/PM h:mm", 44927.75, "오후 6:00"), ("[h]:mm:ss", 1.5, "36:00:00"),
        ("h:mm", 44927.999999, "23:59"), ("mm:ss.0", 0.0005, "00:43.2"),
        ("yyyy-mm-dd", -1, "-1"), ("[$-411]dddd", 44927, "日曜日"), ("mmm-yy", 44927, "Jan-23"),
    ],
)  # fmt: skip
def test_numbers_are_shown_as_the_program_shows_them(
    code: str, value: float, expected: str
) -> None:
    assert number_format(code).number(value) == expected


def test_any_format_code_gives_some_text() -> None:
    chance = random.Random(3)
    letters = '0#?.,%/E+-@;[]"\\_*ymdhsaAPGeneral <>=$₩ 12'
    for _ in range(3000):
        code = "".join(chance.choice(letters) for _ in range(chance.randrange(1, 14)))
        for value in (0.0, -1.5, 44927.25, 1e300, -1e-300, float("inf")):
            assert isinstance(number_format(code).number(value), str)
        assert isinstance(number_format(code).text("x"), str)


def test_dates_of_a_real_file_are_shown_as_its_author_saw_them(handed: Path) -> None:
    path = handed / "xlsx" / "poi__DateFormatTests.xlsx"
    source = Input(path, path.name, Limits())
    texts = [getattr(one, "text", "") for one in FORMAT.parse(source)]
    table = next(text for text in texts if text.startswith("| Result (expected) |"))
    lines = [line.strip("| ").split(" | ") for line in table.split("\n")[2:]]
    # The value has a format of its own here; its serial number is read back from that.
    serials = {"11-Oct-1952": 17816.607951388887, "01-Feb-2003": 36191.170208437499}
    checked = 0
    for expected, code, value, *_ in lines:
        serial = serials.get(value[:11])
        if serial is not None:
            checked += 1
            assert number_format(code, True).number(serial) == expected, code
    assert checked >= 44


def test_column_names_are_counted_both_ways() -> None:
    assert [column_number(one) for one in ("A", "Z", "AA", "XFD", "XFE", "가", "")] == [
        1, 26, 27, 16384, 0, 0, 0
    ]  # fmt: skip
    assert [column_letters(one) for one in (1, 26, 27, 16384)] == ["A", "Z", "AA", "XFD"]
    assert cell_place("$B$12") == (12, 2)
