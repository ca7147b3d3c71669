"""The noise floor: measured once for a state of the vectors, and never a setting by itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from seoga.search import calibrate
from seoga.search.readers import reading

from .conftest import SPEC, Shelf

TOPICS = ("ferry", "harbour", "vacation", "printer", "invoice", "backup", "harvest", "violin")


def fill(shelf: Shelf, count: int) -> None:
    for n in range(count):
        topic, other = TOPICS[n % len(TOPICS)], TOPICS[(3 * n + 1) % len(TOPICS)]
        shelf.put(f"{n}.md", f"The {topic} of the {n}th day is told here, beside a word on {other}")
    shelf.embed()


def measured(shelf: Shelf) -> calibrate.Calibration:
    def embed(texts: Sequence[str]) -> list[np.ndarray]:
        return shelf.embedder.embed_queries(texts, SPEC)

    with reading(shelf.kb.db_path) as conn:
        found = calibrate.calibrate(conn, embed)
    assert found is not None
    return found


def test_the_suggestion_is_the_next_twentieth_above_the_p99(shelf: Shelf) -> None:
    fill(shelf, 80)
    found = measured(shelf)
    assert found.pairs == 2_000
    assert found.low <= found.p99 <= found.high
    assert 0 < found.suggested - found.p99 <= 0.05 + 1e-9
    assert found.suggested * 20 == pytest.approx(round(found.suggested * 20))


def test_a_small_corpus_says_how_few_pairs_it_has(shelf: Shelf) -> None:
    fill(shelf, 6)
    found = measured(shelf)
    assert 20 <= found.pairs <= 30
    line = found.line(0.55, "the model registry")
    assert f"over {found.pairs} random pairs" in line
    # What is true of so few passages may be anything: no value is suggested anywhere.
    assert "6 passages say too little to suggest a minScore (in use: 0.55" in line
    shelf.store.set_meta(calibrate.KEY, calibrate.to_text(found))
    with reading(shelf.kb.db_path) as conn:
        report = calibrate.report(conn, None)
    assert report is not None
    assert report["suggested"] is None
    assert "say too little" in report["advice"]


def test_the_best_of_many_is_told_for_each_length_of_a_query(shelf: Shelf) -> None:
    fill(shelf, 60)
    found = measured(shelf)
    assert list(found.best_of) == ["1-2 words", "3-6 words", "7+ words"]
    # The best of sixty strangers is nearer than one of them, which is why both are told.
    assert all(best["p50"] <= best["p99"] for best in found.best_of.values())
    assert found.passages == 60


def test_the_sentence_is_the_one_of_the_specification() -> None:
    found = calibrate.Calibration("m", "s", 2_000, 0.421, 0.4, 0.44, 0.45, 500)
    assert found.line(0.55, "the model registry") == (
        "Calibration: background noise p99 = 0.421 over 2,000 random pairs -> suggested minScore"
        " 0.45 (in use: 0.55, from the model registry)"
    )


def test_the_same_vectors_are_not_measured_again_and_new_ones_are(shelf: Shelf) -> None:
    fill(shelf, 10)
    found = measured(shelf)
    shelf.store.set_meta(calibrate.KEY, calibrate.to_text(found))
    with reading(shelf.kb.db_path) as conn:
        assert calibrate.stored(conn) == found
        assert calibrate.is_fresh(conn, found)
    shelf.put("new.md", "Something new about violins")
    shelf.embed()
    with reading(shelf.kb.db_path) as conn:
        assert not calibrate.is_fresh(conn, found)


def test_numbers_of_another_model_do_not_count(shelf: Shelf) -> None:
    fill(shelf, 10)
    shelf.store.set_meta(calibrate.KEY, calibrate.to_text(measured(shelf)))
    shelf.embedder.digest = "2"
    shelf.generation = shelf.store.ensure_generation(shelf.embedder.card(SPEC))
    shelf.embed()
    with reading(shelf.kb.db_path) as conn:
        assert calibrate.stored(conn) is None


def test_the_same_index_gives_the_same_numbers(shelf: Shelf) -> None:
    fill(shelf, 30)
    assert measured(shelf) == measured(shelf)


def test_one_document_alone_has_no_background(shelf: Shelf) -> None:
    shelf.put("a.md", "one\n\ntwo\n\nthree")
    shelf.embed()
    with reading(shelf.kb.db_path) as conn:
        assert calibrate.calibrate(conn) is None
        assert calibrate.line_of(conn, None, None) == ""
