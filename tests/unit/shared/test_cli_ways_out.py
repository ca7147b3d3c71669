"""What a person gets wrong is one line that says how to get it right."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from seoga.errors import ConfigError
from seoga.exposure import host_of, is_loopback, refuse_open
from seoga.settings import Settings
from seoga.storage.jobs import Queue
from seoga.storage.leases import WORKER, Lease


def error_of(done: Any) -> str:
    assert "Traceback" not in done.err
    assert "Error:" not in done.err
    [line] = [line for line in done.err.splitlines() if line.startswith("error: ")]
    return str(line)


def hint_of(done: Any) -> str:
    [line] = [line for line in done.err.splitlines() if line.startswith("hint: ")]
    return str(line)


@pytest.mark.parametrize(
    "command",
    [
        ["status"],
        ["add", "."],
        ["index", "."],
        ["search", "x"],
        ["exec", "--path", "kb"],
        ["exec-queue"],
        ["prune-orphans"],
        ["doctor"],
        ["connect"],
        ["serve"],
        ["serve", "--transport", "http", "--port", "0"],
        ["run", ".", "--port", "0"],
    ],
)
def test_a_base_path_that_is_a_file_is_named_by_every_command(
    seoga: Any, tmp_path: Path, command: list[str]
) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    done = seoga(*command, "--base-path", file)
    assert done.code == 1
    assert f"{file} is a file" in error_of(done)
    assert "--base-path" in hint_of(done)


def test_a_base_path_of_the_environment_that_is_a_file_is_named(tmp_path: Path) -> None:
    from seoga.settings import usable

    file = tmp_path / "file"
    file.write_text("x")
    with pytest.raises(ConfigError, match="is a file"):
        usable(Settings(base_path=file))


def test_a_question_that_begins_with_a_dash_gets_the_way_to_ask_it(seoga: Any) -> None:
    done = seoga("search", "-32602", "meaning")
    assert done.code == 64
    assert "seoga search -- -32602 meaning" in hint_of(done)


def test_an_option_that_does_not_exist_points_at_the_help_of_its_command(seoga: Any) -> None:
    assert "seoga exec --help" in hint_of(seoga("exec", "--nope"))


@pytest.mark.parametrize("command", [["connect"], ["serve"], ["run", "."]])
def test_an_unknown_toolset_is_refused_with_the_known_ones(seoga: Any, command: list[str]) -> None:
    done = seoga(*command, "--tools", "foo")
    assert done.code == 64
    assert "documents" in hint_of(done)


@pytest.mark.parametrize("port", ["0", "70000"])
def test_a_port_that_no_client_can_use_is_refused(seoga: Any, port: str) -> None:
    done = seoga("connect", "--port", port)
    assert done.code == 64
    assert error_of(done)


def test_a_published_address_is_what_clients_get(seoga: Any) -> None:
    done = seoga("connect", "--json", SEOGA_HOST="0.0.0.0", SEOGA_PUBLISHED="127.0.0.1:9001")
    assert done.json["http"]["mcpServers"]["seoga"]["url"] == "http://127.0.0.1:9001/mcp"


@pytest.mark.parametrize(
    "command",
    [
        ["connect"],
        ["serve", "--transport", "http", "--port", "0"],
        ["run", ".", "--port", "0"],
        ["service", "gateway"],
    ],
)
def test_an_open_address_is_refused_with_the_ways_out(seoga: Any, command: list[str]) -> None:
    done = seoga(*command, "--host", "0.0.0.0")
    assert done.code == 1
    assert "0.0.0.0 can be reached from other machines" in error_of(done)
    assert "SEOGA_PUBLISHED" in hint_of(done)


@pytest.mark.parametrize(
    ("host", "published", "open_"),
    [
        ("127.0.0.1", "", False),
        ("localhost", "", False),
        ("::1", "", False),
        ("127.1.2.3", "", False),
        ("0.0.0.0", "127.0.0.1:8765", False),
        ("0.0.0.0", "[::1]:8765", False),
        ("0.0.0.0", "", True),
        ("::", "", True),
        ("", "", True),
        ("192.0.2.7", "", True),
        ("kb.example", "", True),
        ("127.0.0.1", "0.0.0.0:8765", True),
        ("127.0.0.1", "8765", True),
    ],
)
def test_only_loopback_needs_no_token(host: str, published: str, open_: bool) -> None:
    config = Settings(host=host, published=published)
    if open_:
        with pytest.raises(ConfigError):
            refuse_open(config)
    else:
        refuse_open(config)


def test_addresses_are_taken_apart() -> None:
    assert [host_of(one) for one in ("a:1", "[::1]:80", "8765", "a", "")] == [
        "a",
        "[::1]",
        "",
        "a",
        "",
    ]
    assert is_loopback("[::1]")


def test_doctor_says_that_a_base_path_cannot_be_made(seoga: Any) -> None:
    done = seoga("doctor", "--base-path", "/proc/nope")
    assert done.code == 1
    [line] = [line for line in done.out.splitlines() if "base path" in line]
    assert line.startswith("fail")
    assert "/proc/nope cannot be written" in line
    assert "Error" not in line


def test_doctor_says_what_is_wrong_with_the_passwords_file(seoga: Any, tmp_path: Path) -> None:
    file = tmp_path / "passwords"
    done = seoga("doctor", SEOGA_PASSWORDS_FILE=str(file))
    assert done.code == 1
    [line] = [line for line in done.out.splitlines() if "passwords" in line]
    assert line.startswith(f"fail  passwords: SEOGA_PASSWORDS_FILE={file}: there is no such file")
    assert "one password a line" in line
    file.write_text("hunter2\n")
    good = seoga("doctor", SEOGA_PASSWORDS_FILE=str(file))
    assert f"ok    passwords: {file}" in good.out
    assert "hunter2" not in good.out + good.err
    assert "passwords" not in seoga("doctor").out


def test_eval_of_a_folder_that_is_not_there_names_it(seoga: Any) -> None:
    done = seoga("eval", "/nope")
    assert done.code == 64
    assert "/nope is not there" in error_of(done)
    assert "Errno" not in done.err


def test_add_says_who_will_index(seoga: Any, base_path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    assert "seoga exec-queue" in seoga("add", folder).err
    with closing(Queue(base_path / "queue.db")) as queue, Lease.acquire(queue.path, WORKER):
        done = seoga("add", folder)
    assert "The indexer takes it" in done.err
    assert "exec-queue" not in done.err
