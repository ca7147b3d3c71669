"""Contexts through the batch APIs: sent once whatever happens, half the price, nothing lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from seoga.contracts.embedding import Context, Excerpt
from seoga.errors import ConfigError, EmbeddingFailed, ProviderFault
from seoga.models import ContextSpec
from seoga_embedding.engine import EmbeddingEngine
from seoga_embedding.fake.rules import mark
from seoga_embedding.models import llm_price
from seoga_embedding.prompts import SYSTEM

from .conftest import KEY, Fake

PROVIDERS = {"anthropic": "claude-haiku-4-5", "openai": "gpt-4o-mini"}
EXCERPTS = [Excerpt(f"Passage {n} speaks of leave.", title="Rules") for n in range(3)]
both = pytest.mark.parametrize("provider", PROVIDERS)


@pytest.fixture
def spec_for(fake: Fake) -> Callable[..., ContextSpec]:
    def spec(provider: str, **changes: Any) -> ContextSpec:
        model = PROVIDERS.get(provider, "m")
        return ContextSpec(provider, model, fake.url, batch=True, **changes)

    return spec


Spec = Callable[..., ContextSpec]


def created(fake: Fake, provider: str) -> list[dict[str, Any]]:
    return [call for call in fake.calls("/batches") if call["method"] == "POST"]


@both
def test_contexts_wait_for_their_batch_and_are_there_when_it_is_done(
    fake: Fake, engine: EmbeddingEngine, spec_for: Spec, provider: str
) -> None:
    fake.rules(batches="held", key=KEY)
    spec = spec_for(provider)
    results = engine.contextualize(EXCERPTS, spec)
    assert all(isinstance(one, EmbeddingFailed) for one in results)
    assert fake.calls() == []
    report = engine.batch_contexts(spec, send=True)
    assert (report.open, report.waiting, report.collected) == (1, 3, 0)
    assert engine.batch_contexts(spec, send=True).open == 1
    assert len(created(fake, provider)) == 1
    fake.rules(key=KEY)
    report = engine.batch_contexts(spec, send=True)
    assert (report.open, report.waiting, report.collected) == (0, 0, 3)
    results = engine.contextualize(EXCERPTS, spec)
    assert all(isinstance(one, Context) for one in results)
    assert fake.calls("/chat/completions") == []


@both
def test_answers_stand_with_their_own_chunk_and_cost_half_once(
    engine: EmbeddingEngine, spec_for: Spec, provider: str
) -> None:
    spec = spec_for(provider)
    engine.contextualize(EXCERPTS, spec)
    engine.batch_contexts(spec, send=True)
    engine.batch_contexts(spec, send=False)
    for n, one in enumerate(engine.contextualize(EXCERPTS, spec)):
        assert isinstance(one, Context)
        assert f"Passage {n}" in one.text
        full = llm_price(spec.model, one.tokens_in, one.tokens_out)
        assert one.cost > 0
        assert one.cost == pytest.approx(full / 2)
    again = engine.contextualize(EXCERPTS, spec)
    assert [one.cost for one in again if isinstance(one, Context)] == [0.0, 0.0, 0.0]


def test_anthropic_is_sent_what_its_reference_says(
    fake: Fake, engine: EmbeddingEngine, spec_for: Spec
) -> None:
    fake.rules(key=KEY)
    spec = spec_for("anthropic")
    engine.contextualize(EXCERPTS[:1], spec)
    engine.batch_contexts(spec, send=True)
    (call,) = created(fake, "anthropic")
    assert call["path"] == "/v1/messages/batches"
    assert call["headers"]["x-api-key"] == mark(KEY)
    assert call["headers"]["anthropic-version"] == "2023-06-01"
    (request,) = call["body"]["requests"]
    assert set(request) == {"custom_id", "params"}
    assert request["params"]["model"] == "claude-haiku-4-5"
    assert request["params"]["system"][0]["text"] == SYSTEM


def test_openai_is_sent_what_its_reference_says(
    fake: Fake, engine: EmbeddingEngine, spec_for: Spec
) -> None:
    fake.rules(key=KEY)
    spec = spec_for("openai")
    engine.contextualize(EXCERPTS[:1], spec)
    engine.batch_contexts(spec, send=True)
    upload, create = [call for call in fake.calls() if call["method"] == "POST"]
    assert upload["path"] == "/v1/files"
    assert upload["headers"]["content-type"].startswith("multipart/form-data; boundary=")
    assert '"url": "/v1/chat/completions"' in upload["body"]
    assert create["path"] == "/v1/batches"
    assert create["headers"]["authorization"] == mark(f"Bearer {KEY}")
    body = create["body"]
    assert (body["endpoint"], body["completion_window"]) == ("/v1/chat/completions", "24h")
    assert body["input_file_id"] == "file-1"
    assert set(body["metadata"]) == {"seoga"}


@both
def test_a_batch_whose_answer_was_lost_is_found_and_never_sent_twice(
    fake: Fake, start: Callable[[], EmbeddingEngine], spec_for: Spec, provider: str
) -> None:
    spec, first = spec_for(provider), start()
    first.contextualize(EXCERPTS, spec)
    fake.faults({"kind": "lost", "path": "/batches"})
    with pytest.raises(EmbeddingFailed) as caught:
        first.batch_contexts(spec, send=True)
    assert caught.value.fault is ProviderFault.OUTAGE
    # Another process: the first may have been killed.
    report = start().batch_contexts(spec, send=True)
    assert (report.open, report.waiting, report.collected) == (0, 0, 3)
    assert len(created(fake, provider)) == 1


@both
def test_a_batch_that_never_came_there_is_sent_again(
    fake: Fake, start: Callable[[], EmbeddingEngine], spec_for: Spec, provider: str
) -> None:
    spec, first = spec_for(provider), start()
    first.contextualize(EXCERPTS, spec)
    fake.faults({"kind": "cut", "path": "/batches"})
    with pytest.raises(EmbeddingFailed):
        first.batch_contexts(spec, send=True)
    report = start().batch_contexts(spec, send=True)
    assert (report.open, report.waiting) == (1, 3)
    assert start().batch_contexts(spec, send=False).collected == 3


@both
def test_one_refused_request_loses_nothing_but_itself(
    fake: Fake, engine: EmbeddingEngine, spec_for: Spec, provider: str
) -> None:
    fake.rules(refuse=["Passage 1"])
    spec = spec_for(provider)
    engine.contextualize(EXCERPTS, spec)
    engine.batch_contexts(spec, send=True)
    assert engine.batch_contexts(spec, send=False).collected == 2
    results = engine.contextualize(EXCERPTS, spec)
    assert [isinstance(one, Context) for one in results] == [True, False, True]


@both
def test_what_expired_goes_with_the_next_batch(
    fake: Fake, engine: EmbeddingEngine, spec_for: Spec, provider: str
) -> None:
    fake.rules(batches="expired")
    spec = spec_for(provider)
    engine.contextualize(EXCERPTS, spec)
    engine.batch_contexts(spec, send=True)
    report = engine.batch_contexts(spec, send=False)
    assert (report.open, report.waiting, report.collected) == (0, 3, 0)
    fake.rules()
    engine.batch_contexts(spec, send=True)
    assert engine.batch_contexts(spec, send=False).collected == 3


@both
def test_a_refused_key_leaves_all_waiting(
    fake: Fake, engine: EmbeddingEngine, spec_for: Spec, provider: str
) -> None:
    fake.rules(key="another")
    spec = spec_for(provider)
    engine.contextualize(EXCERPTS, spec)
    with pytest.raises(EmbeddingFailed) as caught:
        engine.batch_contexts(spec, send=True)
    assert caught.value.fault is ProviderFault.AUTH
    assert KEY not in caught.value.message
    assert engine._far().store is not None


@both
def test_a_fresh_question_is_not_answered_from_before(
    engine: EmbeddingEngine, spec_for: Spec, provider: str
) -> None:
    spec = spec_for(provider)
    engine.contextualize(EXCERPTS, spec)
    engine.batch_contexts(spec, send=True)
    engine.batch_contexts(spec, send=False)
    engine.contextualize(EXCERPTS, spec_for(provider, fresh=True))
    results = engine.contextualize(EXCERPTS, spec)
    assert not any(isinstance(one, Context) for one in results)


@pytest.mark.parametrize("provider", ["ollama", "gemini", "azure"])
def test_a_provider_without_a_batch_api_is_said(
    engine: EmbeddingEngine, spec_for: Spec, provider: str
) -> None:
    with pytest.raises(ConfigError, match="no batch API"):
        engine.contextualize(EXCERPTS, spec_for(provider))
