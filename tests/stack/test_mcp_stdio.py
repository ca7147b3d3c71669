"""MCP over stdio as a client starts it: a process that says nothing but MCP on stdout."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest
from mcp import Client, StdioServerParameters

from seoga.kb import create_kb

SEOGA = Path(sys.executable).with_name("seoga")
START_LIMIT_S = 4.0

REQUESTS = [
    {
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    },
    {"method": "notifications/initialized"},
    {"id": 2, "method": "tools/list"},
    {"id": 3, "method": "tools/call", "params": {"name": "list_knowledge_bases"}},
    {
        "id": 4,
        "method": "tools/call",
        "params": {"name": "search_documents", "arguments": {"query": "휴가 규정이 뭐야 \ud800"}},
    },
    {
        "id": 5,
        "method": "tools/call",
        "params": {"name": "get_index_info", "arguments": {"kb_id": "../x"}},
    },
]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base path with one indexed knowledge base."""
    made, documents = tmp_path_factory.mktemp("base"), tmp_path_factory.mktemp("documents")
    (documents / "휴가.md").write_text("# 휴가\n\n연차 휴가는 15일이다.\n", encoding="utf-8")
    kb = create_kb(made, documents, name="Handbook")
    done = subprocess.run(
        [SEOGA, "exec", "--path", kb.folder], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return made


def server(base: Path) -> StdioServerParameters:
    arguments = ["serve", "--base-path", str(base)]
    return StdioServerParameters(command=str(SEOGA), args=arguments, env=dict(os.environ))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_that_starts_it_can_search(base: Path, mode: str) -> None:
    async def session() -> Any:
        async with Client(server(base), mode=mode) as client:
            return await client.call_tool("search_documents", {"query": "연차 휴가"})

    result = anyio.run(session)
    assert not result.is_error, result.content
    assert result.structured_content["results"][0]["path"] == "휴가.md"


def test_initialize_is_answered_at_once_and_stdout_is_nothing_but_mcp(base: Path) -> None:
    with subprocess.Popen(
        [SEOGA, "serve", "--base-path", base],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        answers = []
        for request in REQUESTS:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **request}) + "\n")
            process.stdin.flush()
            if "id" in request:
                answers.append(json.loads(process.stdout.readline()))
                if request["id"] == 1:
                    # Seconds of its own work: on a busy machine the clock speaks of the others.
                    took = sum(psutil.Process(process.pid).cpu_times()[:2])
        process.stdin.close()
        rest, errors = process.stdout.read(), process.stderr.read()
        assert process.wait(timeout=10) == 0
    assert [answer["id"] for answer in answers] == [1, 2, 3, 4, 5]
    assert all("result" in answer for answer in answers)
    assert rest == ""
    assert "Traceback" not in errors
    assert took < START_LIMIT_S


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_ctrl_c_ends_it_though_the_client_holds_the_line(
    base: Path, number: signal.Signals
) -> None:
    with subprocess.Popen(
        [SEOGA, "serve", "--base-path", base],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **REQUESTS[0]}) + "\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1
        process.send_signal(number)
        assert process.wait(timeout=20) == 0
        assert "Traceback" not in process.stderr.read()


def test_what_a_library_prints_does_not_reach_the_client(base: Path, tmp_path: Path) -> None:
    noisy = (
        "import os, seoga_gateway.library as library\n"
        "plain = library.Library.overview\n"
        "def loud(self):\n"
        "    print('noise of Python'); os.system('echo noise of a child'); return plain(self)\n"
        "library.Library.overview = loud\n"
        "from seoga.wiring import build_stack\n"
        "from seoga_gateway.serve import serve_stdio\n"
        "serve_stdio(build_stack())\n"
    )
    script = tmp_path / "noisy.py"
    script.write_text(noisy)

    async def session() -> Any:
        parameters = StdioServerParameters(
            command=sys.executable,
            args=[str(script)],
            env={**os.environ, "SEOGA_BASE_PATH": str(base)},
        )
        async with Client(parameters, mode="legacy") as client:
            return await client.call_tool("list_knowledge_bases", {})

    assert not anyio.run(session).is_error


def test_an_unknown_toolset_is_a_usage_error(base_path: Path) -> None:
    done = subprocess.run(
        [SEOGA, "serve", "--tools", "nonsense"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 64
    assert done.stdout == ""
    assert "documents" in done.stderr
