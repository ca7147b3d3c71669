"""Every answer of every tool stays within its budget, whatever is asked and was indexed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as tried
from hypothesis import strategies as st
from mcp import Client
from mcp_types import CallToolResult

from seoga.models import Chunk, FileState, Place
from seoga.search.request import SearchRequest
from seoga.settings import Settings
from seoga.storage.database import open_writer
from seoga.storage.documents import DocumentStore
from seoga.storage.records import FileRow, PreparedChunk, PreparedFile, Tokens
from seoga.text.tokens import index_text
from seoga.wiring import Stack
from seoga_gateway.fitting import fitted, fitted_text, json_size
from seoga_gateway.library import Library
from seoga_gateway.quoting import BUDGET_BYTES, FENCE, NOTICE, passage, size
from seoga_gateway.server import build_server
from seoga_gateway.tools import search_notes

from .conftest import configured

# What takes more room than it seems to: quotes in JSON, ampersands in attributes, three bytes.
ROOMY = ('"', "&", "\\", "가", "\n", "x")
PATH = "deep/" + '"&' * 900 + ".md"
WORD = "evidence"
FILTERS = ("labels", "exclude", "file_types")
DEEP: Any = {f"key {n}": {"nested": ['"' * 500] * 50} for n in range(200)}


def _indexed(base: Path) -> None:
    kb = configured(base, name="N" * 3000, toolDescription="&" * 9000)
    texts = [f"{WORD} {number} " + mark * 30_000 for number, mark in enumerate(ROOMY)]
    with closing(DocumentStore(open_writer(kb.db_path))) as store:
        run = store.begin_run()
        for number, text in enumerate(texts):
            row = FileRow(
                "docs" * 200,
                f"{number}/{PATH}",
                len(text),
                1,
                2,
                hash=str(number),
                format="md",
                title='"' * 9000,
                url="https://example.org/" + "&" * 9000,
            )
            chunk = Chunk(
                0,
                text,
                0,
                len(text),
                ('"' * 5000, "&" * 5000),
                place=Place(sheet='"' * 5000),
                header_row='"|' * 20_000,
                meta={"front": json.dumps(DEEP)},
            )
            words = Tokens(heading="top", body=index_text(text[:200]))
            store.commit_text([PreparedFile(row, text, [PreparedChunk(chunk, words, "en")])])
        failed = [
            FileRow(
                "docs",
                f"failed/{n}/{PATH}",
                9,
                1,
                2,
                state=FileState.FAILED,
                reason="r" * 50,
                detail="d",
            )
            for n in range(50)
        ]
        store.set_state(failed)
        store.end_run(run, "done", {"indexed": len(texts), "said": '"' * 50_000})
    for number in range(60):
        configured(base, f"kb-{number}", name="&" * 2000, toolDescription='"' * 3000)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    home = tmp_path_factory.mktemp("home")
    _indexed(home / "base")
    stack = Stack(Settings(base_path=home / "base", cache_path=home / "cache", offline=True))
    yield build_server(stack)
    stack.close()


def asked(server: Any, name: str, **arguments: Any) -> CallToolResult:
    async def session() -> CallToolResult:
        async with Client(server) as client:
            return await client.call_tool(name, arguments)

    return anyio.run(session)


def within_budget(result: CallToolResult) -> CallToolResult:
    text = "".join(block.text for block in result.content)
    assert size(text) <= BUDGET_BYTES
    assert json_size(result.structured_content) <= BUDGET_BYTES
    lines = text.splitlines()
    opened = [line for line in lines if line.startswith(f"<{FENCE}")]
    assert len(opened) == lines.count(f"</{FENCE}>")
    return result


hostile = st.one_of(
    st.text(max_size=200),
    st.builds(lambda one, times: one * times, st.text(min_size=1, max_size=8), st.integers(1, 900)),
)
names = st.lists(hostile.map(lambda text: text[:1000]), max_size=100)
queries = st.one_of(
    hostile,
    st.builds(lambda rest: f"{WORD} {rest}", hostile),
    st.builds(
        lambda n: f"{WORD} " + " ".join(f"REQ-{i}-{'x' * 300}" for i in range(n)),
        st.integers(1, 90),
    ),
    st.builds(lambda n: f"{WORD} ABC-{'12345' * n}", st.integers(1, 20_000)),
)


@tried(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(queries, st.fixed_dictionaries(dict.fromkeys(FILTERS, names)), st.integers(1, 50))
def test_a_search_that_explains_itself_does_for_any_query_and_filters(
    server: Any, query: str, filters: dict[str, list[str]], top_k: int
) -> None:
    more = {"query": query, "explain": True}
    within_budget(asked(server, "search_documents", **filters, **more, top_k=top_k))
    within_budget(asked(server, "search_documents", **more, search_all=True))


@tried(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kb_id=hostile, document=hostile)
def test_what_is_not_there_is_said_shortly(server: Any, kb_id: str, document: str) -> None:
    for name in ("get_index_info", "start_reindex", "cancel_reindex", "check_changes"):
        within_budget(asked(server, name, kb_id=kb_id))
    within_budget(asked(server, "read_document", kb_id="handbook", document=document or "x"))
    within_budget(asked(server, "search_documents", query="x", kb_id=kb_id, as_of=document))


def test_the_other_tools_do_for_names_titles_and_metadata_of_any_length(server: Any) -> None:
    found = asked(server, "search_documents", query=WORD, top_k=50, explain=True)
    listed = within_budget(asked(server, "list_knowledge_bases")).structured_content
    assert 0 < len(listed["knowledge_bases"]) < 61
    assert listed["omitted"] == 61 - len(listed["knowledge_bases"])
    for name in ("get_index_info", "check_changes"):
        assert not within_budget(asked(server, name, kb_id="handbook")).is_error
    chunk = found.structured_content["results"][0]["chunk_id"]
    for number in range(len(ROOMY)):
        shown = within_budget(
            asked(server, "get_document_chunk", kb_id="handbook", chunk_id=chunk + number)
        ).structured_content
        assert shown["chunk"]["cut"]
        assert size(shown["chunk"]["text"]) > 1000
        part = within_budget(
            asked(server, "read_document", kb_id="handbook", document=f"{number}/{PATH}")
        ).structured_content
        assert WORD in part["text"]
        assert size(part["text"]) > 5000 or part["next_start"]


def test_the_first_result_keeps_most_of_the_room_and_what_is_left_out_is_counted(
    server: Any,
) -> None:
    content = within_budget(
        asked(server, "search_documents", query=WORD, top_k=6, explain=True, search_all=True)
    ).structured_content
    assert size(content["results"][0]["text"]) > 5000
    assert content["omitted"] + len(content["results"]) == len(ROOMY)


def test_a_hundred_unknown_labels_are_told_in_a_few_sentences(server: Any) -> None:
    labels = [f"no such label {number}" for number in range(100)]
    asking = {"query": WORD, "labels": labels}
    content = asked(server, "search_documents", kb_id="handbook", **asking).structured_content
    assert "no such label 0" in content["warnings"][0]
    assert "Nor has any source 95 more of these labels." in content["warnings"]
    everywhere = within_budget(asked(server, "search_documents", **asking)).structured_content
    assert re.fullmatch(r"\d+ more left out to keep the answer short.", everywhere["warnings"][-1])


def test_notes_do_too(tmp_path: Path) -> None:
    stack = Stack(Settings(base_path=tmp_path / "base", offline=True))
    _indexed(tmp_path / "base")
    try:
        shelf = Library(stack)
        answer = shelf.search("handbook", SearchRequest(WORD, top_k=50, max_chars=0))
        kept = within_budget(search_notes.answer(answer)).structured_content["results"]
        assert 0 < len(kept) < len(ROOMY)
    finally:
        stack.close()


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=300),
    lambda inner: (
        st.lists(inner, max_size=60) | st.dictionaries(st.text(max_size=90), inner, max_size=60)
    ),
    max_leaves=60,
)


@tried(deadline=None)
@given(values, st.integers(3000, 6000))
def test_any_value_is_shortened_to_a_budget_and_keeps_its_kind(value: Any, budget: int) -> None:
    shown = fitted([value] * 3, budget, fields=3)
    assert json_size(shown) <= max(budget, 2)
    assert json_size([value] * 3) > budget or shown == [value] * 3


@tried(deadline=None)
@given(st.integers(0, BUDGET_BYTES), st.text(max_size=20), st.sampled_from(ROOMY))
def test_a_text_that_is_cut_leaves_no_fence_open(before: int, title: str, mark: str) -> None:
    text = f"{'a' * before}\n{NOTICE}\n" + passage(mark * 30_000, {"title": title})
    shown = fitted_text(text)
    assert size(shown) <= BUDGET_BYTES
    lines = shown.splitlines()
    opened = [line for line in lines if line.startswith(f"<{FENCE}")]
    assert len(opened) == lines.count(f"</{FENCE}>")
