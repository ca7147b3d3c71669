"""The command line itself: usage, errors, exit codes, and commands that need no index."""

from __future__ import annotations

import json
import os
import socket
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

from seoga.errors import ConfigError
from seoga.settings import settings
from seoga.storage.database import open_writer
from seoga.storage.leases import Lease

GUID = "0b0e6a52-2f5c-4c1e-9f0c-7a3f4f1f0a11"


def made_kb(base: Path, **config: object) -> Path:
    folder = base / str(config.get("id", GUID))
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"id": folder.name, **config}), "utf-8")
    return folder


def one_line_error(err: str) -> str:
    assert "Traceback" not in err
    [line] = [line for line in err.splitlines() if line.startswith("error: ")]
    return line


def test_help_lists_every_command(seoga: Any) -> None:
    done = seoga("--help")
    assert done.code == 0
    for name in ("serve", "exec", "exec-queue", "prune-orphans", "index", "search", "run"):
        assert f"  {name} " in done.out


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["exec"],
        ["search"],
        ["search", "x", "--mode", "nearly"],
        ["exec", "--path", "x", "--partial", "embeding"],
        ["exec", "--path", "x", "--partial=embeding"],
        ["exec", "--nonsense"],
        ["serve", "--port", "99999"],
        ["serve", "--transport=carrier-pigeon"],
        ["service", "kitchen"],
    ],
)
def test_usage_errors_are_one_line_and_exit_64(seoga: Any, arguments: list[str]) -> None:
    done = seoga(*arguments)
    assert done.code == 64
    assert one_line_error(done.err)
    assert done.out == ""


def test_an_error_with_json_has_the_one_shape_on_the_last_line(seoga: Any) -> None:
    done = seoga("exec", "--path", "/nonexistent", "--json")
    assert done.code == 1
    assert set(done.json) == {"code", "message", "hint"}
    assert done.json["code"] == "not_found"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("{", "line 1"),
        ("[]", "object"),
        ('{"embedding": {"provider": "skynet"}}', "embedding.provider"),
        ('{"chunking": {"targetChars": "many"}}', "chunking.targetChars"),
        ('{"id": "other"}', "folder"),
    ],
)
def test_a_bad_config_is_one_line_that_names_file_and_key(
    seoga: Any, base_path: Path, text: str, named: str
) -> None:
    folder = base_path / "kb"
    folder.mkdir()
    (folder / "config.json").write_text(text, "utf-8")
    done = seoga("exec", "--path", folder)
    assert done.code == 1
    line = one_line_error(done.err)
    assert str(folder / "config.json") in line
    assert named in line


@pytest.mark.parametrize("kb_id", ["../x", "a/b", "", "x" * 200])
def test_a_wrong_kb_id_touches_nothing(seoga: Any, kb_id: str) -> None:
    done = seoga("exec", "--path", kb_id)
    assert done.code in {1, 64}
    assert one_line_error(done.err)


def test_korean_comes_out_unescaped_in_the_c_locale(seoga: Any, tmp_path: Path) -> None:
    folder = tmp_path / "회의록"
    folder.mkdir()
    done = seoga("add", folder, "--json", LC_ALL="C")
    assert done.code == 0
    assert "회의록" in done.out


