"""One story, three ways to run: index a folder, search it over MCP, edit, delete, search again.

Only what a person or an agent has in hand is used: make, the command line, MCP over HTTP.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from mcp import Client

CHECKOUT = Path(__file__).resolve().parents[2]
SEOGA = Path(sys.executable).parent / "seoga"
PROJECT = "seoga-e2e"
LEAVE = """# 휴가 규정

## 연차

연차 휴가는 입사 첫해에 십오일을 부여하며 반차로 나누어 쓸 수 있다.
"""
BACKUP = """# Backups

## Restore

The nightly backup is restored with the tool `vaultkeeper` and takes about forty minutes.
"""
OFFICE = """# Offices

The Busan branch office moved to the harbour district in spring.
"""
DOCUMENTS = {
    "휴가.md": LEAVE,
    "backup.md": BACKUP,
    "old/office.md": OFFICE,
    "empty.txt": "",
    "picture.png": "not a picture",
}


@dataclass
class Deployment:
    """A running Seoga over `docs`."""

    url: str
    docs: Path
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured answer of one tool call, made by a client of its own."""

        async def ask() -> Any:
            async with Client(f"{self.url}/mcp", read_timeout_seconds=60) as client:
                return await client.call_tool(tool, arguments)

        result = anyio.run(ask)
        assert not result.is_error, result.content
        answer: dict[str, Any] = result.structured_content
        return answer

    def search(self, query: str, **arguments: Any) -> list[dict[str, Any]]:
        hits: list[dict[str, Any]] = self.call("search_documents", query=query, **arguments)[
            "results"
        ]
        return hits

    def found(self, query: str, **arguments: Any) -> list[str]:
        return [hit["path"] for hit in self.search(query, **arguments)]

    def ready(self) -> bool:
        try:
            return httpx.get(f"{self.url}/ready", timeout=5).status_code == 200
        except httpx.TransportError:
            return False


def until(condition: Callable[[], Any], seconds: float, what: str) -> None:
    """Polls; fails with `what` when the time is over."""
    deadline = time.monotonic() + seconds
    pause = threading.Event()
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        pause.wait(0.2)


def environment(base: Path, **more: str) -> dict[str, str]:
    return {**os.environ, "SEOGA_BASE_PATH": str(base), **more}


