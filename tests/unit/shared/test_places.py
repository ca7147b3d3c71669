"""Places in words: one form for tools, pages and commands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from seoga.models import Place
from seoga.text.places import clock, describe


@pytest.mark.parametrize(
    ("place", "said"),
    [
        (Place(), ""),
        (Place(page=3), "page 3"),
        (Place(page=3, page_end=3), "page 3"),
        (Place(page=3, page_end=4), "pages 3-4"),
        (Place(slide=2), "slide 2"),
        (Place(sheet="매출 2024", cells="A1:C9"), "매출 2024!A1:C9"),
        (Place(sheet="Data"), "Data"),
        (Place(line_start=10, line_end=20), "lines 10-20"),
        (Place(line_start=10), "line 10"),
        (Place(start_s=65.4, end_s=90.9), "00:01:05-00:01:30"),
        (Place(start_s=0.0), "00:00:00"),
        (Place(page=1, line_start=2, line_end=5), "page 1, lines 2-5"),
    ],
)
def test_a_place_is_said_in_one_form(place: Place, said: str) -> None:
    assert describe(place) == said


def test_hours_are_counted_on() -> None:
    assert clock(3 * 3600 + 62) == "03:01:02"
    assert clock(100 * 3600) == "100:00:00"


def test_extract_says_places_in_that_form(seoga: Any, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.csv").write_text("name,city\nKim,Busan\n", encoding="utf-8")
    report = seoga("extract", docs / "a.csv", "--json").json
    place = Place.from_json(report["sections"][0]["place"])
    assert f"· {describe(place)}]" in seoga("extract", docs / "a.csv").out
