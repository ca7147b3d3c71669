"""Path globs: what they match, and that no glob takes long."""

from __future__ import annotations

import re
import time
import unicodedata
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seoga.errors import InvalidArgument
from seoga.kbconfig import MOST_GLOB
from seoga.search.globs import glob_pattern
from seoga.search.request import SearchRequest, check

from .conftest import Shelf

LONG = "a/" * 60 + "a" * 120 + ".md"


def plainly(glob: str, path: str) -> bool:
    """What a rooted glob means, said by trying everything."""
    tokens = re.findall(r"(?:^|(?<=/))\*\*/|/\*\*$|\*\*+|\*|.", glob)

    @cache
    def fits(token: int, at: int) -> bool:
        if token == len(tokens):
            return at == len(path)
        now, rest = tokens[token], range(at, len(path) + 1)
        if now == "**/":
            starts = [at, *(end for end in rest if end > at and path[end - 1] == "/")]
        elif now == "/**":
            return at == len(path) or path[at] == "/"
        elif now.startswith("**"):
            starts = list(rest)
        elif now == "*":
            starts = [end for end in rest if "/" not in path[at:end]]
        else:
            sign = path[at : at + 1]
            starts = [at + 1] if sign == now or (now == "?" and sign not in ("", "/")) else []
        return any(fits(token + 1, start) for start in starts)

    return fits(0, 0)


@given(
    st.lists(st.sampled_from(["a", "b", "?", "*", "**", "**/", "/"]), min_size=1, max_size=9),
    st.lists(st.text("ab", min_size=1, max_size=4), min_size=1, max_size=4),
)
@settings(max_examples=600, deadline=None)
def test_a_glob_matches_what_trying_everything_matches(glob: list[str], path: list[str]) -> None:
    rooted = "x/" + "".join(glob).strip("/") + "b"
    whole = "x/" + "/".join(path)
    assert bool(glob_pattern(rooted).fullmatch(whole)) is plainly(rooted, whole)
    below = "x/" + "".join(glob).strip("/") + "/**"
    if not below.endswith("**/**"):
        assert bool(glob_pattern(below).fullmatch(whole)) is plainly(below, whole)


@pytest.mark.parametrize(
    "glob",
    [
        "**/" * 250 + "x",
        "**/*" * 200 + "/x",
        "*a" * 400 + "b",
        "**a" * 300 + "b",
        "**/a*/" * 140 + "x",
        "*" * 900 + "x",
        "?*" * 400 + "x",
    ],
)
def test_no_glob_takes_long(glob: str) -> None:
    begun = time.process_time()
    assert not glob_pattern(glob).fullmatch(LONG)
    assert time.process_time() - begun < 1


def test_a_glob_that_is_too_long_is_refused_and_not_repeated() -> None:
    check(SearchRequest("x", path_glob="*" * MOST_GLOB))
    with pytest.raises(InvalidArgument, match=f"path_glob has {MOST_GLOB + 1} ") as told:
        check(SearchRequest("x", path_glob="*" * (MOST_GLOB + 1)))
    assert len(str(told.value)) < 200


def test_a_glob_that_was_typed_on_a_mac_finds_the_same_names() -> None:
    apart = unicodedata.normalize("NFD", "policy/연차*")
    assert glob_pattern(apart).fullmatch("policy/연차휴가규정.md")


def test_filters_in_decomposed_hangul_are_those_that_were_meant(shelf: Shelf) -> None:
    shelf.put("규정/휴가.md", "연차는 이월된다.")
    apart = unicodedata.normalize("NFD", "규정")
    assert shelf.paths("연차", path_glob=f"{apart}/**") == ["규정/휴가.md"]
    assert not shelf.paths("연차", exclude=(apart,))
    shelf.put("개정.md", "연차는 이월되지 않는다.", label="규정")
    found = shelf.search("연차", labels=(apart,))
    assert [hit.path for hit in found.hits] == ["개정.md"]
    assert not any("label" in warning for warning in found.warnings)


def test_an_identifier_that_nobody_wrote_is_no_filter(shelf: Shelf) -> None:
    shelf.put("a.md", "Version v3.4.1 is out.")
    assert "filters" not in shelf.search("v9.9.9").message
    assert "filters" in shelf.search("v9.9.9", path_glob="a.md").message
