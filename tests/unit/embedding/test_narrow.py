"""From a refused batch to the text that is refused: few calls, and nothing else is lost."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seoga_embedding.remote.faults import CallFailed, Trouble
from seoga_embedding.remote.narrow import Narrowing


class Provider:
    """Refuses a request that holds a bad text; counts calls and keeps what passed."""

    def __init__(self, bad: set[int], *, trouble: Trouble = Trouble.INPUT, names: bool = False):
        self.bad, self.trouble, self.names = bad, trouble, names
        self.calls = 0
        self.most = 10**9
        self.passed: list[int] = []
        self.probe_fails = False

    def send(self, texts: Sequence[int]) -> None:
        self.calls += 1
        if len(texts) > self.most:
            raise CallFailed(Trouble.SIZE, "too many")
        wrong = [number for number, text in enumerate(texts) if text in self.bad]
        if wrong:
            raise CallFailed(self.trouble, "refused", at=wrong[0] if self.names else None)
        self.passed += texts

    def probe(self) -> None:
        self.calls += 1
        if self.probe_fails:
            raise CallFailed(Trouble.INPUT, "refused")

    def run(self, count: int) -> Narrowing:
        narrowing = Narrowing(self.send, self.probe)
        narrowing.run(range(count))
        return narrowing


def test_all_is_well_with_one_call() -> None:
    provider = Provider(set())
    assert provider.run(1250).refused == {}
    assert provider.calls == 1


@pytest.mark.parametrize("count", [2, 3, 7, 64, 100, 333, 1000, 1250])
def test_one_bad_text_is_found_in_at_most_two_calls_a_halving_and_two(count: int) -> None:
    for bad in range(count):
        provider = Provider({bad})
        assert set(provider.run(count).refused) == {bad}
        assert provider.calls <= 2 * math.log2(count) + 2
        assert sorted(provider.passed) == [text for text in range(count) if text != bad]


def test_a_provider_that_names_the_text_costs_three_calls() -> None:
    provider = Provider({777}, names=True)
    assert set(provider.run(1250).refused) == {777}
    assert provider.calls == 3


@given(st.integers(1, 200), st.sets(st.integers(0, 199), max_size=12), st.booleans())
def test_every_good_text_passes_once_and_every_bad_one_is_named(
    count: int, bad: set[int], names: bool
) -> None:
    there = {text for text in bad if text < count}
    provider = Provider(there, names=names)
    assert set(provider.run(count).refused) == there
    assert sorted(provider.passed) == [text for text in range(count) if text not in there]


@given(st.integers(1, 200), st.integers(1, 40), st.sets(st.integers(0, 199), max_size=3))
def test_a_request_that_is_too_large_is_halved_until_it_fits(
    count: int, most: int, bad: set[int]
) -> None:
    there = {text for text in bad if text < count}
    provider = Provider(there)
    provider.most = most
    assert set(provider.run(count).refused) == there
    assert sorted(provider.passed) == [text for text in range(count) if text not in there]


@pytest.mark.parametrize(
    "trouble", [Trouble.OUTAGE, Trouble.RATE, Trouble.AUTH, Trouble.MODEL, Trouble.REQUEST]
)
def test_only_a_refused_text_is_narrowed(trouble: Trouble) -> None:
    provider = Provider({3}, trouble=trouble)
    with pytest.raises(CallFailed) as caught:
        provider.run(1250)
    assert caught.value.trouble is trouble
    assert provider.calls == 1


def test_where_every_request_is_refused_the_search_ends_after_a_probe() -> None:
    provider = Provider(set(range(1250)))
    provider.probe_fails = True
    with pytest.raises(CallFailed) as caught:
        provider.run(1250)
    assert caught.value.trouble is Trouble.REQUEST
    assert provider.calls <= math.log2(1250) + 4


def test_two_bad_texts_at_the_front_do_not_look_like_a_provider_that_refuses_all() -> None:
    provider = Provider({0, 1})
    assert set(provider.run(1250).refused) == {0, 1}
    assert len(provider.passed) == 1248
