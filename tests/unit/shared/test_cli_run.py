"""`seoga run`: index and serve a folder in one process."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import httpx
import pytest


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "휴가.md").write_text("# 휴가\n\n연차 휴가는 규정에 따라 부여한다.\n", "utf-8")
    return folder


def url_of(process: subprocess.Popen[bytes]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline().decode("utf-8")
    assert line.startswith("Serving MCP at http://127.0.0.1:")
    return line.split()[-1]


def wait_ready(url: str) -> dict[str, Any]:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        answer = httpx.get(url.replace("/mcp", "/ready"), timeout=10, trust_env=False)
        if answer.status_code == 200:
            found: dict[str, Any] = answer.json()
            return found
        assert answer.status_code == 503
        assert answer.json()["code"] == "service_unavailable"
    raise AssertionError("never ready")


def stopped(process: subprocess.Popen[bytes], number: signal.Signals) -> str:
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err.decode("utf-8")
    assert b"Traceback" not in err
    return out.decode("utf-8")


def test_a_folder_is_indexed_and_served_and_the_next_start_reuses_it(
    seoga: Any, seoga_process: Any, docs: Path, base_path: Path
) -> None:
    process = seoga_process("run", docs, "--port=0")
    url = url_of(process)
    kb_id = wait_ready(url)["kb_id"]
    shown = stopped(process, signal.SIGINT)
    assert f'"url": "{url}"' in shown
    assert '"serve"' in shown
    seoga("index", docs)

    again = seoga_process("run", docs / ".", f"--base-path={base_path}", "--port=0")
    assert wait_ready(url_of(again))["kb_id"] == kb_id
    stopped(again, signal.SIGTERM)
    [kb] = seoga("status", "--json").json["kbs"]
    assert kb["index"]["files"]["Ready"] == 1


def test_other_knowledge_bases_that_are_served_too_are_named(
    seoga: Any, seoga_process: Any, docs: Path, tmp_path: Path
) -> None:
    (tmp_path / "회의록").mkdir()
    seoga("add", tmp_path / "회의록")
    process = seoga_process("run", docs, "--port=0")
    wait_ready(url_of(process))
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert "Searched too" in err.decode("utf-8")
    assert "회의록" in err.decode("utf-8")


def test_pasted_configuration_is_json(seoga: Any) -> None:
    text = seoga("connect").out
    decoder = json.JSONDecoder()
    starts = [n for n, char in enumerate(text) if char == "{" and (n == 0 or text[n - 1] == "\n")]
    kinds = [decoder.raw_decode(text[start:])[0]["mcpServers"]["seoga"] for start in starts]
    assert [set(kind) for kind in kinds] == [{"type", "url"}, {"command", "args"}]
