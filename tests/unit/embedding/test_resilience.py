"""A provider that fails: few calls, nothing lost, and each class of error its own way."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from seoga.contracts.embedding import Passage, of_provider
from seoga.errors import EmbeddingFailed, ProviderFault
from seoga.metrics import exposition
from seoga.models import EmbeddingSpec
from seoga_embedding.engine import EmbeddingEngine
from seoga_embedding.remote import gate
from seoga_embedding.remote.faults import CallFailed, Trouble
from seoga_embedding.remote.gate import Gate

from .conftest import KEY, Fake, bad, good, passages

Spec = Callable[..., EmbeddingSpec]


def fault_of(engine: EmbeddingEngine, spec: EmbeddingSpec, count: int = 5) -> EmbeddingFailed:
    with pytest.raises(EmbeddingFailed) as caught:
        engine.embed_passages(passages(count), spec)
    return caught.value


def test_1250_passages_are_one_call_when_all_is_well(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec
) -> None:
    spec = spec_of("openai", batch_size=2048)
    assert len(good(engine.embed_passages(passages(1250), spec))) == 1250
    assert len(fake.calls("/embeddings")) == 1


@pytest.mark.parametrize("provider", ["openai", "azure", "ollama", "gemini"])
def test_one_refused_passage_in_1250_costs_few_calls_and_nothing_else(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec, provider: str
) -> None:
    fake.rules(refuse=["number 867"])
    spec = spec_of(provider, batch_size=2048)
    results = engine.embed_passages(passages(1250), spec)
    assert [n for n, result in enumerate(results) if isinstance(result, EmbeddingFailed)] == [867]
    (failed,) = bad(results)
    assert failed.fault is ProviderFault.REJECTED
    assert "cannot be embedded" in failed.message
    # Gemini takes 100 texts a call and Ollama 512 here: the split begins in one of those calls.
    whole = {"gemini": 13, "ollama": 3}.get(provider, 1)
    assert len(fake.calls("mbed")) <= whole + 2 * 10.3 + 1


def test_a_text_that_is_too_long_fails_alone(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec
) -> None:
    fake.rules(max_tokens=100)
    results = engine.embed_passages([*passages(20), Passage("가나다라 " * 100)], spec_of("ollama"))
    assert len(good(results)) == 20
    assert "context length" in bad(results)[0].message


def test_a_provider_that_is_not_there_is_said_with_its_address(
    engine: EmbeddingEngine, free_port: int
) -> None:
    spec = EmbeddingSpec("ollama", "", f"http://127.0.0.1:{free_port}")
    failed = fault_of(engine, spec)
    assert failed.fault is ProviderFault.OUTAGE
    assert f"127.0.0.1:{free_port}" in failed.message


def test_a_passing_outage_is_tried_again(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec
) -> None:
    fake.faults({"status": 500, "times": 2}, {"kind": "cut"})
    assert len(good(engine.embed_passages(passages(5), spec_of("openai")))) == 5
    assert len(fake.calls("/embeddings")) == 4


def test_an_open_circuit_lets_one_call_try_and_closes_after_a_success(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "OPEN_S", 0.3)
    spec = spec_of("openai")
    # Four, and a harmless text to see whether it was only for these.
    fake.faults({"status": 500, "times": 5})
    fault_of(engine, spec)
    fault_of(engine, spec)
    assert len(fake.calls("/embeddings")) == 5
    deadline = time.monotonic() + 10
    while True:
        try:
            assert len(good(engine.embed_passages(passages(5), spec))) == 5
            break
        except EmbeddingFailed:
            assert time.monotonic() < deadline
            threading.Event().wait(0.05)
    assert len(fake.calls("/embeddings")) == 6


@pytest.mark.parametrize("provider", ["openai", "azure", "ollama", "gemini"])
@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_one_call_and_the_next_passages_make_none(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec, provider: str, status: int
) -> None:
    fake.faults({"status": status, "times": 99, "message": f"bad key {KEY}", "path": "mbed"})
    for _ in range(3):
        failed = fault_of(engine, spec_of(provider))
        assert failed.fault is ProviderFault.AUTH
        assert KEY not in failed.message + failed.hint
    assert len(fake.calls("mbed")) == 1


def test_a_used_up_quota_is_not_waited_for(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec
) -> None:
    fake.faults({"status": 429, "code": "insufficient_quota", "times": 9})
    assert fault_of(engine, spec_of("openai")).fault is ProviderFault.RATE
    fault_of(engine, spec_of("openai"))
    assert len(fake.calls("/embeddings")) == 1


def test_a_rate_limit_is_waited_out_as_told(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec
) -> None:
    fake.faults({"status": 429, "retry_after": "1"})
    started = time.monotonic()
    assert len(good(engine.embed_passages(passages(5), spec_of("openai")))) == 5
    assert 1 <= time.monotonic() - started < 5
    assert len(fake.calls("/embeddings")) == 2


def test_a_rate_limit_is_never_taken_for_a_text_that_is_too_long(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec
) -> None:
    fake.faults({"status": 429, "times": 99, "retry_after": "0"})
    assert fault_of(engine, spec_of("openai"), 1250).fault is ProviderFault.RATE
    assert len(fake.calls("/embeddings")) <= 4


def test_a_wait_of_an_hour_ends_the_run_and_says_so(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec
) -> None:
    fake.faults({"status": 429, "retry_after": "3600"})
    failed = fault_of(engine, spec_of("openai"))
    assert failed.fault is ProviderFault.RATE
    assert "3600" in fault_of(engine, spec_of("openai")).message
    assert len(fake.calls("/embeddings")) == 1


def test_a_rate_limit_under_http_200_is_seen(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec
) -> None:
    fake.faults({"kind": "error_in_200", "status": 429, "message": "Rate limit exceeded"})
    assert len(good(engine.embed_passages(passages(3), spec_of("gemini")))) == 3
    assert len(fake.calls("mbed")) == 2


def test_what_came_back_before_a_failure_is_kept(
    fake: Fake, start: Callable[..., EmbeddingEngine], spec_of: Spec
) -> None:
    engine, spec = start(provider_calls=1), spec_of("openai", batch_size=10)
    engine.embed_query("warm", spec)
    fake.faults(*[{"kind": "slow", "seconds": 0.0}] * 2, {"status": 401, "times": 99})
    results = engine.embed_passages(passages(35), spec)
    assert len(good(results)) == 20
    assert all(of_provider(error) for error in bad(results))
    assert len(bad(results)) == 15


def test_a_request_with_too_many_texts_is_halved_and_the_size_remembered(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec
) -> None:
    fake.rules(max_texts=20)
    spec = spec_of("openai", "BAAI/bge-m3")
    assert len(good(engine.embed_passages(passages(60), spec))) == 60
    before = len(fake.calls("/embeddings"))
    assert len(good(engine.embed_passages(passages(60), spec))) == 60
    again = fake.calls("/embeddings")[before:]
    assert all(len(call["body"]["input"]) <= 20 for call in again)
    assert len(again) == 4


@pytest.mark.parametrize(("kind", "lost"), [("nan", 1), ("zero", 1), ("fewer", 1)])
def test_a_vector_that_is_none_fails_its_passage_only(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec, kind: str, lost: int
) -> None:
    fake.faults({"kind": kind})
    results = engine.embed_passages(passages(30), spec_of("openai"))
    assert len(good(results)) == 30 - lost
    assert bad(results)[0].fault is ProviderFault.BAD_OUTPUT


@pytest.mark.parametrize("provider", ["ollama", "gemini"])
def test_fewer_vectors_than_texts_place_nothing_where_they_carry_no_number(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec, provider: str
) -> None:
    fake.faults({"kind": "fewer", "path": "mbed", "times": 99})
    failed = fault_of(engine, spec_of(provider))
    assert failed.fault is ProviderFault.BAD_OUTPUT
    assert "4 vectors for 5 texts" in failed.message


@pytest.mark.parametrize("provider", ["openai", "azure", "ollama", "gemini"])
def test_vectors_of_another_size_are_refused_and_the_size_named(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec, provider: str
) -> None:
    fake.faults({"kind": "dimension", "path": "mbed", "times": 99})
    failed = fault_of(engine, spec_of(provider))
    assert failed.fault is ProviderFault.BAD_OUTPUT
    assert "numbers where" in failed.message
    assert failed.message.count(" at http") == 1


@pytest.mark.parametrize("provider", ["openai", "ollama", "gemini"])
def test_vectors_of_words_are_no_vectors(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec, provider: str
) -> None:
    fake.rules(base64="ignores")
    fake.faults({"kind": "words", "path": "mbed", "times": 3})
    failed = fault_of(engine, spec_of(provider))
    assert failed.fault is ProviderFault.BAD_OUTPUT
    assert "consist of numbers" in failed.message
    assert len(good(engine.embed_passages(passages(3), spec_of(provider)))) == 3


@pytest.mark.parametrize("provider", ["openai", "ollama", "gemini"])
def test_numbers_that_no_vector_can_hold_fail_their_passages_without_a_warning(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec, provider: str
) -> None:
    fake.rules(base64="ignores")
    spec = spec_of(provider)
    engine.card(spec)
    fake.faults({"kind": "huge", "path": "mbed"})
    results = engine.embed_passages(passages(3), spec)
    assert [error.fault for error in bad(results)] == [ProviderFault.BAD_OUTPUT] * 3
    assert "not finite" in bad(results)[0].message
    fake.faults({"kind": "huge", "path": "mbed"})
    with pytest.raises(EmbeddingFailed, match="no usable vector"):
        engine.embed_query("huge", spec)


def test_a_page_instead_of_an_answer_names_the_address(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec
) -> None:
    fake.faults({"kind": "html", "times": 99})
    failed = fault_of(engine, spec_of("openai"))
    assert "not JSON" in failed.message
    assert fake.url in failed.message


@pytest.mark.parametrize("kind", ["html", "dimension"])
def test_one_odd_answer_among_others_is_asked_for_again(
    fake: Fake, start: Callable[..., EmbeddingEngine], spec_of: Spec, kind: str
) -> None:
    engine, spec = start(provider_calls=1), spec_of("openai", batch_size=10)
    fake.faults({"kind": "slow", "seconds": 0.0}, {"kind": kind})
    assert len(good(engine.embed_passages(passages(40), spec))) == 40
    assert len(fake.calls("/embeddings")) == 5
    fake.faults({"kind": kind, "word": "number 17", "times": 99})
    results = engine.embed_passages(passages(40), spec)
    assert [error.fault for error in bad(results)] == [ProviderFault.REJECTED]
    assert "for this text alone" in bad(results)[0].message


def test_a_refused_parameter_is_no_reason_to_narrow(
    fake: Fake, engine: EmbeddingEngine, spec_of: Spec
) -> None:
    message = "This model does not support specifying dimensions."
    fake.faults({"status": 400, "message": message, "times": 99})
    assert message in fault_of(engine, spec_of("openai"), 1250).message
    assert len(fake.calls("/embeddings")) == 1


def test_a_query_does_not_wait_behind_documents(
    fake: Fake, start: Callable[..., EmbeddingEngine], spec_of: Spec
) -> None:
    engine = start(provider_calls=1)
    fake.faults({"kind": "slow", "seconds": 3.0})
    work = threading.Thread(target=engine.embed_passages, args=(passages(3), spec_of("openai")))
    work.start()
    deadline = time.monotonic() + 10
    while not fake.calls("/embeddings"):
        assert time.monotonic() < deadline
        threading.Event().wait(0.01)
    started = time.monotonic()
    engine.embed_query("now", spec_of("openai"))
    assert time.monotonic() - started < 2
    assert work.is_alive()
    work.join(20)


def test_one_gate_stands_before_a_provider_whatever_the_model(
    fake: Fake, start: Callable[..., EmbeddingEngine], spec_of: Spec
) -> None:
    engine = start(provider_calls=1)
    fake.faults(*[{"kind": "slow", "seconds": 0.3}] * 3)
    models = ("text-embedding-3-small", "text-embedding-3-large", "text-embedding-ada-002")
    threads = [
        threading.Thread(target=engine.embed_passages, args=(passages(1), spec_of("openai", model)))
        for model in models
    ]
    started = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert time.monotonic() - started >= 0.9


def test_calls_a_minute_are_counted_over_all_threads() -> None:
    slow = Gate("p", 8, per_minute=2)
    for _ in range(2):
        with slow.turn(""):
            pass
    now = time.monotonic()
    assert slow._pause(False, now) > 50
    assert slow._pause(True, now) == 0


def test_connections_are_kept(fake: Fake, engine: EmbeddingEngine, spec_of: Spec) -> None:
    for n in range(5):
        engine.embed_query(f"q{n}", spec_of("openai"))
    wires = engine._remotes._wires
    assert len(wires) == 1


def test_no_key_reaches_metrics_logs_or_errors(
    fake: Fake,
    engine: EmbeddingEngine,
    spec_of: Spec,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Any,
) -> None:
    said = f"echo {KEY} and {KEY[-9:]}, {KEY[:8]}"
    fake.faults({"status": 500, "message": said, "times": 2}, {"status": 401})
    failed = fault_of(engine, spec_of("gemini"))
    assert KEY not in failed.message + failed.hint
    captured = capsys.readouterr()
    for part in (KEY, KEY[-9:], KEY[:8]):
        assert part not in captured.out + captured.err
    assert KEY not in exposition("")[0].decode()
    assert all(KEY not in str(call["path"]) + str(call["query"]) for call in fake.calls())
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes()


def test_a_redirection_is_not_followed_with_a_key() -> None:
    from seoga_embedding.provider import Call, Endpoint
    from seoga_embedding.remote.wire import Wire

    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        headers = {"location": "http://elsewhere.example/"}
        return httpx.Response(302, headers=headers, stream=httpx.ByteStream(b""))

    endpoint = Endpoint("http://here.example", {}, "m", KEY, 0, "5m", 8192)
    wire = Wire(endpoint, httpx.MockTransport(answer))
    with pytest.raises(CallFailed, match="redirection") as caught:
        wire.send(Call("/v1/embeddings", {}))
    assert caught.value.trouble is Trouble.REQUEST
    assert asked == ["http://here.example/v1/embeddings"]
    wire.close()


def test_a_time_out_has_a_phase(fake: Fake) -> None:
    from seoga_embedding.provider import Call, Endpoint
    from seoga_embedding.remote.wire import Wire

    wire = Wire(Endpoint(fake.url, {}, "m", "", 0, "5m", 8192))
    timeout = wire._client.timeout
    assert timeout.connect is not None
    assert timeout.read is not None
    assert timeout.connect < 10 < timeout.read
    fake.faults({"kind": "slow", "seconds": 5})
    with pytest.raises(CallFailed, match="in time"):
        wire.send(Call("/v1/embeddings", {"model": "m", "input": ["x"]}), read_s=0.2)
    wire.close()


def test_what_a_provider_says_can_be_printed_and_stored() -> None:
    assert CallFailed(Trouble.OUTAGE, "said \ud800").message == "said ?"
