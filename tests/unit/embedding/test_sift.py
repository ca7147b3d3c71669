"""A text at which a provider breaks down, though it answers others: found, set aside with its
reason, and nothing else is lost."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seoga.contracts.embedding import Context, Excerpt, PassageVectors, of_provider
from seoga.errors import EmbeddingFailed, ProviderFault
from seoga.models import ContextSpec, EmbeddingSpec
from seoga_embedding.engine import EmbeddingEngine
from seoga_embedding.remote import sender
from seoga_embedding.remote.faults import CallFailed, Late, LeftAlone, NotMade, Trouble
from seoga_embedding.remote.gate import FAILURES
from seoga_embedding.remote.sift import MOST_GUILTY, Sifting

from .conftest import Fake, bad, good, passages

Start = Callable[..., EmbeddingEngine]
Spec = Callable[..., EmbeddingSpec]
BREAKS = {
    "500": {"status": 500, "message": "internal"},
    "502": {"status": 502},
    "503": {"status": 503},
    "cut": {"kind": "cut"},
    "a page": {"kind": "html"},
}
WORD = "number 37"


class Provider:
    """Breaks down at a request that holds a bad text; dies after `life` calls."""

    def __init__(self, bad: set[int], life: int = 10**9) -> None:
        self.bad, self.life = bad, life
        self.calls = self.after = 0
        self.passed: list[int] = []

    def _come(self) -> None:
        self.calls += 1
        if self.calls > self.life:
            self.after += 1
            raise CallFailed(Trouble.OUTAGE, "dead")

    def send(self, texts: Sequence[int]) -> None:
        self._come()
        if set(texts) & self.bad:
            raise CallFailed(Trouble.OUTAGE, "internal")
        self.passed += texts

    def lives(self) -> bool:
        try:
            self._come()
        except CallFailed:
            return False
        return True

    def sift(self, count: int) -> Sifting:
        sifting = Sifting(self.send, self.lives)
        sifting.run(range(count), CallFailed(Trouble.OUTAGE, "internal"))
        return sifting


@given(st.integers(1, 200), st.sets(st.integers(0, 199), max_size=6))
def test_every_good_text_passes_once_and_every_bad_one_is_named(count: int, bad: set[int]) -> None:
    there = {text for text in bad if text < count}
    provider = Provider(there)
    assert set(provider.sift(count).guilty) == there
    assert sorted(provider.passed) == [text for text in range(count) if text not in there]


@pytest.mark.parametrize("count", [2, 3, 7, 64, 100, 128])
def test_one_bad_text_costs_two_calls_a_halving_and_few_more(count: int) -> None:
    for bad_one in range(count):
        provider = Provider({bad_one})
        provider.sift(count)
        # Whether the provider lives is asked once more at a halving whose second half is the bad.
        assert provider.calls <= 3 * math.ceil(math.log2(count)) + 2


@given(st.integers(2, 128), st.sets(st.integers(0, 127), max_size=3), st.integers(0, 30))
def test_a_provider_that_dies_meanwhile_is_left_alone_after_few_calls(
    count: int, bad: set[int], life: int
) -> None:
    provider = Provider(bad, life)
    sifting = Sifting(provider.send, provider.lives)
    with suppress(CallFailed):
        sifting.run(range(count), CallFailed(Trouble.OUTAGE, "internal"))
    assert set(sifting.guilty) <= bad
    assert provider.after <= FAILURES


def test_one_that_breaks_down_at_whatever_is_a_text_is_out_of_order() -> None:
    provider = Provider(set(range(1000)))
    with pytest.raises(CallFailed):
        provider.sift(1000)
    assert provider.calls <= 5 * MOST_GUILTY + 2 * math.log2(1000)


@pytest.mark.parametrize(
    "error",
    [CallFailed(Trouble.AUTH, "no key"), NotMade(Trouble.OUTAGE, "stopped")],
    ids=["refused", "stopped"],
)
def test_what_ends_all_ends_the_search(error: CallFailed) -> None:
    def send(_: Sequence[int]) -> None:
        raise error

    with pytest.raises(CallFailed) as caught:
        Sifting(send, lambda: True).run(range(8), CallFailed(Trouble.OUTAGE, "x"))
    assert caught.value is error


def test_a_door_that_others_closed_says_nothing_of_a_text() -> None:
    answers: list[CallFailed | None] = [LeftAlone(Trouble.OUTAGE, "closed"), None]

    def send(_: Sequence[int]) -> None:
        if (answer := answers.pop(0)) is not None:
            raise answer

    sifting = Sifting(send, lambda: True)
    sifting.run([5], LeftAlone(Trouble.OUTAGE, "closed"))
    assert (sifting.guilty, answers) == ({}, [])


def test_what_took_too_long_as_a_whole_only_is_named_for_the_next_time() -> None:
    sifting = Sifting(lambda _: None, lambda: True)
    sifting.run(range(4), Late(Trouble.OUTAGE, "late"))
    assert sifting.too_much == [range(4)]


@pytest.mark.parametrize("kind", BREAKS)
@pytest.mark.parametrize("lanes", [1, 4])
def test_one_text_that_breaks_a_provider_down_takes_no_other_with_it(
    fake: Fake, start: Start, spec_of: Spec, kind: str, lanes: int
) -> None:
    fake.faults({**BREAKS[kind], "word": WORD, "times": 10**6})
    engine = start(provider_calls=lanes)
    results = engine.embed_passages(passages(100), spec_of("openai", batch_size=32))
    assert [at for at, one in enumerate(results) if isinstance(one, EmbeddingFailed)] == [37]
    (failed,) = bad(results)
    assert failed.fault is ProviderFault.REJECTED
    assert "for this text alone" in failed.message
    # Four batches; four tries of the bad one, five halvings, and who wonders whether it lives.
    assert len(fake.calls("/embeddings")) <= 4 + 4 + (6 if kind == "a page" else 3) * 5 + 6
    assert len(good(engine.embed_passages(passages(30), spec_of("openai")))) == 30


def test_one_that_hangs_at_a_text_costs_only_that_text(
    fake: Fake, start: Start, spec_of: Spec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sender, "DOCUMENT_READ_S", 0.3)
    fake.faults({"kind": "slow", "seconds": 2.0, "word": WORD, "times": 10**6})
    results = start(provider_calls=1).embed_passages(passages(40), spec_of("openai", batch_size=10))
    assert len(good(results)) == 39
    assert bad(results)[0].fault is ProviderFault.REJECTED


def test_a_firewall_that_refuses_one_text_takes_no_other_with_it(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec
) -> None:
    spec = spec_of("openai", batch_size=32)
    engine.embed_query("warm", spec)
    fake.faults({"kind": "page", "status": 403, "word": WORD, "times": 10**6})
    results = engine.embed_passages(passages(100), spec)
    assert [at for at, one in enumerate(results) if isinstance(one, EmbeddingFailed)] == [37]
    assert bad(results)[0].fault is ProviderFault.REJECTED
    (context,) = contextualized(engine, fake, 1)
    assert isinstance(context, Context)
    fake.faults({"kind": "page", "status": 403, "word": "number 5.", "times": 10**6})
    contexts = contextualized(engine, fake, 8)
    assert [n for n, one in enumerate(contexts) if not isinstance(one, Context)] == [5]


@pytest.mark.parametrize(("warm", "most"), [(False, 1), (True, 2)])
def test_a_firewall_that_refuses_everything_costs_few_calls(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec, warm: bool, most: int
) -> None:
    spec = spec_of("openai")
    if warm:
        engine.embed_query("warm", spec)
    before = len(fake.calls("/embeddings"))
    fake.faults({"kind": "page", "status": 403, "times": 10**6})
    with pytest.raises(EmbeddingFailed) as caught:
        engine.embed_passages(passages(100), spec)
    assert caught.value.fault is ProviderFault.AUTH
    assert len(fake.calls("/embeddings")) - before <= most


def test_what_failed_only_for_a_while_is_no_text_s_fault(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec
) -> None:
    fake.faults({"status": 500, "times": 4})
    assert len(good(engine.embed_passages(passages(5), spec_of("openai")))) == 5


def test_a_provider_that_only_takes_the_harmless_text_sets_few_aside(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec
) -> None:
    fake.faults({"status": 500, "word": "passage number", "times": 10**6})
    results = engine.embed_passages(passages(300), spec_of("openai"))
    refused = [one for one in bad(results) if not of_provider(one)]
    assert len(bad(results)) == 300
    assert len(refused) == MOST_GUILTY
    assert len(fake.calls("/embeddings")) < 80


def test_a_word_alone_at_which_it_breaks_down_is_set_aside(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec
) -> None:
    fake.faults({"status": 500, "word": "number 0", "times": 10**6})
    (result,) = engine.embed_passages(passages(1), spec_of("openai"))
    assert isinstance(result, EmbeddingFailed)
    assert result.fault is ProviderFault.REJECTED


def contextualized(engine: EmbeddingEngine, fake: Fake, count: int) -> list[Any]:
    asked = [Excerpt(f"passage number {n}.") for n in range(count)]
    return list(engine.contextualize(asked, ContextSpec("openai", "some-llm", fake.url)))


@pytest.mark.parametrize("at", [0, 5])
@pytest.mark.parametrize("lanes", [1, 4])
def test_one_passage_that_breaks_an_llm_down_leaves_the_others_their_contexts(
    fake: Fake, start: Start, at: int, lanes: int
) -> None:
    engine = start(provider_calls=lanes)
    fake.faults({"status": 500, "word": f"number {at}.", "times": 10**6})
    results = contextualized(engine, fake, 12)
    assert [n for n, one in enumerate(results) if not isinstance(one, Context)] == [at]
    assert results[at].fault is ProviderFault.REJECTED
    assert "for this passage alone" in results[at].message
    fake.desk.reset()
    assert all(isinstance(one, Context) for one in contextualized(engine, fake, 12))


def test_an_llm_that_only_takes_the_harmless_question_is_soon_left_alone(
    fake: Fake, engine: EmbeddingEngine
) -> None:
    fake.faults({"status": 500, "word": "number", "times": 10**6})
    results = contextualized(engine, fake, 40)
    assert sum(not of_provider(one) for one in results) <= MOST_GUILTY + 3
    assert len(fake.calls("/chat")) < 90


@pytest.mark.parametrize("told", [{"retry_after": "0.3"}, {}], ids=["told how long", "told"])
def test_a_harmless_text_that_comes_too_fast_waits_and_is_asked_again(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec, told: dict[str, str]
) -> None:
    fake.faults(
        {"status": 500, "word": WORD, "times": 10**6},
        {"status": 429, "word": "['Seoga']", "times": 2, **told},
    )
    results = engine.embed_passages(passages(60), spec_of("openai", batch_size=32))
    assert [at for at, one in enumerate(results) if isinstance(one, EmbeddingFailed)] == [37]
    assert bad(results)[0].fault is ProviderFault.REJECTED


def test_a_harmless_question_that_comes_too_fast_waits_and_is_asked_again(
    fake: Fake, engine: EmbeddingEngine
) -> None:
    fake.faults(
        {"status": 500, "word": "number 5.", "times": 10**6},
        {"status": 429, "word": "Say yes", "times": 2, "retry_after": "0.3"},
    )
    results = contextualized(engine, fake, 12)
    assert [n for n, one in enumerate(results) if not isinstance(one, Context)] == [5]
    assert results[5].fault is ProviderFault.REJECTED


def test_one_that_is_always_too_fast_for_the_harmless_text_is_given_up_after_few_calls(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec
) -> None:
    fake.faults(
        {"status": 500, "word": WORD, "times": 10**6},
        {"status": 429, "word": "['Seoga']", "times": 10**6, "retry_after": "0.1"},
    )
    results = engine.embed_passages(passages(60), spec_of("openai", batch_size=32))
    assert {one.fault for one in bad(results)} == {ProviderFault.RATE}
    assert len(fake.calls("/embeddings")) <= 2 + FAILURES + FAILURES + 1


def test_vectors_are_what_they_would_have_been(fake: Fake, start: Start, spec_of: Spec) -> None:
    engine, spec = start(provider_calls=1), spec_of("openai", batch_size=16)
    plain = engine.embed_passages(passages(50), spec)
    fake.faults({"status": 500, "word": WORD, "times": 10**6})
    for at, (one, other) in enumerate(
        zip(plain, engine.embed_passages(passages(50), spec), strict=True)
    ):
        if at != 37:
            assert isinstance(one, PassageVectors)
            assert isinstance(other, PassageVectors)
            assert (one.vectors == other.vectors).all()
