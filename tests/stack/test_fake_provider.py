"""From documents to answers through a provider over HTTP: the command's fake, as a process."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from seoga.kb import load_kb
from seoga.search.engine import search
from seoga.search.request import SearchRequest
from seoga.settings import settings
from seoga.wiring import Stack

from ..waiting import answers, when


@pytest.fixture(scope="module")
def fake(
    free_ports: Callable[[int], list[int]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    port = free_ports(1)[0]
    log = tmp_path_factory.mktemp("fake") / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [
                Path(sys.executable).parent / "seoga",
                "service",
                "fake-provider",
                "--port",
                str(port),
            ],
            stdout=output,
            stderr=output,
            env=dict(os.environ),
        )
    url = f"http://127.0.0.1:{port}"
    when(log.parent, lambda: answers(url))
    assert "fake" in httpx.get(url).json()["notice"]
    assert "no model behind it" in log.read_text()
    yield url
    process.terminate()
    assert process.wait(15) is not None


@pytest.mark.parametrize(
    ("method", "path", "body", "named"),
    [
        ("POST", "/fake/faults", '{"kind": "slow"}', "valid array"),
        ("POST", "/fake/faults", '[{"kind": "nope"}]', "0.kind"),
        ("POST", "/fake/faults", '[{"times": 0}]', "0.times"),
        ("PUT", "/fake/rules", '{"mishapshare": 0.1}', "mishapshare"),
        ("PUT", "/fake/rules", "{", "JSON"),
    ],
)
def test_a_rule_or_fault_that_does_not_exist_is_refused_by_name(
    fake: str, method: str, path: str, body: str, named: str
) -> None:
    answer = httpx.request(method, fake + path, content=body)
    assert answer.status_code == 400
    assert named in answer.json()["error"]


@pytest.mark.parametrize(
    "case",
    [
        ("openai", "text-embedding-3-small", 1536),
        ("azure", "text-embedding-3-small", 1536),
        ("ollama", "bge-m3", 1024),
        ("gemini", "gemini-embedding-001", 768),
    ],
)
def test_documents_are_indexed_and_found_through_every_provider(
    fake: str,
    base_path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    case: tuple[str, str, int],
) -> None:
    provider, model, dimension = case
    for name in ("OPENAI", "AZURE", "GEMINI"):
        monkeypatch.setenv(f"{name}_API_KEY", "any")
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "leave.md").write_text("# Leave\n\nAnnual leave is fifteen days.\n")
    (docs / "card.md").write_text("# Door\n\nUse the blue card at the gate.\n")
    folder = base_path / "kb"
    folder.mkdir()
    embedding: dict[str, Any] = {"provider": provider, "model": model, "baseUrl": fake}
    if provider == "gemini":
        embedding["dimension"] = dimension
    config = {"id": "kb", "sourcePaths": [str(docs)], "embedding": embedding}
    (folder / "config.json").write_text(json.dumps(config))
    stack = Stack(settings())
    try:
        kb = load_kb(folder)
        result = stack.indexing.run_kb(kb)
        assert (result.indexed, result.deferred, result.warnings) == (2, 0, ())
        request = SearchRequest("annual leave days", mode="vector", threshold=0.05)
        answer = search([kb], request, stack.embedding)
        assert answer.hits[0].path == "leave.md"
        assert answer.hits[0].cosine is not None
        card = stack.embedding.card(kb.embedding_spec())
        assert card.dimension == dimension
    finally:
        stack.close()


def test_contexts_of_an_llm_are_found_by_their_words(
    fake: str, base_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "any")
    httpx.put(
        f"{fake}/fake/rules", json={"answer": "CONTEXT: Zebra rules.\nKEYWORDS: 얼룩말, zebra"}
    )
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "leave.md").write_text("# Leave\n\nAnnual leave is fifteen days.\n")
    folder = base_path / "kb"
    folder.mkdir()
    llm = {"provider": "anthropic", "model": "claude-haiku-4-5", "baseUrl": fake}
    config = {
        "id": "kb",
        "sourcePaths": [str(docs)],
        "embedding": {"provider": "hashing"},
        "contextualizer": llm,
    }
    (folder / "config.json").write_text(json.dumps(config))
    stack = Stack(settings())
    try:
        kb = load_kb(folder)
        assert stack.indexing.run_kb(kb).warnings == ()
        (hit,) = search([kb], SearchRequest("얼룩말", mode="bm25"), stack.embedding).hits
        assert hit.text.endswith("Annual leave is fifteen days.")
        assert "Zebra" not in hit.text
        assert search([kb], SearchRequest("zebra"), stack.embedding).hits
    finally:
        stack.close()
        httpx.delete(f"{fake}/fake")


def test_the_config_of_the_readme_works_with_the_fake(
    fake: str, base_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{name}_API_KEY", "any")
    httpx.delete(f"{fake}/fake")
    page = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    [shown] = [one for one in re.findall(r"```json\n(.*?)```", page, re.S) if "8800" in one]
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "leave.md").write_text("# Leave\n\nAnnual leave is fifteen days.\n")
    folder = base_path / "kb"
    folder.mkdir()
    config = json.loads(shown.replace("http://127.0.0.1:8800", fake))
    (folder / "config.json").write_text(json.dumps(config | {"sourcePaths": [str(docs)]}))
    stack = Stack(settings())
    try:
        result = stack.indexing.run_kb(load_kb(folder))
    finally:
        stack.close()
    assert (result.indexed, result.deferred, result.warnings) == (1, 0, ())
    paths = {call["path"] for call in httpx.get(f"{fake}/fake/calls").json()}
    assert paths == {"/v1/embeddings", "/v1/messages"}
