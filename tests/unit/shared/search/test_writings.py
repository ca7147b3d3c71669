"""An identifier is found however it is written; what is like it is another thing."""

from __future__ import annotations

import pytest

from seoga.search.query import analyse
from seoga.search.snippets import Marker
from seoga.search.writings import writings

from .conftest import Shelf

TEXTS = {
    "dash": "The pump HB-1207 leaks at the seal.",
    "plain": "The valve HB1207 was replaced in May.",
    "blank": "Order HB 1207 came by ship yesterday.",
    "under": "See the column hb_1207 in this table.",
    "longer": "HB-12070 is a spare part, as HB-120 was.",
    "apart": "The HB series has some 1207 members.",
    "err-100": "ERR-100 means that a packet was lost.",
    "err-10": "ERR-10 means that the disk is full.",
    "v1.2.3": "In v1.2.3 nobody could sign in.",
    "v12.3": "In v12.3 nobody could sign out.",
}
SAME = {"dash", "plain", "blank", "under"}


@pytest.fixture
def ids(shelf: Shelf) -> Shelf:
    for number, text in enumerate(TEXTS.values()):
        shelf.put(f"{number}.md", text)
    shelf.embed()
    return shelf


def found(shelf: Shelf, query: str, mode: str = "bm25") -> dict[str, str]:
    """The texts that a search finds with their labels, best first."""
    names = {f"{number}.md": name for number, name in enumerate(TEXTS)}
    return {names[hit.path]: hit.label for hit in shelf.search(query, mode=mode, top_k=10).hits}


@pytest.mark.parametrize("mode", ["bm25", "auto"])
@pytest.mark.parametrize(
    ("query", "own"),
    [("HB1207", "plain"), ("HB-1207", "dash"), ("hb_1207", "under"), ("Hb/1207", "")],
)
def test_each_writing_finds_all_and_its_own_first(
    ids: Shelf, query: str, own: str, mode: str
) -> None:
    shown = found(ids, query, mode)
    assert set(shown) >= SAME
    if own:
        assert next(iter(shown)) == own
    if mode == "bm25":
        assert {name for name, label in shown.items() if label == "[exact match]"} == {own} - {""}
    names = list(shown)
    assert all(names.index(one) < names.index("apart") for one in SAME if "apart" in names)


def test_two_words_find_what_is_written_as_one(ids: Shelf) -> None:
    shown = found(ids, "HB 1207")
    assert set(shown) >= SAME
    assert shown["plain"] == "[keyword match]"
    assert shown["blank"] == "[exact match]"


@pytest.mark.parametrize("query", ["what about HB1207 then", "Who replaced the valve HB-1207?"])
def test_a_longer_question_finds_the_other_writing(ids: Shelf, query: str) -> None:
    assert set(found(ids, query)) >= {"plain", "dash", "under"}


@pytest.mark.parametrize(
    ("query", "other"),
    [
        ("ERR10", "err-100"),
        ("ERR100", "err-10"),
        ("v1.2.3", "v12.3"),
        ("v12.3", "v1.2.3"),
        ("v1_2_3", "v12.3"),
        ("v123", "v12.3"),
        ("v123", "v1.2.3"),
        ("HB1207", "longer"),
        ("HB12070", "dash"),
    ],
)
def test_digits_that_differ_or_are_cut_otherwise_are_another_thing(
    ids: Shelf, query: str, other: str
) -> None:
    assert other not in found(ids, query)


def test_parts_of_another_identifier_are_no_exact_match(ids: Shelf) -> None:
    shown = found(ids, "ERR-10")
    assert next(iter(shown)) == "err-10"
    assert [name for name, label in shown.items() if label == "[exact match]"] == ["err-10"]


def test_an_identifier_in_no_writing_is_still_told(ids: Shelf) -> None:
    answer = ids.search("HB-9999")
    assert answer.hits == ()
    assert '"HB-9999" occurs in no document.' in answer.message
    assert "occurs in no document" not in ids.search("ERR/100").message


@pytest.mark.parametrize(
    ("query", "path", "marked"),
    [
        ("HB1207", "dash", "The pump **HB-1207** leaks at the seal."),
        ("HB1207", "blank", "Order **HB** **1207** came by ship yesterday."),
        ("HB-1207", "plain", "The valve **HB1207** was replaced in May."),
        ("HB 1207", "plain", "The valve **HB1207** was replaced in May."),
    ],
)
def test_what_is_there_is_marked(ids: Shelf, query: str, path: str, marked: str) -> None:
    hits = ids.search(query, mode="bm25", top_k=10).hits
    assert marked in [hit.snippet for hit in hits], path


def test_two_words_in_a_row_are_marked_only_in_a_row() -> None:
    marker = Marker({"hb 1207": 2.0})
    assert marker.snippet("HB is not 1207, but HB 1207.") == "HB is not 1207, but **HB** **1207**."


@pytest.mark.parametrize(
    ("name", "others"),
    [
        ("hb-1207", {"hb1207", "hb_1207", "hb.1207", "hb/1207", "hb 1207"}),
        ("f-77", {"f77", "f_77", "f.77", "f/77"}),
        ("err_token_expired", set()),
        ("2024-05-06", set()),
        ("c++", set()),
        ("node.js", set()),
        ("a1b2c3d4e5", set()),
    ],
)
def test_other_writings_keep_letters_and_digits_in_order(name: str, others: set[str]) -> None:
    assert set(writings(name)) == others


def test_a_point_between_digits_is_no_hyphen_and_a_hyphen_no_point() -> None:
    assert {"ab12-34", "ab_12_34"} <= set(writings("ab-12-34"))
    assert not {"ab1234", "ab-12.34", "ab-1234"} & set(writings("ab-12-34"))
    assert "v1-2.3" not in set(writings("v1.2.3"))


def test_words_that_follow_one_another_by_chance_are_left_alone(ids: Shelf) -> None:
    assert analyse("in 2024 HB 12").identifiers == frozenset()
    assert found(ids, "HB 12") == {name: "[keyword match]" for name in found(ids, "HB 12")}


@pytest.mark.parametrize("query", ["ERR-10", "RR-100", "HB-120"])
@pytest.mark.parametrize("mode", ["bm25", "auto"])
def test_a_name_that_nobody_wrote_is_not_found_inside_of_a_longer_one(
    shelf: Shelf, query: str, mode: str
) -> None:
    shelf.put("0.md", "ERR-100 means that a packet was lost by the HB-1207 pump.")
    shelf.embed()
    hits = shelf.search(query, mode=mode, top_k=10).hits
    assert not [hit for hit in hits if "match" in hit.label]


def test_a_name_is_found_inside_of_a_path(shelf: Shelf) -> None:
    shelf.put("0.md", "The settings are read by src/app/err_token_1.py at the start.")
    shelf.embed()
    assert [hit.label for hit in shelf.search("err_token_1", mode="bm25").hits] == ["[exact match]"]


@pytest.mark.timeout(20)
def test_long_names_take_no_time() -> None:
    for name in ("a" * 5000 + "-1-2-3-4-5", "a1" * 5000, "a-" * 5000 + "1"):
        assert list(writings(name)) == []
