"""A listening socket, taken before anything else starts."""

from __future__ import annotations

import errno
import socket

from seoga.errors import SeogaError


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens at host and port (0: any free one). Raises SeogaError."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        raise SeogaError(
            _why(error, host, port), "Choose another with --port (make: PORT=)."
        ) from error


def url_of(held: socket.socket, path: str = "/mcp") -> str:
    """Where a client on this machine reaches the socket."""
    host, port = held.getsockname()[:2]
    if host in _everywhere():
        host = "127.0.0.1"
    return f"http://[{host}]:{port}{path}" if ":" in host else f"http://{host}:{port}{path}"


def _everywhere() -> tuple[str, str]:
    return str(socket.inet_ntoa(bytes(4))), "::"


def _why(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} on {host} is in use"
    if error.errno == errno.EACCES:
        return f"port {port} on {host} may not be used by this user"
    return f"cannot listen on {host}:{port}: {error.strerror or error}"
