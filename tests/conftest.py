"""Fixtures of all tests: handed material, free ports, and none of the developer's own settings."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import pytest

from seoga import metrics
from seoga.settings import Settings, one_thread_a_product, settings

from .longest import LONGEST
from .waiting import answers, when

CHECKOUT = Path(__file__).resolve().parent.parent
# As in every command: queries of tests that run side by side would spin for each other's cores.
one_thread_a_product()
# Read before the isolation below takes SEOGA_HANDED away.
HANDED = Path(Settings().handed or CHECKOUT.parent / "shared" / "corpus")


def pytest_configure(config: pytest.Config) -> None:
    """Fixtures of a wide scope run before `isolated`: they too must not touch a real base path."""
    for name in [name for name in os.environ if name.startswith("SEOGA_")]:
        del os.environ[name]
    scratch = tempfile.TemporaryDirectory(prefix="seoga-tests-", ignore_cleanup_errors=True)
    config.add_cleanup(scratch.cleanup)
    os.environ["SEOGA_BASE_PATH"] = f"{scratch.name}/base"
    os.environ["SEOGA_CACHE_PATH"] = f"{scratch.name}/cache"
    os.environ["SEOGA_OFFLINE"] = "1"
    settings.cache_clear()
    # As in a service: what is counted here is looked at.
    metrics.serve()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The order that `make test` hands files out in (`--dist loadfile --no-loadscope-reorder`)."""
    rank = {CHECKOUT / "tests" / name: at for at, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(item.path, len(rank)))


@pytest.fixture(autouse=True)
def isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test has its own base path and settings.

    What a test sets with monkeypatch.setenv counts after `settings.cache_clear()`.
    """
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
    """The folder of real documents handed with the project; SEOGA_HANDED names another place."""
    if not (HANDED / "MANIFEST.tsv").is_file():
        pytest.skip(f"no handed corpus at {HANDED} (set SEOGA_HANDED)")
    return HANDED


@pytest.fixture(scope="session")
def free_ports() -> Callable[[int], list[int]]:
    """Call it for so many distinct ports of the loopback address that nobody listens on now."""

    def choose(count: int) -> list[int]:
        # All are held open until all are chosen, so that none comes twice.
        held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
        ports = [int(server.getsockname()[1]) for server in held]
        for server in held:
            server.close()
        return ports

    return choose


@pytest.fixture
def free_port(free_ports: Callable[[int], list[int]]) -> int:
    """One such port."""
    return free_ports(1)[0]


class StartService(Protocol):
    """Starts a service as it really runs (gunicorn) and returns its URL once it is live."""

    def __call__(self, name: str, **environment: str) -> str: ...


SEOGA = Path(sys.executable).parent / "seoga"


@pytest.fixture(scope="module")
def start_service(
    free_ports: Callable[[int], list[int]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[StartService]:
    """Services on loopback ports of their own, with the environment at the time of the call and
    the variables given; stopped at the end of the module."""
    logs = tmp_path_factory.mktemp("logs")
    started: list[subprocess.Popen[bytes]] = []

    def start(name: str, **environment: str) -> str:
        port = free_ports(1)[0]
        log = logs / f"{name}-{port}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [SEOGA, "service", name, "--port", str(port)],
                env={**os.environ, **environment},
                stdout=output,
                stderr=output,
            )
        started.append(process)
        url = f"http://127.0.0.1:{port}"
        # It says in its log that it listens, or why it does not.
        when(logs, lambda: process.poll() is not None or answers(f"{url}/health"))
        if process.poll() is None:
            return url
        pytest.fail(f"{name} did not start:\n{log.read_text(errors='replace')[-4000:]}")

    yield start
    for process in started:
        process.terminate()
    for process in started:
        try:
            process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
