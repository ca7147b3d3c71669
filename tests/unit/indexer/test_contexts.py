"""Contexts come between chunking and commit 1; what an LLM does wrong costs a context, no file."""

from __future__ import annotations

from typing import Any

import pytest

from seoga.errors import EmbeddingFailed, MissingDependency, ProviderFault, ServiceUnavailable

LLM = {"provider": "openai", "model": "m1"}


@pytest.fixture(autouse=True)
def llm(place: Any) -> None:
    place.configure("hashing", contextualizer=LLM)


def down() -> EmbeddingFailed:
    return EmbeddingFailed("the LLM is down", fault=ProviderFault.OUTAGE)


def contexts(place: Any) -> list[tuple[str, str]]:
    return [tuple(row) for row in place.query("SELECT context, keywords FROM chunks ORDER BY id")]


def long_text() -> str:
    return "\n\n".join(f"part {n} " * 120 for n in range(6))


def test_every_chunk_is_set_in_its_document_before_it_is_stored(place: Any) -> None:
    place.write("a.md", long_text())
    result = place.run()
    found = contexts(place)
    assert len(found) >= 6
    assert set(found) == {("m1 says of a", "열쇠말, keyphrase")}
    assert place.found("keyphrase") == ["a.md"]
    assert place.found("열쇠말") == ["a.md"]
    assert place.found("says") == ["a.md"]
    assert place.query("SELECT count(*) FROM chunks WHERE text LIKE '%says%'") == [(0,)]
    assert place.states() == {"a.md": "Ready"}
    assert result.warnings == ()
    place.check_whole()


def test_the_prompt_sees_what_stands_around_a_chunk(place: Any) -> None:
    place.write("a.md", long_text())
    place.run()
    first, *_, last = place.embedding.excerpts
    assert first.before == ""
    assert first.after
    assert last.after == ""
    assert last.before
    assert {excerpt.title for excerpt in place.embedding.excerpts} == {"a"}


def test_context_and_keywords_are_embedded_with_the_text(place: Any) -> None:
    place.write("a.md", "plain words")
    place.run()
    (passage,) = place.embedding.passages
    assert "m1 says of a" in passage.context
    assert "keyphrase" in passage.context
    assert passage.text == "plain words"


def test_a_second_run_asks_nothing(place: Any) -> None:
    place.write("a.md", "plain words")
    place.run()
    place.embedding.excerpts.clear()
    place.run()
    assert place.embedding.excerpts == []


def test_an_outage_leaves_chunks_raw_found_and_healed_by_a_later_run(place: Any) -> None:
    place.write("a.md", long_text())
    place.write("b.md", "other words")
    place.embedding.context_faults = [down(), down()]
    result = place.run()
    assert set(place.states().values()) == {"Degraded context"}
    assert any("the LLM is down" in warning for warning in result.warnings)
    assert result.exit_code == 0
    assert place.found("part") == ["a.md"]
    assert place.found("keyphrase") == []
    assert place.query("SELECT count(*) FROM chunks WHERE state != 'Indexed'") == [(0,)]
    healed = place.run()
    assert healed.warnings == ()
    assert set(place.states().values()) == {"Ready"}
    assert place.found("keyphrase") == ["a.md", "b.md"]
    assert {context for context, _ in contexts(place)} == {"m1 says of a", "m1 says of b"}
    place.check_whole()


def test_an_llm_that_is_down_is_asked_twice_in_a_run(place: Any) -> None:
    for number in range(20):
        place.write(f"f{number}.md", f"text {number}")
    place.embedding.context_faults = [down() for _ in range(99)]
    place.run()
    # The threads that index files may each have a call under way.
    assert 2 <= 99 - len(place.embedding.context_faults) <= 4


def test_a_refused_key_or_a_missing_model_ends_the_asking_at_once(place: Any) -> None:
    place.write("a.md", long_text())
    for error in (
        EmbeddingFailed("bad key", fault=ProviderFault.AUTH),
        MissingDependency("no such model"),
    ):
        place.embedding.context_faults = [error]
        result = place.run()
        assert place.embedding.excerpts == []
        assert any(error.message in warning for warning in result.warnings)


