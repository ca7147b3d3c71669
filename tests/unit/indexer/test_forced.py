"""A forced run makes everything anew; what was there answers until then."""

from __future__ import annotations

import threading
from typing import Any

import pytest

FILES = 200


@pytest.fixture
def filled(place: Any) -> Any:
    """Two hundred passages with vectors of a first model; two requests make them."""
    place.configure("hashing")
    for number in range(FILES):
        place.write(f"f{number:03}.md", f"Document {number} speaks of budget plans.")
    place.run()
    return place


def serving(place: Any) -> dict[str, int]:
    """Vectors by the state of their generation."""
    return dict(
        place.query(
            "SELECT g.status, count(v.chunk_id) FROM generations g"
            " LEFT JOIN vectors v ON v.generation = g.id GROUP BY g.status"
        )
    )


def test_a_forced_run_with_a_new_model_that_is_stopped_leaves_the_old_vectors_serving(
    filled: Any, cancel: threading.Event
) -> None:
    place = filled
    place.write("f000.md", "Something else altogether.")
    place.embedding.model = "next"
    place.embedding.before = cancel.set
    assert place.run(force=True, cancel=cancel).status == "cancelled"
    assert len(place.extraction.reads) == FILES
    kept = serving(place)
    assert kept["live"] == FILES - 1
    assert 0 < kept["building"] < FILES
    place.embedding.before = lambda: None
    place.run()
    assert serving(place) == {"live": FILES}
    place.check_whole()


def test_a_forced_run_with_the_same_model_makes_all_vectors_anew_and_drops_none_before(
    filled: Any, cancel: threading.Event
) -> None:
    place = filled
    place.embedding.before = cancel.set
    place.run(force=True, cancel=cancel)
    assert serving(place) == {"live": FILES}
    waiting = "SELECT count(*) FROM chunks WHERE state = 'PendingEmbedding'"
    assert 0 < place.query(waiting)[0][0] < FILES
    place.embedding.before = lambda: None
    place.run(force=True)
    assert serving(place) == {"live": FILES}
    assert place.query(waiting) == [(0,)]
    assert len(set(place.embedding.texts)) == FILES
    assert len(place.embedding.texts) >= 2 * FILES
    place.check_whole()
