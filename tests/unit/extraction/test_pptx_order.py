"""The reading order of boxes on a slide."""

from __future__ import annotations

import random

from seoga_extraction.formats.pptx.order import Box, reading_order


def test_columns_are_read_one_by_one_where_the_file_says_so() -> None:
    left = [Box(0, 0, 100, 20), Box(0, 50, 100, 20)]
    right = [Box(200, 0, 100, 20), Box(200, 50, 100, 20)]
    assert reading_order([*left, *right]) == [0, 1, 2, 3]
    by_rows = [left[0], right[0], left[1], right[1]]
    assert reading_order(by_rows) == [0, 1, 2, 3]
    # Nothing in the order of the file: rows.
    assert reading_order([right[1], left[1], right[0], left[0]]) == [3, 2, 1, 0]


def test_shapes_without_a_place_stay_behind_the_one_before() -> None:
    assert reading_order([None, Box(0, 100, 10, 10), None, Box(0, 0, 10, 10)]) == [0, 3, 1, 2]
    assert reading_order([]) == []
    many = [Box(0, -at, 10, 1) for at in range(500)]
    assert reading_order(many) == list(range(500))


def test_order_is_a_permutation_for_any_boxes() -> None:
    chance = random.Random(5)
    for _ in range(200):
        boxes: list[Box | None] = [
            Box(*(chance.randrange(-50, 300) for _ in range(4))) if chance.random() < 0.9 else None
            for _ in range(chance.randrange(0, 40))
        ]
        assert sorted(reading_order(boxes)) == list(range(len(boxes)))