def test_one_answer_that_cannot_be_read_leaves_one_chunk_raw(place: Any) -> None:
    place.write("a.md", long_text())
    place.embedding.unanswered = {"part 3"}
    place.run()
    assert place.states() == {"a.md": "Degraded context"}
    raw = [text for text, _ in contexts(place) if not text]
    assert 1 <= len(raw) < len(contexts(place))
    (detail,) = place.query("SELECT detail FROM files")
    assert "no context in the answer" in detail[0]
    indexed = place.query("SELECT id FROM chunks WHERE context != '' ORDER BY id")
    place.embedding.unanswered = set()
    place.run()
    assert place.states() == {"a.md": "Ready"}
    # What had its context keeps its id, and so its vectors.
    assert set(indexed) <= set(place.query("SELECT id FROM chunks"))
    place.check_whole()


def test_a_passage_that_was_given_up_leaves_its_file_done(place: Any) -> None:
    place.write("a.md", long_text())
    place.embedding.given_up, place.embedding.unanswered = {"part 1"}, {"part 3"}
    place.run()
    assert place.states() == {"a.md": "Degraded context"}
    ((detail,),) = place.query("SELECT detail FROM files")
    assert "of them for good: no context in the answer" in detail
    place.embedding.unanswered = set()
    place.run()
    assert place.states() == {"a.md": "Degraded no_context"}
    ((detail,),) = place.query("SELECT detail FROM files")
    assert detail.endswith("have no context for good: refused three times")
    assert place.found("part") == ["a.md"]
    asked = len(place.embedding.excerpts)
    assert place.engine.check_changes("kb").is_clean
    assert place.run().skipped == 1
    assert len(place.embedding.excerpts) == asked
    place.check_whole()


def test_one_that_was_given_up_under_new_words_keeps_its_context_and_ends_the_redo(
    place: Any,
) -> None:
    place.write("a.md", "plain words")
    place.write("b.md", "other words")
    place.run()
    place.embedding.prompt_word, place.embedding.given_up = "more ", {"other"}
    assert place.run(partial="contextualization").indexed == 2
    assert {context for context, _ in contexts(place)} == {"m1 says more of a", "m1 says of b"}
    assert place.states() == {"a.md": "Ready", "b.md": "Ready"}
    assert place.query("SELECT 1 FROM meta WHERE key = 'redo'") == []
    assert place.engine.check_changes("kb").is_clean


@pytest.mark.parametrize(
    "change", [{"contextualizer": LLM | {"model": "m2"}}, {"systemPrompt": "Other words."}]
)
def test_another_model_or_prompt_asks_again(place: Any, change: dict[str, Any]) -> None:
    place.write("a.md", "plain words")
    place.run()
    asked = len(place.embedding.excerpts)
    place.configure("hashing", **{"contextualizer": LLM, **change})
    place.run()
    assert len(place.embedding.excerpts) == asked + 1
    place.check_whole()


def test_contexts_go_when_the_llm_is_taken_out_of_the_config(place: Any) -> None:
    place.write("a.md", "plain words")
    place.run()
    place.configure("hashing")
    place.run()
    assert contexts(place) == [("", "")]
    assert place.found("keyphrase") == []
    assert place.states() == {"a.md": "Ready"}
    place.check_whole()


def test_partial_contextualization_asks_again_and_keeps_extraction(place: Any) -> None:
    place.write("a.md", "plain words")
    place.run()
    result = place.run(partial="contextualization")
    assert len(place.embedding.excerpts) == 2
    assert place.states() == {"a.md": "Ready"}
    assert result.deferred == 0
    place.check_whole()


def test_partial_contextualization_needs_no_source_and_loses_none_of_it(place: Any) -> None:
    place.write("a.md", long_text())
    place.write("b.md", "other words")
    place.run()
    before = place.query("SELECT ordinal, text, place FROM chunks ORDER BY text")
    made = place.query("SELECT path, made, hash, text_chars FROM files ORDER BY path")
    said = place.query("SELECT body, keywords FROM chunks_fts ORDER BY body")
    (place.docs / "b.md").unlink()
    place.write("c.md", "a new file waits for a run that looks for files")
    place.docs.rename(place.docs.with_name("away"))
    place.extraction.describe = lambda: 1 / 0
    place.embedding.prompt_word = "more "
    result = place.run(partial="contextualization")
    assert (result.indexed, result.removed, result.warnings) == (2, 0, ())
    assert place.extraction.reads == []
    assert {context for context, _ in contexts(place)} == {"m1 says more of a", "m1 says more of b"}
    assert place.query("SELECT ordinal, text, place FROM chunks ORDER BY text") == before
    assert place.query("SELECT path, made, hash, text_chars FROM files ORDER BY path") == made
    assert place.states() == {"a.md": "Ready", "b.md": "Ready"}
    # The keywords of the first time are not there twice.
    assert place.query("SELECT body, keywords FROM chunks_fts ORDER BY body") == said
    place.check_whole()