def test_adding_a_folder_twice_makes_one_knowledge_base(seoga: Any, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    first, second = seoga("add", folder, "--json").json, seoga("add", folder, "--json").json
    assert uuid.UUID(first["kb_id"])
    assert first["kb_id"] == second["kb_id"]
    assert (first["status"], second["status"]) == ("queued", "already_queued")


def test_adding_what_is_no_folder_is_a_clear_error(seoga: Any, tmp_path: Path) -> None:
    (tmp_path / "file.txt").write_text("x", "utf-8")
    assert "not a folder" in one_line_error(seoga("add", tmp_path / "file.txt").err)
    assert "does not exist" in one_line_error(seoga("add", tmp_path / "nothing").err)


def test_status_of_an_empty_base_path_says_what_to_do(seoga: Any) -> None:
    done = seoga("status")
    assert done.code == 0
    assert "seoga index" in done.out
    assert seoga("status", "--json").json["kbs"] == []


def test_status_reports_a_broken_knowledge_base_beside_the_others(
    seoga: Any, base_path: Path
) -> None:
    made_kb(base_path, id="good")
    (base_path / "bad").mkdir()
    (base_path / "bad" / "config.json").write_text("{", "utf-8")
    report = seoga("status", "--json").json
    assert [kb["id"] for kb in report["kbs"]] == ["good"]
    assert "bad" in report["problems"][0]


def test_doctor_probes_hangul_nfd_and_latin_and_the_embedder(seoga: Any) -> None:
    done = seoga("doctor", "--json")
    checks = {check["name"]: check["status"] for check in done.json["checks"]}
    assert done.code == 0
    for name in ("sqlite", "base path", "embedder", "formats"):
        assert checks[name] == "ok"
    for script in ("Hangul", "NFD", "Latin"):
        assert checks[f"keyword search in {script}"] == "ok"


def test_doctor_fails_for_a_service_that_does_not_answer(seoga: Any, free_port: int) -> None:
    done = seoga("doctor", "--json", SEOGA_INDEXER_URL=f"http://127.0.0.1:{free_port}")
    assert done.code == 1
    [check] = [check for check in done.json["checks"] if check["name"] == "indexer service"]
    assert check["status"] == "fail"


def test_connect_prints_both_transports(seoga: Any, base_path: Path) -> None:
    config = seoga("connect", "--port", "9000", "--json").json
    assert config["http"]["mcpServers"]["seoga"]["url"] == "http://127.0.0.1:9000/mcp"
    stdio = config["stdio"]["mcpServers"]["seoga"]
    assert Path(stdio["command"]).is_absolute()
    assert stdio["args"] == ["serve", "--base-path", str(base_path)]


@pytest.mark.parametrize("command", [["serve", "--transport", "http"], ["run", "."]])
def test_an_occupied_port_is_one_line(seoga: Any, command: list[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = seoga(*command, f"--port={port}")
    assert done.code == 1
    assert f"port {port} on 127.0.0.1 is in use" in one_line_error(done.err)


def test_a_folder_whose_name_is_not_utf8_is_refused_in_one_line(seoga: Any, tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xb0\xa1"))
    folder.mkdir()
    done = seoga("add", folder)
    assert done.code == 64
    assert "not UTF-8" in one_line_error(done.err)


def test_run_of_a_missing_folder_is_one_line(seoga: Any) -> None:
    done = seoga("run", "/nonexistent", "--port=0")
    assert done.code == 1
    assert "/nonexistent" in one_line_error(done.err)


def aged(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    long_ago = time.time() - 3600
    os.utime(folder, (long_ago, long_ago))
    return folder


def test_prune_orphans_removes_only_old_guid_folders_without_a_config(
    seoga: Any, base_path: Path
) -> None:
    orphan = base_path / str(uuid.uuid4())
    orphan.mkdir()
    (orphan / "rag.db").write_bytes(b"x")
    aged(orphan)
    kept = [
        aged(made_kb(base_path, id=GUID)),
        aged(base_path / "notes"),
        aged(base_path / f".{uuid.uuid4()}"),
        aged(base_path / f"{GUID}-backup-1"),
    ]
    young = base_path / str(uuid.uuid4())
    young.mkdir()
    done = seoga("prune-orphans", f"--base-path={base_path}")
    assert done.code == 0
    assert done.json == {"scanned": 4, "orphans_found": 1, "cleaned": 1, "failed": 0}
    assert not orphan.exists()
    assert young.exists()
    assert all(folder.exists() for folder in kept)
    assert f"removed: {orphan}" in done.err
    assert f"left alone (no config.json, not named by a GUID): {kept[1]}" in done.err
    assert f"ago): {young}" in done.err


def test_prune_orphans_leaves_a_folder_that_a_run_still_writes_and_names_it(
    seoga: Any, base_path: Path
) -> None:
    orphan = base_path / str(uuid.uuid4())
    orphan.mkdir()
    open_writer(orphan / "rag.db").close()
    with Lease.acquire(orphan / "rag.db"):
        aged(orphan)
        done = seoga("prune-orphans", f"--base-path={base_path}")
    assert (done.code, done.json["failed"]) == (1, 1)
    assert orphan.exists()
    assert "left alone (a run of " in done.err
    assert str(orphan) in done.err


def test_a_bad_setting_is_one_line_naming_variable_and_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings.cache_clear()
    monkeypatch.setenv("SEOGA_PORT", "x")
    with pytest.raises(ConfigError, match="SEOGA_PORT='x'"):
        settings()
    settings.cache_clear()
