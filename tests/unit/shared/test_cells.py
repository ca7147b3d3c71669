"""Cell ranges: read, joined, shown."""

from __future__ import annotations

import pytest

from seoga.cells import Cells, joined
from seoga.models import Place


@pytest.mark.parametrize("text", ["A1", "B3:D9", "XFD1048576"])
def test_a_range_is_shown_as_it_was_read(text: str) -> None:
    assert str(Cells.parse(text)) == text


@pytest.mark.parametrize("text", [None, "", "A", "1", "A0", "a1", "A1:", "A1:B", "A1:B2:C3"])
def test_other_texts_are_no_range(text: str | None) -> None:
    assert Cells.parse(text) is None


def test_joined_ranges_hold_both() -> None:
    assert joined("C5:D9", "AA2") == "C2:AA9"
    assert joined(None, "A1") == joined("A1", None) == "A1"
    assert joined(None, None) is None
    assert Place(sheet="S", cells="A1").until(Place(sheet="S", cells="B7")).cells == "A1:B7"
