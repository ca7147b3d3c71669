"""Numbers of lists in the shapes that office formats name."""

from __future__ import annotations

import pytest

from seoga_extraction.numerals import shown


@pytest.mark.parametrize(
    ("number", "kind", "expected"),
    [(4, "lowerRoman", "iv"), (27, "upperLetter", "AA"), (3, "ganada", "다"), (2, "chosung", "ㄴ"),
     (3, "decimalEnclosedCircle", "③"), (7, "decimalZero", "07"), (0, "lowerRoman", "0")],
)  # fmt: skip
def test_numbers_are_shown_in_words_formats(number: int, kind: str, expected: str) -> None:
    assert shown(number, kind) == expected
