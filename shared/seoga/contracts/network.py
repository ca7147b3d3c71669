"""Connections that let go: a read ends when whoever waits was stopped or has no time left, however
slowly the other side drips. httpx knows only the longest pause between two reads."""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterable
from functools import cache
from typing import Any

import httpcore
import httpx

from seoga.contracts.deadline import remaining
from seoga.contracts.stop import stoppable, stopped

_LOOK_S = 0.2


@cache
def trusted() -> ssl.SSLContext:
    """The system's authorities, where a company adds its own (or SSL_CERT_FILE, SSL_CERT_DIR name
    them), and the usual ones besides."""
    import certifi

    trust = ssl.create_default_context()
    trust.load_verify_locations(certifi.where())
    return trust


def nobody_trusted() -> ssl.SSLContext:
    """For addresses that are not encrypted: made at once, and no certificate passes."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def letting_go(client: httpx.Client) -> httpx.Client:
    """The same client, whose reads heed `stop.until` and `deadline.within` of their thread."""
    # httpx has no parameter for this; a transport that is none of its own (tests) has no pool.
    transports = [client._transport, *client._mounts.values()]
    for pool in (getattr(transport, "_pool", None) for transport in transports):
        if pool is not None:
            pool._network_backend = _Network()
    return client


class _Network(httpcore.NetworkBackend):
    def __init__(self) -> None:
        self._inner = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """See httpcore."""
        return _Stream(
            self._inner.connect_tcp(host, port, _within(timeout), local_address, socket_options)
        )


class _Stream(httpcore.NetworkStream):
    def __init__(self, inner: httpcore.NetworkStream) -> None:
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """See httpcore. Raises ReadTimeout, ReadError where it was stopped."""
        most = _within(timeout)
        ends = None if most is None else time.monotonic() + most
        while True:
            left = None if ends is None else max(0.001, ends - time.monotonic())
            look = min(left or _LOOK_S, _LOOK_S) if stoppable() else left
            try:
                return self._inner.read(max_bytes, look)
            except httpcore.ReadTimeout:
                if stopped():
                    raise httpcore.ReadError("stopped") from None
                if ends is not None and time.monotonic() >= ends:
                    raise

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """See httpcore."""
        self._inner.write(buffer, _within(timeout))

    def close(self) -> None:
        """See httpcore."""
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        """See httpcore."""
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, _within(timeout)))

    def get_extra_info(self, info: str) -> Any:
        """See httpcore."""
        return self._inner.get_extra_info(info)


def _within(timeout: float | None) -> float | None:
    """The shorter of a time-out and of what is left to whoever waits; never 0, which would mean
    not to wait at all."""
    known = [each for each in (timeout, remaining()) if each is not None]
    return max(0.001, min(known)) if known else None
