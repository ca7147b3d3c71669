"""Markdown: what becomes a section, where it stands, and which headings are above it."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seoga.models import FAULTS, Place, SectionKind
from seoga_extraction.formats.markdown.blocks import Reader, plain
from seoga_extraction.formats.markdown.front_matter import read_yaml, split_front_matter

Reading = Callable[..., object]

DOCUMENT = """---
title: "회의록: 3월"
tags: [회의, 'a, b']
authors:
  - Kim
  - Lee
summary: >
  두 줄을
  하나로
status: accepted # as of today
---
# 개요 { #overview }

첫 문단이
두 줄이다.

## 결정 ##
- 하나
  - 안쪽

- 둘

| 이름 | 값 |
|---|---|
| a | 1 |

```python
# not a heading

| not | a table |
```

Setext
------

끝
"""


def test_headings_carry_their_path_level_and_lines(read: Reading) -> None:
    got = read("a.md", DOCUMENT)
    headings = [(one.text, one.heading_path, one.level) for one in got.of(SectionKind.HEADING)]
    assert headings == [
        ("# 개요", ("개요",), 1),
        ("## 결정", ("개요", "결정"), 2),
        ("## Setext", ("개요", "Setext"), 2),
    ]
    assert got.sections[1].text == "첫 문단이\n두 줄이다."
    assert got.sections[1].place == Place(line_start=14, line_end=15)


def test_fences_tables_and_lists_stay_whole(read: Reading) -> None:
    got = read("a.md", DOCUMENT)
    assert [one.text for one in got.of(SectionKind.LIST)] == ["- 하나\n  - 안쪽\n\n- 둘"]
    assert [one.text for one in got.of(SectionKind.TABLE)] == [
        "| 이름 | 값 |\n|---|---|\n| a | 1 |"
    ]
    (code,) = got.of(SectionKind.CODE)
    assert code.text.startswith("```python\n# not a heading")
    assert code.text.endswith("```")
    assert code.heading_path == ("개요", "결정")


def test_front_matter_is_metadata_not_text(read: Reading) -> None:
    got = read("a.md", DOCUMENT)
    assert got.info.title == "회의록: 3월"
    assert got.info.meta["tags"] == ["회의", "a, b"]
    assert got.info.meta["authors"] == ["Kim", "Lee"]
    assert got.info.meta["summary"] == "두 줄을 하나로"
    assert got.info.meta["status"] == "accepted"
    assert "accepted" not in got.text


def test_a_rule_at_the_top_is_not_front_matter() -> None:
    lines = ["---", "Just prose, no keys at all", "---", "body"]
    assert split_front_matter(lines) == ({}, 0)


def test_toml_front_matter_is_read() -> None:
    meta, first = split_front_matter(["+++", 'title = "T"', "n = 3", "+++", "body"])
    assert (meta, first) == ({"title": "T", "n": 3}, 4)


def test_yaml_bombs_and_broken_lines_cost_nothing() -> None:
    lines = ["a: &a [x, x]", "b: [*a, *a]", "bad line", "c: !!python/object:os.system x", "d: 1"]
    assert read_yaml(lines)["d"] == "1"


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("## A `code` [link](http://x/(y)) **bold**", "A code link bold"),
        ("## snake_case_name and __bold__", "snake_case_name and bold"),
        ("### C# and F#", "C# and F#"),
        ("# Title {#id}", "Title"),
        ("# 제목 {#제목} #", "제목"),
    ],
)
def test_titles_are_words_without_markup(heading: str, title: str) -> None:
    (section,) = Reader([heading]).sections()
    assert section.heading_path == (title,)


def test_a_hash_without_a_space_is_no_heading(read: Reading) -> None:
    assert not read("a.md", "#hashtag\n").of(SectionKind.HEADING)


def test_an_open_fence_runs_to_the_end_and_keeps_its_lines(read: Reading) -> None:
    (only,) = read("a.md", "```\n# a\n\nb").sections
    assert only.kind is SectionKind.CODE
    assert only.place == Place(line_start=1, line_end=4)


def test_comments_for_authors_are_left_out(read: Reading) -> None:
    assert read("a.md", "<!-- one\n\n# two -->\n\ntext").text == "text"


def test_plain_of_plain_is_the_same() -> None:
    assert plain(plain("**a** `b` [c](d)")) == "a b c"


@given(st.text(alphabet="#-=`~|*1. \t\n>가a<![](){}_", max_size=300))
def test_any_text_is_read_to_its_end_and_no_line_comes_twice(text: str) -> None:
    lines = text.split("\n")
    last = 0
    for section in Reader(lines).sections():
        assert section.text.strip()
        start, end = section.place.line_start, section.place.line_end
        assert start is not None
        assert end is not None
        assert last < start <= end <= len(lines)
        last = end


@pytest.mark.parametrize(
    "text",
    [
        "# " + "{ #" * 30_000,
        "# a" + " " * 60_000 + "b",
        "---\n" + "k" * 100_000 + " " * 100_000 + "\n---\n",
        "# " + "[" * 100_000 + "\n\n" + "![a](" * 20_000,
        "|\n" + "|-" * 100_000,
        "a " * 100_000 + "\n---",
        "<" * 100_000 + "\n" + "> " * 50_000,
        "\n".join(" " * depth + "- x" for depth in range(2000)),
    ],
)
def test_patterns_do_not_backtrack_over_long_lines(read: Reading, text: str) -> None:
    started = time.monotonic()
    read("a.md", text)
    assert time.monotonic() - started < 10


@pytest.mark.parametrize(
    "anchor",
    ["{/*eslint-integration*/}", "{#eslint}", "{ #eslint }", "{: #eslint }", "{/* 요약 */}"],
)
def test_anchors_of_headings_are_left_out(read: Reading, anchor: str) -> None:
    got = read("a.md", f"# T\n\n## *Title* of `x` {anchor}\n\ntext\n")
    assert got.sections[-1].heading_path == ("T", "Title of x")
    assert "eslint" not in got.text
    assert "{" not in got.text


def test_code_in_a_heading_is_no_anchor(read: Reading) -> None:
    got = read("a.md", "## `useState({})` and {}\n")
    assert got.sections[0].heading_path == ("useState({}) and {}",)


@pytest.mark.parametrize(
    ("front", "status", "told"),
    [
        ("title: A\n\tstatus: superseded", "superseded", "Line 3 of the front matter is indented"),
        ("\tstatus: superseded", "superseded", "Line 2 of the front matter is indented"),
        ("status:superseded\ntitle: A", "superseded", "Line 2 of the front matter lacks a space"),
        ("status:\tsuperseded", "superseded", ""),
        ("title: A\nstatus superseded", None, "Line 3 of the front matter is no key"),
        (
            "title: A\nstatus: final\nsuperseded_by: [a.md",
            "final",
            "Line 4 of the front matter has",
        ),
        ("title: A\n  and more of it\nstatus: final # said\n# status: gone", "final", ""),
        ("tags:\n- a\n- b: c\nstatus: final", "final", ""),
        ("text: |\n  status: gone\nstatus: final", "final", ""),
    ],
)
def test_what_of_front_matter_cannot_be_read_is_told_and_the_rest_is_read(
    front: str, status: str | None, told: str
) -> None:
    meta, first = split_front_matter(["---", *front.split("\n"), "---", "body"])
    assert first == len(front.split("\n")) + 2
    assert meta.get("status") == status
    faults = meta.get(FAULTS, [])
    assert len(faults) == bool(told)
    assert not told or faults[0].startswith(told)


def test_front_matter_without_an_end_is_text_and_told() -> None:
    meta, first = split_front_matter(["---", "status: superseded", "", "# Title"])
    assert (first, len(meta[FAULTS])) == (0, 1)
    # A rule at the top is no front matter, nor is a comment between rules.
    assert split_front_matter(["---", "", "Some prose: with a colon."]) == ({}, 0)
    broken, first = split_front_matter(["+++", "status = superseded", "+++", "body"])
    assert (first, "no TOML" in broken[FAULTS][0]) == (0, True)
