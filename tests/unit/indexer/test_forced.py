"""What was there answers until a forced run or a new model has made its vectors; told so."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from seoga.cli.status import describe, lines
from seoga.contracts.indexing import Progress
from seoga.errors import SeogaError
from seoga.search.engine import search
from seoga.search.request import SearchRequest
from seoga_indexer.embedstage import BATCH

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


def test_progress_never_counts_more_waiting_passages_than_there_are(
    filled: Any, cancel: threading.Event
) -> None:
    place = filled
    place.embedding.model = "next"
    place.embedding.before = cancel.set
    place.run(cancel=cancel)
    place.embedding.before = lambda: None
    told: list[Progress] = []
    place.run(force=True, progress=told.append)
    assert told
    assert all(one.chunks_pending <= FILES for one in told)
    assert all(one.total <= FILES for one in told)


def test_passages_that_the_old_model_answers_are_not_said_to_be_found_by_words_only(
    filled: Any, cancel: threading.Event
) -> None:
    place = filled
    place.write("f000.md", "A new passage of budget plans.")
    place.embedding.model = "next"
    place.embedding.before = cancel.set
    place.run(cancel=cancel)
    place.embedding.model = "bytes"
    answer = search([place.kb], SearchRequest("budget plans"), place.embedding)
    assert answer.pending == 1
    assert [one for one in answer.warnings if "still to embed" in one] == [
        f"1 of {FILES} chunks still to embed: those are found by keyword only."
    ]
    told = lines(describe(place.base, place.kb, lambda kb: place.engine.stale(kb.id)))
    assert f"  chunks: {FILES}, 1 without vectors" in told
    made = f"  {BATCH} of {FILES} vectors of the new model are made"
    assert f"{made}; the previous model answers until then" in told


def test_vectors_that_are_made_anew_are_told_and_called_missing_by_nobody(
    filled: Any, cancel: threading.Event
) -> None:
    place = filled
    place.embedding.before = cancel.set
    place.run(force=True, cancel=cancel)
    assert search([place.kb], SearchRequest("budget plans"), place.embedding).pending == 0
    told = lines(describe(place.base, place.kb, lambda kb: place.engine.stale(kb.id)))
    assert f"  chunks: {FILES}, 0 without vectors" in told
    anew = f"  {FILES - BATCH} vectors are to be made anew"
    assert f"{anew}; the present ones answer until then" in told


def test_without_an_embedder_the_next_run_drops_the_vectors_and_nothing_is_old(
    filled: Any,
) -> None:
    place = filled
    place.configure("")
    assert set(place.engine.stale("kb")) == {"model"}
    place.run()
    assert place.engine.stale("kb") == {}
    assert place.engine.check_changes("kb").stale == ()
    assert place.query("SELECT count(*) FROM vectors") == [(0,)]
    assert serving(place) == {}
    told = lines(describe(place.base, place.kb, lambda kb: place.engine.stale(kb.id)))
    assert f"  chunks: {FILES}, found by words only: this knowledge base makes no vectors" in told
    with pytest.raises(SeogaError, match="makes no vectors"):
        search([place.kb], SearchRequest("budget plans", mode="vector"), place.embedding)
    assert search([place.kb], SearchRequest("budget plans"), place.embedding).warnings == ()