@contextmanager
def running(command: list[str | Path], log: Path, env: dict[str, str]) -> Iterator[None]:
    """A process in a group of its own; SIGTERM must end all of it within 20 s."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=CHECKOUT, env=env, stdout=output, stderr=output, start_new_session=True
        )
    try:
        yield
        assert process.poll() is None, log.read_text(errors="replace")[-3000:]
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            pytest.fail(f"SIGTERM did not end it:\n{log.read_text(errors='replace')[-3000:]}")
    assert not group_alive(process.pid), "a child outlived it"


def group_alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@contextmanager
def embedded(docs: Path, scratch: Path, ports: list[int]) -> Iterator[Deployment]:
    command: list[str | Path] = [SEOGA, "run", docs, "--port", str(ports[0])]
    with running(command, scratch / "run.log", environment(scratch / "base")):
        yield Deployment(f"http://127.0.0.1:{ports[0]}", docs)


@contextmanager
def four_processes(docs: Path, scratch: Path, ports: list[int]) -> Iterator[Deployment]:
    port = ports[0]
    env = environment(scratch / "base", PORT=str(port))
    with running([CHECKOUT / "deploy" / "dev"], scratch / "dev.log", env):
        deployment = Deployment(f"http://127.0.0.1:{port}", docs)
        services = [f"http://127.0.0.1:{port + offset}" for offset in range(4)]
        until(lambda: all(Deployment(url, docs).ready() for url in services), 180, "four services")
        env["SEOGA_INDEXER_URL"] = services[3]
        subprocess.run([SEOGA, "add", docs], env=env, check=True, timeout=60)
        yield deployment


@contextmanager
def containers(docs: Path, scratch: Path, ports: list[int]) -> Iterator[Deployment]:
    # The user of the containers is nobody's: what it reads must be readable for everyone.
    for parent in [docs, *docs.parents]:
        if parent.owner() == docs.owner() and parent != Path(parent.anchor):
            parent.chmod(parent.stat().st_mode | 0o055)
    env = {**os.environ, "COMPOSE_PROJECT_NAME": PROJECT}
    settings = [f"PORT={ports[0]}", f"ENV_FILE={scratch / 'env'}"]
    compose = ["docker", "compose", "--env-file", str(scratch / "env")]
    try:
        up = ["make", "up", f"DOCS={docs}", *settings]
        done = subprocess.run(
            up, cwd=CHECKOUT, env=env, capture_output=True, text=True, timeout=900, check=False
        )
        assert done.returncode == 0, (done.stdout + done.stderr)[-5000:]
        yield Deployment(f"http://127.0.0.1:{ports[0]}", docs)
        subprocess.run([*compose, "stop", "--timeout", "15"], cwd=CHECKOUT, env=env, check=True)
        assert exit_codes() == {"0"}, "SIGTERM must end every service by itself"
    finally:
        if (scratch / "env").is_file():
            subprocess.run([*compose, "down", "-v"], cwd=CHECKOUT, env=env, check=True)


def exit_codes() -> set[str]:
    """Of the stopped containers of this test; 137 would be a kill."""
    project = f"label=com.docker.compose.project={PROJECT}"
    listed = subprocess.run(
        ["docker", "ps", "-aq", "--filter", project], capture_output=True, text=True, check=True
    )
    shown = subprocess.run(
        ["docker", "inspect", "-f", "{{.State.ExitCode}}", *listed.stdout.split()],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(shown.stdout.split())


WAYS = {"embedded": embedded, "processes": four_processes, "containers": containers}


@pytest.fixture(
    params=["embedded", "processes", pytest.param("containers", marks=pytest.mark.containers)]
)
def deployment(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Deployment]:
    if request.param == "containers" and not engine_answers():
        pytest.skip("no Docker engine with Compose v2 here")
    docs = tmp_path / "docs"
    for name, text in DOCUMENTS.items():
        (docs / name).parent.mkdir(parents=True, exist_ok=True)
        (docs / name).write_text(text, encoding="utf-8")
    with WAYS[request.param](docs, tmp_path, row_of_ports(4)) as running_now:
        until(running_now.ready, 120, "/ready")
        yield running_now


def engine_answers() -> bool:
    if shutil.which("docker") is None:
        return False
    checks = (["docker", "info"], ["docker", "compose", "version"])
    return all(
        subprocess.run(one, capture_output=True, check=False).returncode == 0 for one in checks
    )


def row_of_ports(count: int) -> list[int]:
    """Free ports in a row: `make dev` counts up from the first."""
    for first in range(21000, 29000, count):
        with ExitStack() as held, suppress(OSError):
            row = list(range(first, first + count))
            for port in row:
                held.enter_context(socket.create_server(("127.0.0.1", port)))
            return row
    pytest.fail("no free ports in a row")


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_a_folder_is_indexed_searched_and_followed_through_an_edit_and_a_deletion(
    deployment: Deployment,
) -> None:
    (kb,) = deployment.call("list_knowledge_bases")["knowledge_bases"]
    kb_id = kb["kb_id"]

    def settled() -> bool:
        info = deployment.call("get_index_info", kb_id=kb_id)
        waits = info["queue"]["status"] != "idle" or info["chunks"]["pending"]
        return info["status"] == "ready" and not waits

    until(settled, 120, "vectors of the first run")

    assert deployment.found("연차 휴가")[0] == "휴가.md"
    assert deployment.found("vaultkeeper")[0] == "backup.md"
    (hit, *_) = deployment.search("how long does it take to restore a backup?")
    assert hit["path"] == "backup.md"
    assert re.match(r"\[(semantic|both) 0\.\d+\]|\[exact match\]", hit["label"])
    assert "vaultkeeper" in hit["text"]
    # Retrieval over languages needs vectors, so this proves that all four services took part.
    asked = "How many days of vacation do employees get?"
    assert deployment.found(asked, search_mode="vector", threshold=0.0)[0] == "휴가.md"

    (deployment.docs / "backup.md").write_text(
        "# Backups\n\nBackups are now restored with the tool `timecapsule`.\n", encoding="utf-8"
    )
    (deployment.docs / "old" / "office.md").unlink()
    changes = deployment.call("check_changes", kb_id=kb_id)
    assert [Path(name).name for name in changes["modified"]] == ["backup.md"]
    assert [Path(name).name for name in changes["deleted"]] == ["office.md"]

    assert deployment.call("start_reindex", kb_id=kb_id)["status"] in {"queued", "already_running"}
    until(lambda: deployment.found("timecapsule") == ["backup.md"], 120, "the edited text")
    until(settled, 120, "the second run")
    assert deployment.found("vaultkeeper") == []
    assert "office.md" not in str(deployment.found("Busan branch office"))
    assert deployment.call("check_changes", kb_id=kb_id)["is_clean"]
