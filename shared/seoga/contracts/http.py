"""The HTTP client that all contract clients share: joins URLs, checks versions, raises our own
errors again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from seoga import __version__
from seoga.errors import SeogaError, ServiceUnavailable, unwire
from seoga.logs import request_id

# Connecting is quick or hopeless; reading waits for work such as a long document.
TIMEOUT = httpx.Timeout(connect=5.0, read=600.0, write=60.0, pool=60.0)


class Http:
    """One service at `base_url` (a path prefix is kept). Thread-safe; connections are re-used."""

    def __init__(
        self, name: str, base_url: str, transport: httpx.BaseTransport | None = None
    ) -> None:
        self.name = name
        self.base_url = base_url.rstrip("/")
        self._client = httpx.Client(transport=transport, timeout=TIMEOUT, trust_env=False)
        self._checked = False

    def json(self, method: str, path: str, **options: Any) -> Any:
        """The JSON answer of a call. Raises the error that the service raised, or
        ServiceUnavailable."""
        with self.stream(method, path, **options) as response:
            response.read()
            return response.json()

    @contextmanager
    def stream(self, method: str, path: str, **options: Any) -> Iterator[httpx.Response]:
        """A response whose body is still to be read; the status is already known to be good."""
        self._check_version()
        try:
            with self._send(method, path, **options) as response:
                yield response
        except httpx.HTTPError as error:
            raise self._unavailable(error) from error

    @contextmanager
    def _send(self, method: str, path: str, **options: Any) -> Iterator[httpx.Response]:
        headers = {**options.pop("headers", {}), "x-request-id": request_id.get()}
        url = self.base_url + path
        with self._client.stream(method, url, headers=headers, **options) as response:
            if response.status_code >= 400:
                response.read()
                raise _error_of(self.name, response)
            yield response

    def _check_version(self) -> None:
        """A service of another version may speak another contract: refused once, by name."""
        if self._checked:
            return
        try:
            with self._send("GET", "/health") as response:
                response.read()
                version = response.json().get("version")
        except (httpx.HTTPError, ValueError) as error:
            raise self._unavailable(error) from error
        if version != __version__:
            raise ServiceUnavailable(
                f"The {self.name} service at {self.base_url} has version {version}, "
                f"this is {__version__}.",
                "Run all services from the same release.",
            )
        self._checked = True

    def _unavailable(self, error: Exception) -> ServiceUnavailable:
        return ServiceUnavailable(
            f"The {self.name} service at {self.base_url} does not answer ({type(error).__name__}).",
            f"Start it, or unset SEOGA_{self.name.upper()}_URL to work in this process.",
        )

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()


def readiness(base_url: str, seconds: float) -> str:
    """What the service at `base_url` says of itself within `seconds`: "ready", or why not."""
    try:
        with httpx.Client(timeout=seconds, trust_env=False) as client:
            answer = client.get(base_url.rstrip("/") + "/ready")
            details = answer.json()
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        return f"does not answer ({type(error).__name__})"
    if answer.is_success:
        return "ready"
    why = details.get("message") if isinstance(details, dict) else ""
    return f"not ready: {why or f'HTTP {answer.status_code}'}"


def _error_of(name: str, response: httpx.Response) -> SeogaError:
    try:
        data = response.json()
    except ValueError:
        data = None
    if isinstance(data, dict) and "code" in data:
        return unwire(data)
    return ServiceUnavailable(
        f"The {name} service answered HTTP {response.status_code} without an error of ours.",
        "Check that the URL points at a Seoga service.",
    )
