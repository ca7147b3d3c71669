"""Reranking from config.json to the answer, over real HTTP to the fake provider."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from seoga.cli.main import invoke

TEXTS = {
    "long.md": "연차 휴가 " * 3 + "그리고 다른 이야기가 여기에 길게 이어진다. " * 8,
    "short.md": "연차 휴가",
    "other.md": "연차 휴가 중인 사람과 창문을 닫는 사람이 사무실에 있다.",
}


@pytest.fixture
def fake(fake_provider: str) -> Iterator[str]:
    httpx.delete(f"{fake_provider}/fake").raise_for_status()
    yield fake_provider
    httpx.delete(f"{fake_provider}/fake").raise_for_status()


@pytest.fixture
def asked(
    base_path: Path, tmp_path: Path, fake: str, capsys: pytest.CaptureFixture[str]
) -> Callable[..., dict[str, Any]]:
    """Indexes three texts with a reranker, and gives what a search answers."""
    docs, kb = tmp_path / "docs", base_path / "kb"
    docs.mkdir()
    kb.mkdir()
    for name, text in TEXTS.items():
        (docs / name).write_text(text, encoding="utf-8")

    def search(reranker: dict[str, Any], *options: str) -> dict[str, Any]:
        config = {"id": "kb", "sourcePaths": [str(docs)], "embedding": {"provider": ""}}
        reranker = {"baseUrl": fake, **reranker}
        (kb / "config.json").write_text(json.dumps({**config, "reranker": reranker}))
        assert invoke(["exec", "--path", str(kb)]) == 0
        capsys.readouterr()
        assert (
            invoke(["search", "연차 휴가는 며칠인가", "--path", str(kb), "--json", *options]) == 0
        )
        answer: dict[str, Any] = json.loads(capsys.readouterr().out)
        return answer

    return search


@pytest.mark.parametrize(
    ("provider", "path"),
    [("cross-encoder", "/v1/rerank"), ("tei", "/rerank"), ("openai", "/v1/chat/completions")],
)
def test_a_reranker_of_the_config_orders_the_answer(
    asked: Callable[..., dict[str, Any]], fake: str, provider: str, path: str
) -> None:
    answer = asked({"provider": provider, "model": "m"}, "--explain")
    assert answer["warnings"] == []
    first = answer["results"][0]
    assert first["path"] == "short.md"
    assert "rerank" in first["why"]
    assert [call["path"] for call in httpx.get(f"{fake}/fake/calls").json()] == [path]


def test_no_rerank_asks_nobody(asked: Callable[..., dict[str, Any]], fake: str) -> None:
    answer = asked({"provider": "tei"}, "--no-rerank", "--explain")
    assert answer["results"]
    assert not any("rerank" in each["why"] for each in answer["results"])
    assert httpx.get(f"{fake}/fake/calls").json() == []


def test_a_slow_reranker_costs_its_time_limit_and_a_warning(
    asked: Callable[..., dict[str, Any]], fake: str
) -> None:
    fault = {"kind": "slow", "seconds": 20}
    httpx.post(f"{fake}/fake/faults", json=[fault]).raise_for_status()
    answer = asked({"provider": "tei", "timeoutSeconds": 0.5})
    assert len(answer["results"]) == 3
    [warning] = answer["warnings"]
    assert warning.startswith("Not reranked: tei at ")


def test_doctor_says_whether_it_reads_both_languages(
    asked: Callable[..., dict[str, Any]], capsys: pytest.CaptureFixture[str], fake: str
) -> None:
    asked({"provider": "openai", "model": "some-llm"})
    invoke(["doctor"])
    out = capsys.readouterr().out
    assert "reranking of kb" in out
    assert "openai some-llm puts answers first" in out
    httpx.put(f"{fake}/fake/rules", json={"answer": "1 > 2"}).raise_for_status()
    invoke(["doctor"])
    assert "does not read Hangul" in capsys.readouterr().out
