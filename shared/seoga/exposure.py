"""Who can reach a gateway: only this machine, as long as nothing asks callers for a token."""

from __future__ import annotations

import ipaddress

from seoga.errors import ConfigError
from seoga.settings import Settings


def refuse_open(config: Settings) -> None:
    """Raises ConfigError for a gateway that other machines could reach.

    In a container it listens on every address, and the published one counts (`SEOGA_PUBLISHED`).
    """
    address = config.published or config.host
    if is_loopback(host_of(config.published) if config.published else config.host):
        return
    raise ConfigError(
        f"{address} can be reached from other machines, and there is no token that would stop them",
        "Listen on 127.0.0.1 (--host, SEOGA_HOST) and let others in through an SSH tunnel or a"
        " proxy that asks who they are; in a container say where its port is published:"
        f" SEOGA_PUBLISHED=127.0.0.1:{config.port or 8765}.",
    )


def is_loopback(host: str) -> bool:
    """True for `localhost` and the loopback addresses of both families."""
    bare = host.strip("[]")
    try:
        return bare.lower() == "localhost" or ipaddress.ip_address(bare).is_loopback
    except ValueError:
        return False


def host_of(address: str) -> str:
    """The host of `host:port`, `[v6]:port` or `host`; "" where only a port is given."""
    host, colon, port = address.rpartition(":")
    if not colon:
        return "" if address.isdigit() else address
    return host if port.isdigit() else address
