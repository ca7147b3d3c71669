"""Fixtures of all tests: handed material, free ports, and an environment without the developer's own settings."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from seoga.settings import Settings, settings

CHECKOUT = Path(__file__).resolve().parent.parent
# Read before the isolation below takes SEOGA_HANDED away.
HANDED = Path(Settings().handed or CHECKOUT.parent / "shared" / "corpus")


def pytest_configure(config: pytest.Config) -> None:
    """Fixtures of a wide scope run before `isolated`: they too must not see or touch the developer's own base path."""
    for name in [name for name in os.environ if name.startswith("SEOGA_")]:
        del os.environ[name]
    scratch = tempfile.TemporaryDirectory(prefix="seoga-tests-", ignore_cleanup_errors=True)
    config.add_cleanup(scratch.cleanup)
    os.environ["SEOGA_BASE_PATH"] = f"{scratch.name}/base"
    os.environ["SEOGA_CACHE_PATH"] = f"{scratch.name}/cache"
    os.environ["SEOGA_OFFLINE"] = "1"
    settings.cache_clear()


@pytest.fixture(autouse=True)
def isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test has its own base path and settings; what it sets with monkeypatch.setenv is read by `settings()`
    once it has called `settings.cache_clear()`."""
    monkeypatch.setenv("SEOGA_BASE_PATH", str(tmp_path / "base"))
    monkeypatch.setenv("SEOGA_CACHE_PATH", str(tmp_path / "cache"))
    settings.cache_clear()
    yield
    settings.cache_clear()


@pytest.fixture
def base_path(tmp_path: Path) -> Path:
    """An empty base path, the one that `settings()` names in this test."""
    base = tmp_path / "base"
    base.mkdir(exist_ok=True)
    return base


@pytest.fixture(scope="session")
def handed() -> Path:
    """The folder of real documents that was handed with the project; SEOGA_HANDED names another place."""
    if not (HANDED / "MANIFEST.tsv").is_file():
        pytest.skip(f"no handed corpus at {HANDED} (set SEOGA_HANDED)")
    return HANDED


@pytest.fixture
def free_port() -> int:
    """A port of the loopback address that nobody listens on now."""
    return unused_ports(1)[0]


def unused_ports(count: int) -> list[int]:
    """Distinct free ports: all are held open until all are chosen."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [int(server.getsockname()[1]) for server in held]
    for server in held:
        server.close()
    return ports
