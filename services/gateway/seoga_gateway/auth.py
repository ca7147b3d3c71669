"""Which Host and Origin headers may reach the gateway: the guard against DNS rebinding."""

from __future__ import annotations

from mcp.server.transport_security import TransportSecuritySettings

from seoga.settings import Settings

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
HTTP_PORT = 80


def allowed_hosts(config: Settings) -> list[str]:
    """The Host headers to accept: loopback names and the address listened on, with the port
    listened on and the
    one that a container publishes, then `SEOGA_ALLOWED_HOSTS`. Port 0 (any free one) means every
    port."""
    published_host, published_port = split_address(config.published)
    names = dict.fromkeys((*LOOPBACK, *_specific(config.host), *_specific(published_host)))
    ports = dict.fromkeys(str(port or "*") for port in (config.port, published_port or config.port))
    hosts = [f"{name}:{port}" for name in names for port in ports]
    if str(HTTP_PORT) in ports:
        hosts.extend(names)
    hosts.extend(extra.strip() for extra in config.allowed_hosts.split(",") if extra.strip())
    return hosts


def transport_security(config: Settings) -> TransportSecuritySettings:
    """Always set, because the SDK turns the check off for a server that listens on every
    address."""
    hosts = allowed_hosts(config)
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=hosts,
        allowed_origins=[f"{scheme}://{host}" for host in hosts for scheme in ("http", "https")],
    )


def split_address(address: str) -> tuple[str, int]:
    """`host:port`, `[v6]:port`, `host` or `port` as (host, port); a missing part is "" or 0."""
    host, colon, port = address.rpartition(":")
    if not colon and address.isdigit():
        return "", int(address)
    if not colon or not port.isdigit():
        return address, 0
    return host, int(port)


def _specific(host: str) -> tuple[str, ...]:
    # Listening on every address names no host that a browser could be sent to.
    bare = host.strip("[]")
    if not bare.strip("0.:"):
        return ()
    return (f"[{bare}]" if ":" in bare else bare,)