def test_a_chunk_that_gets_no_new_context_keeps_its_own_and_is_asked_for_later(
    place: Any,
) -> None:
    place.write("a.md", long_text())
    place.write("b.md", "other words")
    place.run()
    place.embedding.prompt_word = "more "
    place.embedding.unanswered = {"part 3", "other"}
    assert place.run(partial="contextualization").exit_code == 0
    said = {context for context, _ in contexts(place)}
    assert said == {"m1 says of a", "m1 says more of a", "m1 says of b"}
    assert set(place.states().values()) == {"Ready"}
    place.embedding.unanswered = set()
    place.run()
    assert {"m1 says more of a", "m1 says of b"} == {context for context, _ in contexts(place)}
    place.check_whole()


def test_a_partial_contextualization_that_gets_nothing_changes_nothing_and_is_not_over(
    place: Any,
) -> None:
    for number in range(6):
        place.write(f"f{number}.md", f"text {number}")
    place.run()
    before = contexts(place)
    place.embedding.prompt_word = "more "
    place.embedding.context_faults = [down() for _ in range(9)]
    failed = place.run(partial="contextualization")
    assert any("the LLM is down" in warning for warning in failed.warnings)
    assert (failed.indexed, contexts(place)) == (0, before)
    assert set(place.states().values()) == {"Ready"}
    assert place.query("SELECT 1 FROM meta WHERE key = 'redo'") == [(1,)]
    place.embedding.context_faults = []
    assert place.run(partial="contextualization").indexed == 6
    assert all("more" in context for context, _ in contexts(place))
    assert place.query("SELECT 1 FROM meta WHERE key = 'redo'") == []


@pytest.mark.parametrize("keys", [{"maxTokensPerRun": 100}, {"maxCostPerRun": 0.001}])
def test_a_spent_budget_leaves_the_rest_raw_for_the_next_run(
    place: Any, keys: dict[str, Any]
) -> None:
    place.configure("hashing", contextualizer=LLM | keys)
    for number in range(8):
        place.write(f"f{number}.md", f"text {number}")
    result = place.run()
    assert any(next(iter(keys)) in warning for warning in result.warnings)
    assert 1 <= place.embedding.contexts < 8
    place.configure("hashing", contextualizer=LLM)
    place.run()
    assert set(place.states().values()) == {"Ready"}


def test_a_kb_without_an_llm_is_not_asked_for_one(place: Any) -> None:
    place.configure("hashing", contextualizer={"provider": "openai", "model": ""})
    place.write("a.md", "plain words")
    place.run()
    assert place.embedding.excerpts == []
    assert contexts(place) == [("", "")]


def test_a_dry_run_sees_contexts_as_up_to_date_and_another_model_as_work(place: Any) -> None:
    place.write("a.md", "plain words")
    place.run()
    assert place.engine.check_changes("kb").is_clean
    place.configure("hashing", contextualizer=LLM | {"model": "m2"})
    assert not place.engine.check_changes("kb").is_clean
    place.run()
    assert place.engine.check_changes("kb").is_clean


def test_an_llm_comes_to_an_index_that_was_made_without(place: Any) -> None:
    place.configure("hashing")
    place.write("a.md", "plain words")
    place.run()
    place.configure("hashing", contextualizer=LLM)
    place.run()
    assert place.found("keyphrase") == ["a.md"]
    assert place.query("SELECT count(*) FROM vectors") == [(1,)]
    place.check_whole()


def test_another_built_in_prompt_asks_again_and_a_silent_service_does_not(place: Any) -> None:
    place.write("a.md", "plain words")
    place.run()
    place.embedding.context_faults = [ServiceUnavailable("the service is away")]
    place.run()
    assert len(place.embedding.excerpts) == 1
    assert place.engine.check_changes("kb").is_clean
    place.embedding.context_faults = []
    place.embedding.prompt = "p2"
    assert not place.engine.check_changes("kb").is_clean
    place.run()
    assert len(place.embedding.excerpts) == 2
    assert place.engine.check_changes("kb").is_clean
