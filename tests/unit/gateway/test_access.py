"""Host names that may reach the gateway, and the secret that its workers share."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from seoga.errors import ConfigError
from seoga.settings import Settings
from seoga_gateway.auth import allowed_hosts, split_address, transport_security
from seoga_gateway.secret import FILE_NAME, shared_secret


def test_loopback_names_with_the_port_are_allowed() -> None:
    assert allowed_hosts(Settings(port=9000)) == [
        "127.0.0.1:9000",
        "localhost:9000",
        "[::1]:9000",
    ]


def test_listening_on_every_address_does_not_switch_the_check_off() -> None:
    security = transport_security(Settings(host="0.0.0.0", port=9000))
    assert security.enable_dns_rebinding_protection
    assert "0.0.0.0:9000" not in security.allowed_hosts
    assert "127.0.0.1:9000" in security.allowed_hosts


def test_an_address_listened_on_is_allowed() -> None:
    assert "192.0.2.7:9000" in allowed_hosts(Settings(host="192.0.2.7", port=9000))
    assert "[2001:db8::1]:9000" in allowed_hosts(Settings(host="2001:db8::1", port=9000))


def test_the_published_port_of_a_container_is_allowed_too() -> None:
    hosts = allowed_hosts(Settings(host="0.0.0.0", port=8765, published="127.0.0.1:18080"))
    assert {"localhost:8765", "localhost:18080"} <= set(hosts)


def test_more_names_come_from_the_setting() -> None:
    hosts = allowed_hosts(Settings(allowed_hosts="kb.example:443, seoga:*,"))
    assert hosts[-2:] == ["kb.example:443", "seoga:*"]
    assert (
        "https://kb.example:443"
        in transport_security(Settings(allowed_hosts="kb.example:443")).allowed_origins
    )


def test_the_port_of_http_needs_no_number() -> None:
    assert "localhost" in allowed_hosts(Settings(port=80))


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ("127.0.0.1:80", ("127.0.0.1", 80)),
        ("[::1]:80", ("[::1]", 80)),
        ("8765", ("", 8765)),
        ("kb.example", ("kb.example", 0)),
        ("", ("", 0)),
    ],
)
def test_addresses_are_taken_apart(address: str, parts: tuple[str, int]) -> None:
    assert split_address(address) == parts


def _secret(base: Path) -> str:
    return shared_secret(Settings(base_path=base))


def test_workers_that_start_at_once_share_one_secret(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from seoga.settings import Settings;"
        " from seoga_gateway.secret import shared_secret;"
        " print(shared_secret(Settings(base_path=Path(sys.argv[1]))))"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "base")]
    workers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    found = {worker.communicate(timeout=60)[0].strip() for worker in workers}
    assert len(found) == 1
    assert len(found.pop()) >= 32


def test_the_secret_is_for_its_owner_alone_and_stays(tmp_path: Path) -> None:
    first = _secret(tmp_path)
    assert _secret(tmp_path) == first
    assert stat.S_IMODE((tmp_path / FILE_NAME).stat().st_mode) == 0o600


def test_a_secret_of_the_environment_wins(tmp_path: Path) -> None:
    config = Settings(base_path=tmp_path, mcp_secret="s" * 32)
    assert shared_secret(config) == "s" * 32
    assert not (tmp_path / FILE_NAME).exists()


def test_a_short_secret_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="32 characters"):
        shared_secret(Settings(base_path=tmp_path, mcp_secret="short"))


def test_a_secret_file_that_cannot_be_made_is_an_error_with_a_way_out(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).mkdir()
    with pytest.raises(ConfigError) as caught:
        _secret(tmp_path)
    assert "SEOGA_MCP_SECRET" in caught.value.hint
