"""What holds for every tool: toolsets, argument checks, one error shape, nothing loaded early."""

from __future__ import annotations

import json
import threading

import anyio
import pytest
from mcp import Client
from prometheus_client import REGISTRY

from seoga.errors import InvalidArgument
from seoga.settings import settings
from seoga.wiring import Stack
from seoga_gateway.library import Library
from seoga_gateway.server import build_server, choose, discovered


def test_every_file_of_the_folder_is_a_tool() -> None:
    tools = discovered()
    assert {"list_knowledge_bases", "start_reindex", "check_changes"} <= set(tools)
    assert all(tool.name == name for name, tool in tools.items())


def test_an_unknown_toolset_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidArgument) as caught:
        choose("documents,notebooks")
    assert "documents" in caught.value.hint


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "says"),
    [
        ("no_such_tool", {}, "not_found", "no_such_tool"),
        ("start_reindex", {}, "invalid_argument", "kb_id"),
        ("start_reindex", {"kb_id": "a", "forced": True}, "invalid_argument", "forced"),
        (
            "start_reindex",
            {"kb_id": "a", "partial_mode": "embeding"},
            "invalid_argument",
            "partial",
        ),
        ("start_reindex", {"kb_id": ["a"]}, "invalid_argument", "kb_id"),
        ("get_document_chunk", {"kb_id": "a", "chunk_id": 0}, "invalid_argument", "chunk_id"),
        ("read_document", {"kb_id": "a", "document": "b", "start": 0}, "invalid_argument", "start"),
        ("get_index_info", {"kb_id": "a"}, "not_found", "'a'"),
    ],
)
def test_errors_have_one_shape(ask, tool, arguments, code, says) -> None:
    answer = ask(tool, **arguments)
    assert answer.is_error
    assert set(answer.structured_content) == {"code", "message", "hint"}
    assert answer.structured_content["code"] == code
    assert says in answer.structured_content["message"]
    assert json.loads(answer.content[0].text) == answer.structured_content


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("가" * 100_000, {}),
        ("search_documents", {"query": "x", "z" * 100_000: 1}),
        ("search_documents", {"query": "x", "lang": "가" * 100_000}),
        ("search_documents", {"query": "x", "labels": ["가" * 100_000]}),
        ("search_documents", {"query": "x", "exclude": ["a"] * 2000}),
        ("search_documents", {"query": "x", "file_types": ["a"] * 2000}),
        ("search_documents", {"query": "x", "path_glob": "가" * 100_000}),
        ("read_document", {"kb_id": "handbook", "document": "가" * 100_000}),
        ("read_document", {"kb_id": "a" * 100_000, "document": "x"}),
    ],
)
def test_an_error_repeats_no_more_than_the_beginning(kb, ask, tool, arguments) -> None:
    answer = ask(tool, **arguments)
    assert answer.is_error
    assert answer.structured_content["code"] != "internal"
    assert len(answer.content[0].text.encode()) < 2_000


def test_a_near_name_is_proposed(ask) -> None:
    answer = ask("start_reindex", kb_id="a", forced=True)
    assert answer.structured_content["hint"] == "Did you mean force?"


def test_a_crash_shows_nothing_of_the_inside(kb, ask, monkeypatch) -> None:
    def crash(*_: object) -> None:
        raise RuntimeError("/secret/path")

    monkeypatch.setattr("seoga.storage.reading.index_info", crash)
    answer = ask("get_index_info", kb_id="handbook")
    assert answer.structured_content["code"] == "internal"
    assert "secret" not in json.dumps(answer.model_dump(mode="json"))


def test_listing_tools_loads_no_engine(kb) -> None:
    stack = Stack(settings())

    async def list_and_read() -> None:
        async with Client(build_server(stack), mode="legacy") as client:
            await client.list_tools()
            await client.call_tool("list_knowledge_bases", {})

    anyio.run(list_and_read)
    assert not {"embedding", "extraction", "indexing"} & set(vars(stack))


def test_a_slow_call_holds_nobody_up(kb, monkeypatch) -> None:
    released = threading.Event()
    plain = Library.overview

    def slow(self: Library) -> object:
        assert released.wait(30)
        return plain(self)

    monkeypatch.setattr(Library, "overview", slow)
    order: list[str] = []

    async def session() -> None:
        async with (
            Client(build_server(Stack(settings()))) as client,
            anyio.create_task_group() as group,
        ):

            async def call(tool: str, **arguments: str) -> None:
                await client.call_tool(tool, arguments)
                order.append(tool)

            group.start_soon(call, "list_knowledge_bases")
            await call("get_index_info", kb_id="handbook")
            released.set()

    anyio.run(session)
    assert order == ["get_index_info", "list_knowledge_bases"]


def test_calls_are_counted_by_outcome(kb, ask) -> None:
    def counted(outcome: str) -> float:
        labels = {"tool": "get_index_info", "outcome": outcome}
        return REGISTRY.get_sample_value("seoga_gateway_calls_total", labels) or 0

    before = counted("ok"), counted("not_found")
    ask("get_index_info", kb_id="handbook")
    ask("get_index_info", kb_id="nowhere")
    assert (counted("ok"), counted("not_found")) == (before[0] + 1, before[1] + 1)


def test_descriptions_and_schemas_stay_small(base_path) -> None:
    async def listed() -> int:
        async with Client(build_server(Stack(settings()))) as client:
            tools = await client.list_tools()
            return len(tools.model_dump_json(exclude_none=True))

    # All of it is in every conversation.
    assert anyio.run(listed) < 30_000
