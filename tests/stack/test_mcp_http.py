"""MCP over HTTP as it really runs: gunicorn, two workers, both protocol generations."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from mcp import Client

from seoga.kb import create_kb

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
HEADERS = {"Accept": "application/json, text/event-stream"}
TOOLS = {
    "list_knowledge_bases",
    "search_documents",
    "get_document_chunk",
    "read_document",
    "start_reindex",
    "cancel_reindex",
    "get_index_info",
    "check_changes",
}
WRITING = {"start_reindex", "cancel_reindex"}


@pytest.fixture(scope="module")
def url(tmp_path_factory, start_service) -> str:
    base, documents = tmp_path_factory.mktemp("base"), tmp_path_factory.mktemp("documents")
    create_kb(base, documents, name="Handbook")
    return start_service("gateway", SEOGA_WORKERS="2", SEOGA_BASE_PATH=str(base)) + "/mcp"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_any_worker_answers_any_call(url: str, mode: str) -> None:
    names: list[str] = []

    async def call(client: Client) -> None:
        result = await client.call_tool("list_knowledge_bases", {})
        assert result.structured_content is not None
        names.append(result.structured_content["knowledge_bases"][0]["name"])

    async def twenty_calls() -> None:
        for _ in range(2):
            async with Client(url, mode=mode) as client, anyio.create_task_group() as group:
                for _ in range(10):
                    group.start_soon(call, client)

    anyio.run(twenty_calls)
    assert names == ["Handbook"] * 20


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_every_tool_is_typed_described_and_annotated(url: str, mode: str) -> None:
    async def listed() -> tuple[list[Any], str]:
        async with Client(url, mode=mode) as client:
            return (await client.list_tools()).tools, client.instructions or ""

    tools, instructions = anyio.run(listed)
    assert {tool.name for tool in tools} == TOOLS
    assert "search_documents" in instructions
    for tool in tools:
        assert tool.description
        assert tool.title
        assert tool.output_schema["type"] == "object"
        assert tool.annotations.open_world_hint is False
        assert tool.annotations.read_only_hint is (
            tool.name not in ("start_reindex", "cancel_reindex")
        )
        for parameter in tool.input_schema["properties"].values():
            assert parameter["description"]


def test_the_readme_says_what_each_tool_takes(url: str) -> None:
    async def listed() -> list[Any]:
        async with Client(url) as client:
            return list((await client.list_tools()).tools)

    page = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
    told: dict[str, list[set[str]]] = {}
    for line in page.splitlines():
        cells = [set(re.findall(r"`(\w+)`", cell)) for cell in line.split("|")[1:-1]]
        if len(cells) == 3 and cells[0] <= TOOLS:
            told |= dict.fromkeys(cells[0], cells[1:])
    assert told == {
        tool.name: [
            set(tool.input_schema.get("required", ())),
            set(tool.input_schema["properties"]) - set(tool.input_schema.get("required", ())),
        ]
        for tool in anyio.run(listed)
    }


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_an_error_has_one_shape_in_both_forms(url: str, mode: str) -> None:
    async def ask() -> Any:
        async with Client(url, mode=mode) as client:
            return await client.call_tool("get_index_info", {"kb_id": "../x"})

    result = anyio.run(ask)
    assert result.is_error
    assert set(result.structured_content) == {"code", "message", "hint"}
    assert json.loads(result.content[0].text) == result.structured_content
    assert result.structured_content["code"] == "invalid_argument"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1:1"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
    ],
)
def test_foreign_hosts_and_origins_are_refused(
    url: str, headers: dict[str, str], status: int
) -> None:
    answer = httpx.post(url, json=INITIALIZE, headers={**HEADERS, **headers}, timeout=10)
    assert answer.status_code == status


def test_a_page_of_this_gateway_may_call_it(url: str) -> None:
    own = {**HEADERS, "Origin": url.removesuffix("/mcp")}
    assert httpx.post(url, json=INITIALIZE, headers=own, timeout=10).status_code == 200


def test_a_body_without_end_is_refused(url: str) -> None:
    huge = {**INITIALIZE, "padding": "x" * 5_000_000}
    assert httpx.post(url, json=huge, headers=HEADERS, timeout=10).status_code == 413


def test_half_a_character_in_a_question_is_a_question(url: str) -> None:
    call = b"""{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params":
      {"name": "search_documents", "arguments": {"query": "\\ud800 leave"}}}"""
    headers = HEADERS | {"content-type": "application/json", "mcp-protocol-version": "2025-06-18"}
    answer = httpx.post(url, content=call, headers=headers, timeout=10)
    assert answer.status_code == 200
    assert '"id":7' in answer.text
    assert "-32700" not in answer.text


def counted(url: str) -> float:
    lines = httpx.get(url.replace("/mcp", "/metrics"), timeout=10).text.splitlines()
    wanted = 'seoga_http_requests_total{route="/mcp",service="gateway",status="200"}'
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(wanted))


def test_calls_are_counted_over_both_workers(url: str) -> None:
    before = counted(url)
    for _ in range(6):
        httpx.post(url, json=INITIALIZE, headers=HEADERS, timeout=10)
    assert counted(url) == before + 6
