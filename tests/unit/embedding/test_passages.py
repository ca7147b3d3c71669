"""From passages to vectors: what is embedded, once, and what is checked at the door."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from seoga.contracts.embedding import Passage, PassageVectors
from seoga.errors import EmbeddingFailed, ProviderFault
from seoga.models import EmbeddingSpec
from seoga_embedding.passages import checked, embed_all, texts_of
from seoga_embedding.provider import ModelRow, Role, Vector
from seoga_embedding.registry import open_provider

HASHING = EmbeddingSpec(provider="hashing")
ROW = ModelRow("m", 4, threshold=0.3, window=40, heading_chars=20, heading_penalty=0.05)


class Scripted:
    """A provider whose answers a test chooses; counts what it was asked."""

    def __init__(self, answer: Callable[[list[str]], Vector]) -> None:
        self.answer = answer
        self.asked: list[str] = []

    def digest(self) -> str:
        return ""

    def embed(self, texts: Sequence[str], role: Role) -> Vector:
        self.asked += texts
        return self.answer(list(texts))

    def close(self) -> None:
        return None


def test_each_window_has_the_heading_before_it_and_the_heading_counts_a_little_lower() -> None:
    passage = Passage(
        "One sentence of it here. Another sentence is there.", heading="Guide > Setup"
    )
    assert texts_of(passage, ROW) == [
        ("Guide > Setup: One sentence of it here.", 0.0),
        ("Guide > Setup: Another sentence is there.", 0.0),
        ("Guide > Setup", 0.05),
    ]


def test_without_a_penalty_the_heading_has_no_vector_but_where_there_is_no_text() -> None:
    row = ModelRow("m", 4, threshold=0.3)
    assert texts_of(Passage("body", heading="Guide"), row) == [("Guide: body", 0.0)]
    assert texts_of(Passage("", heading="Guide"), row) == [("Guide", 0.0)]


def test_a_long_heading_keeps_its_last_parts() -> None:
    passage = Passage("body", heading="The Whole Product > Guide > Setup")
    assert texts_of(passage, ROW)[0] == ("Guide > Setup: body", 0.0)
    assert texts_of(Passage("body", heading="x" * 500), ROW)[0] == ("x" * 20 + ": body", 0.0)


def test_the_context_is_embedded_with_the_text() -> None:
    assert texts_of(Passage("body", context="about x."), ROW)[0][0] == "about x. body"


def test_markup_only_is_embedded_as_it_stands() -> None:
    assert texts_of(Passage("| --- | --- |"), ROW) == [("| --- | --- |", 0.0)]


def test_equal_windows_are_embedded_once() -> None:
    provider = Scripted(lambda texts: np.ones((len(texts), 4), np.float32))
    embed_all(provider, ROW, [Passage("same", "H")] * 20)
    assert sorted(provider.asked) == ["H", "H: same"]


def test_a_passage_with_nothing_in_it_fails_alone() -> None:
    provider, row = open_provider(HASHING)
    good, empty, blank = embed_all(provider, row, [Passage("x"), Passage(""), Passage(" \n\0")])
    assert isinstance(good, PassageVectors)
    for result in (empty, blank):
        assert isinstance(result, EmbeddingFailed)
        assert result.fault is ProviderFault.BAD_OUTPUT


@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0])
def test_a_vector_that_is_not_finite_or_zero_fails_its_passage_only(bad: float) -> None:
    def answer(texts: list[str]) -> Vector:
        return np.array([[bad if text == "bad" else 2.0] * 4 for text in texts], np.float32)

    good, failed = embed_all(Scripted(answer), ROW, [Passage("good"), Passage("bad")])
    assert isinstance(good, PassageVectors)
    assert np.linalg.norm(good.vectors, axis=1) == pytest.approx(1)
    assert isinstance(failed, EmbeddingFailed)
    assert failed.fault is ProviderFault.BAD_OUTPUT


@pytest.mark.parametrize("shape", [(1, 4), (3, 4), (2, 5), (8,)])
def test_a_wrong_number_or_size_of_vectors_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(EmbeddingFailed, match="shape") as caught:
        checked(np.ones(shape, np.float32), 2, 4)
    assert caught.value.fault is ProviderFault.BAD_OUTPUT


def test_prefixes_go_to_the_model_and_role_is_told() -> None:
    row = ModelRow("m", 4, threshold=0.3, document_prefix="passage: ")
    provider = Scripted(lambda texts: np.ones((len(texts), 4), np.float32))
    embed_all(provider, row, [Passage("x")])
    assert provider.asked == ["passage: x"]
