"""The HTTP client that all contract clients share: joins URLs, checks versions, raises our own
errors again."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from seoga import __version__
from seoga.contracts.deadline import given, remaining
from seoga.contracts.network import letting_go
from seoga.contracts.stop import stopped
from seoga.errors import Cancelled, SeogaError, ServiceUnavailable, unwire
from seoga.logs import request_id

# Connecting is quick or hopeless; reading waits for work such as a long document.
TIMEOUT = httpx.Timeout(connect=5.0, read=600.0, write=60.0, pool=60.0)
# Those who wait for one provider take no connection from those who wait for another.
_MANY = httpx.Limits(max_connections=1000, max_keepalive_connections=32)
# Anything that lives says its version; more time than that is for machines under load.
VERSION_S = 30.0
# Who did not answer in time is left alone for as long: the next person must not wait too.
REST_S = 5.0


class Http:
    """One service at `base_url` (a path prefix is kept). Thread-safe; connections are re-used."""

    def __init__(
        self, name: str, base_url: str, transport: httpx.BaseTransport | None = None
    ) -> None:
        self.name = name
        self.base_url = base_url.rstrip("/")
        self._client = letting_go(
            httpx.Client(transport=transport, timeout=TIMEOUT, trust_env=False, limits=_MANY)
        )
        self._checked = False
        self._rests: dict[str, float] = {}

    def json(self, method: str, path: str, **options: Any) -> Any:
        """The JSON answer of a call. Raises the error that the service raised, or
        ServiceUnavailable."""
        with self.stream(method, path, **options) as response:
            response.read()
            return response.json()

    @contextmanager
    def stream(self, method: str, path: str, **options: Any) -> Iterator[httpx.Response]:
        """A response whose body is still to be read; the status is already known to be good.
        Raises Cancelled where the stop of this thread is set before the end.

        `whom`: who is behind the service for this call; only what is behind the same one is not
        waited for again after it did not answer in time.
        """
        whom = options.pop("whom", "")
        self._check_version()
        self._rested(whom)
        try:
            with self._send(method, path, **options) as response:
                yield response
        except httpx.HTTPError as error:
            raise self._unavailable(error, whom) from error

    def _rested(self, whom: str) -> None:
        """Raises ServiceUnavailable where somebody waits and it did not answer just now."""
        if remaining() is not None and time.monotonic() < self._rests.get(whom, 0.0):
            raise self._late()

    def _patience(self, most: float | None) -> httpx.Timeout:
        """The time-outs of one call; raises ServiceUnavailable where no time is left."""
        left = remaining()
        if left is not None and left <= 0:
            raise self._late()
        known = [each for each in (left, most) if each is not None]
        if not known:
            return TIMEOUT
        return httpx.Timeout(min(known), connect=min(5.0, *known))

    @contextmanager
    def _send(self, method: str, path: str, **options: Any) -> Iterator[httpx.Response]:
        headers = {**options.pop("headers", {}), "x-request-id": request_id.get()}
        url = self.base_url + path
        options["timeout"] = self._patience(options.pop("seconds", None))
        with self._client.stream(method, url, headers=headers, **options) as response:
            # A redirect is none of our answers either: the URL leads somewhere else.
            if not response.is_success:
                response.read()
                raise _error_of(self.name, response)
            yield response

    def _check_version(self) -> None:
        """A service of another version may speak another contract: refused once, by name."""
        if self._checked:
            return
        self._rested("")
        try:
            with self._send("GET", "/health", seconds=VERSION_S) as response:
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

    def _unavailable(self, error: Exception, whom: str = "") -> SeogaError:
        if stopped():
            return Cancelled("stopped")
        if isinstance(error, httpx.TimeoutException) and remaining() is not None:
            self._rest(whom)
            return self._late()
        return ServiceUnavailable(
            f"The {self.name} service at {self.base_url} does not answer ({type(error).__name__}).",
            f"Start it, or unset SEOGA_{self.name.upper()}_URL to work in this process.",
        )

    def _rest(self, whom: str) -> None:
        now = time.monotonic()
        kept = {one: until for one, until in self._rests.copy().items() if until > now}
        self._rests = kept | {whom: now + REST_S}

    def _late(self) -> ServiceUnavailable:
        return ServiceUnavailable(
            f"The {self.name} service at {self.base_url} did not answer within {given():g} s.",
            f"Look at the log of the {self.name} service; words alone (bm25) need none.",
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
