"""Every error of every provider, over real HTTP: what is kept, what is said, what it costs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from seoga.contracts.embedding import Context, Excerpt, Passage, PassageVectors
from seoga.errors import EmbeddingFailed, MissingDependency, ProviderFault, SeogaError
from seoga.models import ContextSpec, EmbeddingSpec
from seoga_embedding.engine import EmbeddingEngine
from seoga_embedding.remote import sender

from .conftest import KEY, Fake, passages

Spec = Callable[..., EmbeddingSpec]
PROVIDERS = ("openai", "azure", "ollama", "gemini")
CHATS = ("openai", "azure", "ollama", "gemini", "anthropic")
MODELS = {"anthropic": "claude-haiku-4-5", "openai": "gpt-4o-mini", "azure": "d", "ollama": "q"}

# What goes wrong, the fault that comes out ("" : the call is tried again and all is well; "one":
# one passage fails; "kept": all others are kept), and the most calls that it may cost.
ERRORS: dict[str, tuple[dict[str, Any], str, int]] = {
    "401": ({"status": 401, "message": f"Incorrect API key {KEY}", "times": 99}, "auth", 1),
    "403": ({"status": 403, "message": "not allowed", "times": 99}, "auth", 1),
    "404": ({"status": 404, "message": "model not found", "times": 99}, "model", 1),
    "413": ({"status": 413, "message": "payload too large"}, "", 3),
    "429": ({"status": 429, "message": "slow down", "retry_after": "0"}, "", 2),
    "429 for an hour": ({"status": 429, "retry_after": "3600", "times": 99}, "rate", 1),
    "500": ({"status": 500, "message": "oh"}, "", 2),
    "500 for ever": ({"status": 500, "message": "oh", "times": 99}, "outage", 5),
    "cut": ({"kind": "cut"}, "", 2),
    "cut for ever": ({"kind": "cut", "times": 99}, "outage", 5),
    "slow for ever": ({"kind": "slow", "seconds": 0.5, "times": 99}, "outage", 5),
    "200 with an error": ({"kind": "error_in_200", "status": 429, "message": "rate limit"}, "", 2),
    # An answer that is odd as a whole is asked for once more; then a harmless text is tried.
    "200 with a page": ({"kind": "html", "times": 99}, "bad_output", 3),
    "short": ({"kind": "dimension", "times": 99}, "bad_output", 3),
    "NaN": ({"kind": "nan", "times": 99}, "one", 1),
    "fewer": ({"kind": "fewer", "times": 99}, "fewer", 3),
}


@pytest.mark.parametrize("case", list(product(PROVIDERS, ERRORS)), ids=" ".join)
def test_every_error_of_every_provider_is_handled_its_own_way(
    fake: Fake,
    engine: EmbeddingEngine,
    spec_of: Spec,
    monkeypatch: pytest.MonkeyPatch,
    case: tuple[str, str],
) -> None:
    provider, name = case
    fault, wanted, most = ERRORS[name]
    if name.startswith("slow"):
        monkeypatch.setattr(sender, "DOCUMENT_READ_S", 0.05)
        monkeypatch.setattr(sender, "QUERY_READ_S", 0.05)
    spec = spec_of(provider)
    engine.card(spec)
    fake.calls()
    before = len(fake.calls("mbed"))
    fake.faults({"path": "mbed", **fault})
    outcome: Any
    try:
        outcome = engine.embed_passages(passages(4), spec)
    except SeogaError as error:
        outcome = error
    said = outcome.message + outcome.hint if isinstance(outcome, SeogaError) else ""
    assert KEY not in said
    assert len(fake.calls("mbed")) - before <= most
    if wanted == "model":
        assert isinstance(outcome, MissingDependency)
        assert spec.model in said or "text-embedding" in said or "bge-m3" in said
    elif wanted in ("auth", "rate", "outage"):
        assert isinstance(outcome, EmbeddingFailed)
        assert outcome.fault is ProviderFault(wanted)
        assert provider in said
    else:
        _check_results(outcome, wanted, provider)


def _check_results(outcome: Any, wanted: str, provider: str) -> None:
    if isinstance(outcome, EmbeddingFailed):
        assert wanted in ("bad_output", "fewer")
        assert outcome.fault is ProviderFault.BAD_OUTPUT
        return
    good = [one for one in outcome if isinstance(one, PassageVectors)]
    bad = [one for one in outcome if isinstance(one, EmbeddingFailed)]
    # OpenAI's form carries an index, so that what is missing is known; elsewhere it is not.
    indexed = provider in ("openai", "azure")
    lost = {"": 0, "one": 1, "fewer": 1 if indexed else 4, "bad_output": 4}[wanted]
    assert (len(good), len(bad)) == (4 - lost, lost)
    assert all(one.fault is ProviderFault.BAD_OUTPUT for one in bad)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("names", [True, False])
def test_a_text_that_is_too_long_fails_alone_named_by_its_index_or_not(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec, provider: str, names: bool
) -> None:
    fake.rules(refuse=["poison"], names_text=names)
    asked = passages(8)
    asked[5] = Passage("poison number 5")
    spec = spec_of(provider)
    engine.card(spec)
    before = len(fake.calls("mbed"))
    results = engine.embed_passages(asked, spec)
    failed = [at for at, one in enumerate(results) if isinstance(one, EmbeddingFailed)]
    assert len(failed) == 1
    error = results[failed[0]]
    assert isinstance(error, EmbeddingFailed)
    assert error.fault is ProviderFault.REJECTED
    # 2·log2(8) + 2
    assert len(fake.calls("mbed")) - before <= 8


CHAT_ERRORS: dict[str, tuple[dict[str, Any], str, int]] = {
    "401": ({"status": 401, "message": f"bad key {KEY}", "times": 99}, "auth", 1),
    "403": ({"status": 403, "times": 99}, "auth", 1),
    "404": ({"status": 404, "message": "model not found", "times": 99}, "model", 1),
    "400 too long": (
        {"status": 400, "message": "prompt is too long: 9 tokens > 8 maximum", "times": 99},
        "rejected",
        2,
    ),
    "429": ({"status": 429, "retry_after": "0"}, "", 2),
    "500": ({"status": 500}, "", 2),
    "500 for ever": ({"status": 500, "times": 99}, "outage", 5),
    "cut": ({"kind": "cut"}, "", 2),
    "200 with an error": ({"kind": "error_in_200", "status": 429, "message": "rate limit"}, "", 2),
    # The second asks whether it is about the passage.
    "200 with a page": ({"kind": "html", "times": 99}, "bad_output", 2),
}


@pytest.mark.parametrize("provider", CHATS)
@pytest.mark.parametrize("name", CHAT_ERRORS)
def test_every_error_of_every_llm_is_handled_its_own_way(
    fake: Fake, engine: EmbeddingEngine, provider: str, name: str
) -> None:
    fault, wanted, most = CHAT_ERRORS[name]
    fake.faults(fault)
    spec = ContextSpec(provider, MODELS.get(provider, "m"), fake.url)
    outcome: Any
    try:
        (outcome,) = engine.contextualize([Excerpt("Fifteen days of leave.")], spec)
    except SeogaError as error:
        outcome = error
    assert len(fake.calls()) <= most
    if not wanted:
        assert isinstance(outcome, Context)
        return
    assert isinstance(outcome, SeogaError)
    assert KEY not in outcome.message + outcome.hint
    if wanted == "model":
        assert isinstance(outcome, MissingDependency)
    else:
        assert isinstance(outcome, EmbeddingFailed)
        assert outcome.fault is ProviderFault(wanted)
