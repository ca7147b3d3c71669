"""Vectors follow the text; a provider's errors cost few calls and lose nothing that came back."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from seoga.errors import EmbeddingFailed, MissingDependency, ProviderFault, ServiceUnavailable
from seoga_indexer import embedstage


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch, place: Any) -> None:
    monkeypatch.setattr(embedstage, "PAUSES_S", (0.0,))
    place.configure("hashing")


def many(place: Any, count: int) -> None:
    for number in range(count):
        place.write(f"f{number:03}.md", f"text number {number}")


def test_every_chunk_gets_its_vectors_once(place: Any) -> None:
    many(place, 200)
    result = place.run()
    assert result.deferred == 0
    assert place.query("SELECT count(*) FROM vectors") == [(200,)]
    assert sorted(place.embedding.texts) == sorted(f"text number {n}" for n in range(200))
    assert set(place.states().values()) == {"Ready"}
    place.check_whole()


def test_a_second_run_embeds_nothing(place: Any) -> None:
    many(place, 3)
    place.run()
    place.embedding.calls = 0
    place.run()
    assert place.embedding.calls == 0


def test_the_header_row_of_a_table_part_is_embedded_with_it(place: Any) -> None:
    rows = "\n".join(f"| {number} | value {number} |" for number in range(200))
    place.write("a.md", f"| id | amount |\n| --- | --- |\n{rows}")
    place.run()
    headers = place.query("SELECT count(*) FROM chunks WHERE header_row != ''")[0][0]
    with_header = [text for text in place.embedding.texts if "amount" in text]
    assert len(with_header) >= headers


def test_an_outage_costs_at_most_five_calls_and_keeps_the_text(place: Any) -> None:
    many(place, 300)
    place.embedding.faults = [EmbeddingFailed("down", fault=ProviderFault.OUTAGE)] * 99
    result = place.run()
    assert place.embedding.calls == 5
    assert result.deferred == 300
    assert "down" in result.warnings[0]
    assert result.exit_code == 0
    assert set(place.states().values()) == {"PartiallyDeferred"}
    assert len(place.found("number")) == 300
    assert place.query("SELECT DISTINCT attempts FROM chunks") == [(0,)]


def test_a_later_run_heals_what_an_outage_left(place: Any) -> None:
    many(place, 3)
    place.embedding.faults = [ServiceUnavailable("down")] * 5
    place.run()
    result = place.run()
    assert place.extraction.reads == []
    assert result.deferred == 0
    assert set(place.states().values()) == {"Ready"}


def test_a_refusal_of_the_key_is_not_tried_again_in_the_run(place: Any) -> None:
    many(place, 300)
    place.embedding.faults = [EmbeddingFailed("bad key", fault=ProviderFault.AUTH)] * 99
    result = place.run()
    assert place.embedding.calls == 1
    assert "bad key" in result.warnings[0]


def test_a_passing_fault_is_waited_out(place: Any) -> None:
    many(place, 3)
    place.embedding.faults = [EmbeddingFailed("slow down", fault=ProviderFault.RATE)] * 2
    result = place.run()
    assert place.embedding.calls == 3
    assert result.deferred == 0
    assert result.warnings == ()


def test_good_passages_are_kept_beside_a_bad_one(place: Any) -> None:
    many(place, 10)
    place.embedding.refused = {"number 4"}
    result = place.run()
    assert place.query("SELECT count(*) FROM vectors") == [(9,)]
    assert result.deferred == 1
    assert place.states()["f004.md"] == "PartiallyDeferred"


def test_a_passage_refused_three_times_is_failed_and_left_alone(place: Any) -> None:
    place.write("a.md", "\n\n".join(f"part {n} " * 120 for n in range(4)))
    place.embedding.refused = {"part 2"}
    place.run()
    place.run()
    assert place.states() == {"a.md": "Degraded embedding"}
    assert place.found("part") == ["a.md"]
    place.embedding.calls = 0
    place.run()
    assert place.embedding.calls == 0


def test_no_provider_means_ready_without_vectors(place: Any) -> None:
    place.configure("")
    many(place, 3)
    result = place.run()
    assert set(place.states().values()) == {"Ready"}
    assert result.deferred == 0
    assert place.embedding.calls == 0


def test_a_model_that_is_not_installed_leaves_a_keyword_index(place: Any) -> None:
    def missing(_: Any) -> Any:
        raise MissingDependency("no model here")

    many(place, 2)
    place.embedding.card = missing
    result = place.run()
    assert "no model here" in result.warnings[0]
    assert len(place.found("text")) == 2
    assert result.exit_code == 0


def test_another_model_embeds_all_chunks_again_without_reading_a_file(place: Any) -> None:
    many(place, 5)
    place.run()
    place.embedding.model = "other"
    place.embedding.texts.clear()
    place.run()
    assert place.extraction.reads == []
    assert len(place.embedding.texts) == 5
    assert place.query("SELECT status FROM generations") == [("live",)]
    assert place.query("SELECT count(*) FROM vectors") == [(5,)]


def test_partial_embedding_redoes_the_vectors_only(place: Any) -> None:
    many(place, 5)
    place.run()
    ids = place.query("SELECT id FROM chunks ORDER BY id")
    place.embedding.texts.clear()
    place.write("new.md", "not looked at")
    result = place.run(partial="embedding")
    assert place.extraction.reads == []
    assert len(place.embedding.texts) == 5
    assert place.query("SELECT id FROM chunks ORDER BY id") == ids
    assert (result.indexed, result.removed, result.deferred) == (0, 0, 0)


def test_an_edit_embeds_only_the_passages_that_changed(place: Any) -> None:
    parts = [f"part {n} " * 120 for n in range(6)]
    place.write("a.md", "\n\n".join(parts))
    place.run()
    chunks = len(place.embedding.texts)
    place.embedding.texts.clear()
    place.write("a.md", "\n\n".join([*parts[:5], "all new " * 120]))
    place.run()
    assert chunks >= 6
    assert len(place.embedding.texts) <= 2
    place.check_whole()


@pytest.mark.parametrize(
    "keys", [{"maxTokensPerRun": 1000}, {"maxCostPerRun": 0.002}], ids=["tokens", "cost"]
)
def test_a_spent_budget_ends_the_run_cleanly_and_the_next_goes_on(
    place: Any, keys: dict[str, Any]
) -> None:
    place.embedding.tokens, place.embedding.price = 10, 2.0
    place.configure("", embedding={"provider": "hashing", **keys})
    many(place, 300)
    result = place.run()
    assert place.embedding.calls == 1
    assert result.deferred == 300 - embedstage.BATCH
    assert next(iter(keys)) in result.warnings[0]
    assert result.exit_code == 0
    assert len(place.found("number")) == 300
    place.run()
    assert place.run().deferred == 0
    assert place.query("SELECT count(*) FROM vectors") == [(300,)]
    assert place.query("SELECT DISTINCT attempts FROM chunks") == [(0,)]


def test_a_limit_on_cost_without_a_price_says_what_is_missing(place: Any) -> None:
    place.embedding.tokens = 10
    place.configure("", embedding={"provider": "hashing", "maxCostPerRun": 1})
    many(place, 200)
    assert "pricePerMillion" in place.run().warnings[0]
    priced = {"provider": "hashing", "maxCostPerRun": 1, "pricePerMillion": 0.02}
    place.configure("", embedding=priced)
    assert place.run().deferred == 0


def test_what_was_not_reached_is_no_try_of_a_passage(place: Any) -> None:
    many(place, 10)
    place.embedding.unreached = {"number 4", "number 5"}
    for _ in range(4):
        result = place.run()
        assert result.deferred == 2
    place.embedding.unreached = set()
    assert place.run().deferred == 0
    assert set(place.states().values()) == {"Ready"}


def short_batches(monkeypatch: pytest.MonkeyPatch, place: Any, lanes: int) -> None:
    monkeypatch.setattr(embedstage, "BATCH", 10)
    place.embedding.lanes = lanes


def test_as_many_requests_are_under_way_as_the_model_works_on(
    place: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    short_batches(monkeypatch, place, 4)
    many(place, 170)
    together = threading.Barrier(4, timeout=20)
    place.embedding.before = lambda: None if place.embedding.calls == 1 else together.wait()
    result = place.run()
    assert (result.deferred, result.warnings) == (0, ())
    assert sorted(place.embedding.texts) == sorted(f"text number {n}" for n in range(170))
    assert place.query("SELECT count(*), count(DISTINCT chunk_id) FROM vectors") == [(170, 170)]
    place.check_whole()


def test_a_service_that_dies_with_requests_under_way_keeps_what_came(
    place: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    short_batches(monkeypatch, place, 4)
    many(place, 300)
    alive = threading.Semaphore(12)

    def die() -> None:
        if not alive.acquire(blocking=False):
            raise ServiceUnavailable("went away")

    place.embedding.before = die
    result = place.run()
    assert place.embedding.calls <= 12 + 4 + 5
    assert result.deferred == 300 - 120
    assert "went away" in result.warnings[0]
    assert place.query("SELECT count(*), count(DISTINCT chunk_id) FROM vectors") == [(120, 120)]
    place.embedding.before = lambda: None
    assert place.run().deferred == 0
    assert len(place.embedding.texts) == 300
    place.check_whole()


def test_what_spends_a_budget_goes_one_by_one(place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    short_batches(monkeypatch, place, 4)
    place.configure(embedding={"provider": "hashing", "maxTokensPerRun": 100})
    place.embedding.tokens = 10
    many(place, 60)
    assert place.run().deferred == 50


@pytest.mark.parametrize("lanes", [1, 4])
def test_vectors_of_a_slow_provider_are_stored_call_by_call(place: Any, lanes: int) -> None:
    place.embedding.lanes, place.embedding.batch = lanes, 8
    many(place, 150)
    place.embedding.before = lambda: threading.Event().wait(1.1) if calls() == 1 else hang()
    hung = threading.Event()

    def calls() -> int:
        return int(place.embedding.calls)

    def hang() -> None:
        # What came before is in the index while this call hangs.
        for _ in range(100):
            if place.query("SELECT count(*) FROM vectors") == [(8 * lanes,)]:
                hung.set()
                break
            threading.Event().wait(0.05)
        place.embedding.before = lambda: None

    assert place.run().deferred == 0
    assert hung.is_set()
    assert place.query("SELECT count(*), count(DISTINCT chunk_id) FROM vectors") == [(150, 150)]


def test_a_quick_provider_is_asked_for_as_many_as_ever(place: Any) -> None:
    place.embedding.batch = 8
    many(place, 8 + 3 * embedstage.BATCH)
    place.run()
    assert place.embedding.calls == 4
