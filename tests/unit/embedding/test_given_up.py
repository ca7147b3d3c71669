"""A passage that fails for its own sake is asked about three times, whatever the runs; what fails
for the provider's sake is asked about until it is there."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from seoga.contracts.embedding import Context, Excerpt
from seoga.errors import EmbeddingFailed, SeogaError
from seoga.models import ContextSpec
from seoga.storage.embedding import FILE
from seoga.storage.migrate import APPLICATION_ID, migrations
from seoga_embedding.engine import EmbeddingEngine

from .conftest import KEY, Fake

Start = Callable[..., EmbeddingEngine]
BAD = Excerpt("the word poison is in it", title="T")
GOOD = Excerpt("something else", title="T")
FOR_EVER = 10**6
OWN = {
    "refused": {"status": 400, "message": "content_filter", "word": "poison"},
    "breaks down": {"status": 500, "message": "internal", "word": "poison"},
    "cut": {"kind": "cut", "word": "poison"},
    "a page in its place": {"kind": "html", "word": "poison"},
    "too large": {"status": 413, "message": "payload too large", "word": "poison"},
}
OF_ALL = {
    "refused key": {"status": 401},
    "outage": {"status": 503},
    "too fast": {"status": 429, "retry_after": "900"},
    "no credit": {"status": 402},
    "all refused": {"status": 400, "message": "your credit balance is too low"},
    "all answered by a page": {"kind": "html"},
    "a parameter": {"status": 400, "message": "unsupported parameter: max_tokens"},
}


def spec(fake: Fake, **changes: Any) -> ContextSpec:
    return ContextSpec("openai", changes.pop("model", "some-llm"), fake.url, **changes)


def asked(fake: Fake, start: Start, excerpt: Excerpt, wanted: ContextSpec) -> tuple[int, Any]:
    """How many calls one excerpt takes in a process of its own, and what comes of it."""
    before = len(fake.calls())
    engine, outcome = start(), None
    try:
        (outcome,) = engine.contextualize([excerpt], wanted)
    except SeogaError as error:
        outcome = error
    finally:
        engine.close()
    return len(fake.calls()) - before, outcome


def give_up(fake: Fake, start: Start) -> None:
    fake.faults({**OWN["refused"], "times": FOR_EVER})
    for _ in range(3):
        assert asked(fake, start, BAD, spec(fake))[0]


@pytest.mark.parametrize("fault", OWN.values(), ids=OWN)
def test_a_passage_that_fails_by_itself_is_asked_about_three_times_and_no_more(
    fake: Fake, start: Start, fault: dict[str, Any]
) -> None:
    fake.faults({**fault, "times": FOR_EVER})
    for tries in (1, 2, 3):
        calls, error = asked(fake, start, BAD, spec(fake))
        assert calls >= 1
        assert isinstance(error, EmbeddingFailed)
        assert error.final is (tries == 3)
    for changes in ({}, {"fresh": True}):
        calls, last = asked(fake, start, BAD, spec(fake, **changes))
        assert (calls, last.final, last.message) == (0, True, error.message)
        assert KEY not in last.message
    assert isinstance(asked(fake, start, GOOD, spec(fake))[1], Context)


def test_an_answer_that_cannot_be_read_counts_too(fake: Fake, start: Start) -> None:
    fake.rules(answer="I cannot do that.")
    found = [asked(fake, start, BAD, spec(fake)) for _ in range(5)]
    assert [calls for calls, _ in found] == [1, 1, 1, 0, 0]
    assert [error.final for _, error in found] == [False, False, True, True, True]
    assert "without a context" in found[-1][1].message


@pytest.mark.parametrize("fault", OF_ALL.values(), ids=OF_ALL)
def test_what_all_passages_meet_counts_for_none(
    fake: Fake, start: Start, fault: dict[str, Any]
) -> None:
    fake.faults({**fault, "times": FOR_EVER})
    for _ in range(5):
        calls, error = asked(fake, start, BAD, spec(fake))
        assert calls >= 1
        assert not getattr(error, "final", False)
    fake.desk.reset()
    assert isinstance(asked(fake, start, BAD, spec(fake))[1], Context)


@pytest.mark.parametrize(
    ("excerpt", "changes"),
    [
        (BAD, {"model": "other-llm"}),
        (BAD, {"prompt": "Other words."}),
        (Excerpt("poison and more", title="T"), {}),
    ],
    ids=["model", "prompt", "text"],
)
def test_another_model_prompt_or_text_is_asked_about_anew(
    fake: Fake, start: Start, excerpt: Excerpt, changes: dict[str, Any]
) -> None:
    give_up(fake, start)
    calls, error = asked(fake, start, excerpt, spec(fake, **changes))
    assert calls
    assert not error.final


def test_force_asks_again_and_gives_three_tries_more(fake: Fake, start: Start) -> None:
    give_up(fake, start)
    calls, error = asked(fake, start, BAD, spec(fake, forced=True))
    assert calls
    assert not error.final
    found = [asked(fake, start, BAD, spec(fake)) for _ in range(4)]
    assert [calls > 0 for calls, _ in found] == [True, True, False, False]
    fake.desk.reset()
    assert isinstance(asked(fake, start, BAD, spec(fake, forced=True))[1], Context)
    assert asked(fake, start, BAD, spec(fake))[0] == 0
    # What was answered once has all its tries.
    fake.faults({**OWN["refused"], "times": FOR_EVER})
    assert not asked(fake, start, BAD, spec(fake, fresh=True))[1].final


def test_a_lost_database_costs_three_tries_more(fake: Fake, start: Start, tmp_path: Path) -> None:
    give_up(fake, start)
    for file in (tmp_path / "base").glob(f"{FILE}*"):
        file.unlink()
    found = [asked(fake, start, BAD, spec(fake)) for _ in range(5)]
    assert [calls > 0 for calls, _ in found] == [True, True, True, False, False]


def test_a_forecast_leaves_out_what_is_given_up(fake: Fake, start: Start) -> None:
    give_up(fake, start)
    engine = start()
    assert engine.forecast_contexts([GOOD, BAD], spec(fake)).asked == (0,)
    assert engine.forecast_contexts([GOOD, BAD], spec(fake, fresh=True)).asked == (0,)
    assert engine.forecast_contexts([GOOD, BAD], spec(fake, forced=True)).asked == (0, 1)


def test_a_forecast_reads_a_database_of_before(fake: Fake, start: Start, tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    with closing(sqlite3.connect(tmp_path / "base" / FILE, isolation_level=None)) as old:
        for script in migrations("embedding")[:2]:
            old.executescript(script)
        old.execute("PRAGMA user_version = 2")
        old.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    assert start().forecast_contexts([GOOD, BAD], spec(fake)).asked == (0, 1)
    give_up(fake, start)
    assert start().forecast_contexts([GOOD, BAD], spec(fake)).asked == (0,)


def test_many_at_which_it_breaks_down_are_given_up_in_the_end(fake: Fake, start: Start) -> None:
    many = [Excerpt(f"poison {number}", title="T") for number in range(12)]
    fake.faults({**OWN["breaks down"], "times": FOR_EVER})
    for _ in range(9):
        engine = start(provider_calls=1)
        engine.contextualize([GOOD, *many], spec(fake, fresh=True))
        engine.close()
    before = len(fake.calls())
    results = start().contextualize([GOOD, *many], spec(fake))
    assert [getattr(one, "final", False) for one in results] == [False, *[True] * 12]
    assert len(fake.calls()) == before


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize("odd", [False, True], ids=["refused", "unreadable"])
def test_a_question_that_fails_in_three_batches_goes_with_no_fourth(
    fake: Fake, start: Start, provider: str, odd: bool
) -> None:
    wanted = ContextSpec(provider, "some-llm", fake.url, batch=True)
    if odd:
        fake.rules(answer="I cannot do that.")
    else:
        fake.rules(refuse=["poison"])
    sent = []
    for _ in range(5):
        engine = start()
        results = engine.contextualize([BAD], wanted)
        engine.batch_contexts(wanted, send=True)
        engine.batch_contexts(wanted, send=False)
        engine.close()
        made = [one for one in fake.calls("/batches") if one["method"] == "POST"]
        sent.append(len(made))
    assert sent == [1, 2, 3, 3, 3]
    (error,) = results
    assert isinstance(error, EmbeddingFailed)
    assert error.final
    assert ("without a context" if odd else "refused") in error.message
