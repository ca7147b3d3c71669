"""Make targets refuse what they cannot do in one line, and compose.yaml keeps its promises."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

CHECKOUT = Path(__file__).resolve().parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((CHECKOUT / "compose.yaml").read_text(encoding="utf-8"))
SERVICES = ("gateway", "indexer", "extraction", "embedding")


def make(target: str, *variables: str) -> subprocess.CompletedProcess[str]:
    command = ["make", "-s", "-o", ".venv/.run-installed", "-o", ".venv/.dev-installed", target]
    clean = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.run(
        [*command, *variables],
        cwd=CHECKOUT,
        env=clean,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("target", ["run", "index", "up"])
def test_a_target_without_its_folder_says_what_is_missing(target: str, tmp_path: Path) -> None:
    done = make(target, f"ENV_FILE={tmp_path / 'env'}")
    assert done.returncode == 2
    assert f"make {target} DOCS=<folder>" in done.stdout + done.stderr


def test_up_refuses_a_folder_that_is_not_there(tmp_path: Path) -> None:
    done = make("up", f"DOCS={tmp_path / 'nowhere'}", f"ENV_FILE={tmp_path / 'env'}")
    assert done.returncode == 2
    assert "no such folder" in done.stderr
    assert not (tmp_path / "env").exists()


def test_bench_without_a_name_lists_the_benchmarks() -> None:
    done = make("bench")
    assert done.returncode == 2
    for name in ("keyword_10k", "run_md", "eval"):
        assert f"NAME={name}" in done.stdout


def test_the_four_services_are_of_one_shape() -> None:
    assert sorted(COMPOSE["services"]) == sorted(SERVICES)
    for name, service in COMPOSE["services"].items():
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service["user"] == "10001:10001"
        assert service["tmpfs"] == ["/tmp"]
        assert service["build"]["args"] == {"SERVICE": name}
        assert service["build"]["dockerfile"] == "deploy/Dockerfile"


def test_only_the_gateway_is_published_and_only_on_loopback() -> None:
    published = {
        name: service["ports"]
        for name, service in COMPOSE["services"].items()
        if "ports" in service
    }
    assert list(published) == ["gateway"]
    assert all(port.startswith("127.0.0.1:") for port in published["gateway"])


def test_documents_are_read_only_and_data_is_writable_where_databases_are_opened() -> None:
    mounts = {name: service.get("volumes", []) for name, service in COMPOSE["services"].items()}
    writable = {name for name, volumes in mounts.items() if "data:/data" in volumes}
    assert writable == {"gateway", "indexer", "embedding"}
    folders = {
        name: volume
        for name, volumes in mounts.items()
        for volume in volumes
        if isinstance(volume, dict)
    }
    assert set(folders) == {"gateway", "indexer"}
    for folder in folders.values():
        assert folder["target"] == "/docs"
        assert folder["read_only"] is True
        assert folder["bind"] == {"create_host_path": False}


def test_every_url_names_a_service_of_the_file() -> None:
    for service in COMPOSE["services"].values():
        for key, url in service.get("environment", {}).items():
            if key.endswith("_URL"):
                assert url.removeprefix("http://").split(":")[0] in SERVICES
                assert "localhost" not in url
