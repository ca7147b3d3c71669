"""The nouns survive JSON, and places join into spans."""

from hypothesis import given
from hypothesis import strategies as st

from seoga.models import DocumentInfo, Place, Section, SectionKind

PLACES = st.builds(
    Place,
    page=st.none() | st.integers(1, 9),
    sheet=st.none() | st.text(max_size=3),
    cells=st.none() | st.just("A1:B2"),
    line_start=st.none() | st.integers(1, 9),
    start_s=st.none() | st.floats(0, 9),
)


@given(PLACES)
def test_a_place_survives_json_and_says_only_what_is_set(place: Place) -> None:
    data = place.to_json()
    assert None not in data.values()
    assert Place.from_json(data) == place


@given(st.text(), PLACES, st.lists(st.text(max_size=5), max_size=3), st.sampled_from(SectionKind))
def test_a_section_survives_json(
    text: str, place: Place, path: list[str], kind: SectionKind
) -> None:
    section = Section(text, kind, tuple(path), len(path), place, {"key": "값"})
    assert Section.from_json(section.to_json()) == section


def test_document_info_survives_json() -> None:
    info = DocumentInfo("pdf", "제목", {"pages": 3})
    assert DocumentInfo.from_json(info.to_json()) == info


def test_keys_of_a_newer_release_are_ignored_in_a_place() -> None:
    assert Place.from_json({"page": 2, "galaxy": 7}) == Place(page=2)


def test_a_span_of_pages_names_first_and_last() -> None:
    assert Place(page=2).until(Place(page=4)) == Place(page=2, page_end=4)
    assert Place(page=2).until(Place(page=2)) == Place(page=2)
    assert Place(page=2, page_end=3).until(Place(page=3)) == Place(page=2, page_end=3)


def test_a_span_of_lines_and_seconds_runs_to_the_later_end() -> None:
    lines = Place(line_start=3, line_end=4).until(Place(line_start=6, line_end=9))
    assert (lines.line_start, lines.line_end) == (3, 9)
    heard = Place(start_s=0.0, end_s=1.5).until(Place(start_s=1.5, end_s=4.0))
    assert (heard.start_s, heard.end_s) == (0.0, 4.0)


def test_page_number_zero_is_a_value_not_an_absence() -> None:
    assert Place(page=0).until(Place(page=1)).page == 0
