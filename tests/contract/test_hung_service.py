"""A service that accepts a call and never answers: whoever waits for it is not held up for long."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seoga.contracts.deadline import remaining, within
from seoga.contracts.embedding import EmbeddingClient
from seoga.contracts.http import Http
from seoga.errors import SeogaError, ServiceUnavailable
from seoga.kb import Kb, load_kb
from seoga.models import EmbeddingSpec
from seoga.search.engine import SearchRequest, search
from seoga.settings import Settings, settings
from seoga.wiring import Stack
from seoga_embedding.engine import EmbeddingEngine
from seoga_indexer.engine import IndexingEngine

from ..silent import silent

HELD_UP_S = 8.0


@pytest.fixture
def hung() -> Iterator[str]:
    """The URL of a server that takes every connection and says nothing."""
    with silent() as url:
        yield url


@pytest.fixture
def kb(base_path: Path, tmp_path: Path) -> Kb:
    """An index with vectors."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "휴가.md").write_text("연차 휴가는 규정에 따라 부여한다.", "utf-8")
    (base_path / "kb").mkdir()
    config = {"sourcePaths": [str(docs)], "embedding": {"provider": "hashing"}}
    (base_path / "kb" / "config.json").write_text(json.dumps({"id": "kb", **config}))
    made = load_kb(base_path / "kb")
    stack = Stack(Settings(base_path=base_path, embed_processes=1))
    with closing(IndexingEngine(stack)) as engine:
        engine.run_kb(made)
    stack.close()
    return made


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEOGA_QUERY_TIMEOUT_S", "0.4")
    settings.cache_clear()


def timed(action: Any) -> tuple[Any, float]:
    started = time.monotonic()
    return action(), time.monotonic() - started


def test_a_search_falls_back_to_words_and_says_so(kb: Kb, hung: str, impatient: None) -> None:
    with closing(EmbeddingClient(hung)) as client:
        answer, took = timed(lambda: search([kb], SearchRequest("연차 휴가"), client))
        assert took < HELD_UP_S
        assert [hit.path for hit in answer.hits] == ["휴가.md"]
        assert answer.mode == "bm25"
        [warning] = answer.warnings
        assert warning.startswith("Keyword search only: The embedding service")
        assert "did not answer within 0.4 s" in warning
        # The next one does not wait for it again.
        answer, took = timed(lambda: search([kb], SearchRequest("연차 휴가"), client))
        assert took < 0.4
        assert answer.warnings


def test_a_search_by_meaning_alone_is_a_clear_error(kb: Kb, hung: str, impatient: None) -> None:
    with closing(EmbeddingClient(hung)) as client:
        request = SearchRequest("연차 휴가", mode="vector")
        with pytest.raises(ServiceUnavailable, match="did not answer within") as caught:
            search([kb], request, client)
    assert "bm25" in caught.value.hint


@pytest.mark.parametrize("provider", ["ollama", "openai"])
def test_a_provider_called_from_this_process_is_not_waited_for_longer(
    hung: str, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    spec = EmbeddingSpec(provider, "bge-m3", hung)
    with closing(EmbeddingEngine(Settings(embed_processes=1))) as engine, within(0.5):
        started = time.monotonic()
        with pytest.raises(SeogaError):
            engine.embed_query("휴가", spec)
        assert time.monotonic() - started < HELD_UP_S


def test_one_deadline_holds_for_all_calls_of_a_block(hung: str) -> None:
    client = Http("embedding", hung)
    with within(0.3):
        for _ in range(3):
            with pytest.raises(ServiceUnavailable):
                client.json("POST", "/v1/query", json={})
        assert remaining() == 0
    assert remaining() is None
    client.close()


def test_work_that_nobody_waits_for_has_its_own_patience(hung: str) -> None:
    client = Http("embedding", hung)
    assert client._patience(None).read == 600
    with within(2):
        assert (client._patience(None).read or 0) <= 2
    assert client._patience(30).read == 30
    client.close()


def test_the_deadline_does_not_touch_what_answers(start_service: Any) -> None:
    url = start_service("embedding")
    with closing(EmbeddingClient(url)) as client, within(60):
        vector = client.embed_query("휴가", EmbeddingSpec(provider="hashing"))
    assert np.isclose(np.linalg.norm(vector), 1)
