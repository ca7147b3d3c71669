"""The one HTTP client of a provider. No other module opens a connection to one."""

from __future__ import annotations

import ipaddress
import json
import ssl
import zlib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import httpx

from seoga import __version__
from seoga.contracts.deadline import given, remaining, within
from seoga.contracts.network import letting_go, nobody_trusted, trusted
from seoga.contracts.stop import stopped
from seoga.errors import ConfigError
from seoga_embedding.provider import Call, Endpoint
from seoga_embedding.remote.faults import (
    CallFailed,
    Late,
    NotMade,
    Trouble,
    failure,
    is_error,
    reply_of,
)

# Connecting is quick or hopeless; a batch of long texts on a slow machine takes minutes.
_CONNECT_S: Final = 5.0
DOCUMENT_READ_S: Final = 180.0
QUERY_READ_S: Final = 15.0
_ERROR_BYTES: Final = 64 << 10
# No error says more.
_SHORT_BYTES: Final = 16 << 10


@dataclass(frozen=True, slots=True)
class Ready:
    """A request that may leave, for how long it is waited for, whether JSON Lines come back, and
    how many bytes at most."""

    request: httpx.Request
    read_s: float
    lines: bool
    most_bytes: int


@dataclass(frozen=True, slots=True)
class Came:
    """An answer; `body` is its JSON where that was read at once."""

    response: httpx.Response
    lines: bool
    body: Any = None


class Wire:
    """Connections to one endpoint, kept and re-used. Thread-safe."""

    def __init__(
        self,
        endpoint: Endpoint,
        transport: httpx.BaseTransport | None = None,
        client: httpx.Client | None = None,
        calls: int = 8,
    ) -> None:
        """`calls`: how many may be under way at once."""
        self._endpoint, address = endpoint, urlsplit(endpoint.url)
        self._client = client or letting_go(
            httpx.Client(
                transport=transport,
                timeout=_timeout(DOCUMENT_READ_S),
                limits=httpx.Limits(max_connections=calls, max_keepalive_connections=calls),
                headers={
                    "user-agent": f"seoga/{__version__}",
                    "accept": "application/json",
                    "accept-encoding": "gzip",
                },
                follow_redirects=False,
                # Reading the authorities of the world takes longer than many a call.
                verify=trusted() if address.scheme == "https" else nobody_trusted(),
                # A proxy of the environment is for the world outside, not for this machine.
                trust_env=not _is_near(address.hostname or ""),
            )
        )

    def with_key_of(self, endpoint: Endpoint) -> Wire:
        """The same connections for another key."""
        return Wire(endpoint, client=self._client)

    def send(self, call: Call, read_s: float = DOCUMENT_READ_S) -> Any:
        """The JSON of an answer. Raises CallFailed, also when whoever waits has no time left."""
        return self.read(self.fetch(self.ready(call, read_s)))

    def ready(self, call: Call, read_s: float = DOCUMENT_READ_S) -> Ready:
        """What `fetch` sends; made before there is a turn for it. Raises ConfigError."""
        try:
            return Ready(self._request(call), read_s, call.lines, call.most_bytes)
        except httpx.InvalidURL as error:
            raise ConfigError(f"The address {self._endpoint.url!r} cannot be used.") from error

    def fetch(self, ready: Ready) -> Came:
        """An answer that is none of the errors. Raises CallFailed."""
        request, read_s = ready.request, ready.read_s
        left = remaining()
        if left is not None:
            if not left:
                raise NotMade(Trouble.OUTAGE, f"did not answer within {given():g} s")
            read_s = min(read_s, left)
        if self._client.is_closed:
            raise NotMade(Trouble.OUTAGE, "is no longer asked: the engine is closed")
        request.extensions["timeout"] = _timeout(read_s).as_dict()
        try:
            # The whole answer must be here by then, not just its next byte.
            with within(read_s):
                response = self._received(request, ready.most_bytes)
        except httpx.TimeoutException as error:
            raise self._late(f"did not answer in time ({_name(error)})") from error
        except httpx.DecodingError as error:
            raise CallFailed(Trouble.OUTPUT, "sent an answer that cannot be unpacked") from error
        except httpx.HTTPError as error:
            if (tls := _tls_error(error)) is not None:
                raise _distrust(tls) from error
            raise self._outage(f"cannot be reached ({_name(error)})", "Is it running?") from error
        return self._accepted(response, ready)

    def _outage(self, message: str, hint: str = "") -> CallFailed:
        """No answer; where we broke off ourselves, that says nothing of the provider."""
        if stopped():
            return NotMade(Trouble.OUTAGE, "is asked no more: the run was stopped")
        return CallFailed(Trouble.OUTAGE, message, hint)

    def _late(self, message: str) -> CallFailed:
        error = self._outage(message)
        return error if isinstance(error, NotMade) else Late(error.trouble, message)

    def _received(self, request: httpx.Request, most_bytes: int) -> httpx.Response:
        """The response with its whole body. Raises CallFailed for one that no answer needs."""
        response = self._client.send(request, stream=True)
        with closing(response):
            most = most_bytes if response.is_success else _ERROR_BYTES
            content = bytearray()
            for piece in _unpacked(response, most + 1):
                content += piece
                if len(content) > most:
                    break
        if len(content) > most and response.is_success:
            raise CallFailed(Trouble.OUTPUT, "sent more than any answer holds")
        headers = httpx.Headers(response.headers)
        headers.pop("content-encoding", None)
        return httpx.Response(response.status_code, headers=headers, content=bytes(content[:most]))

    def read(self, came: Came) -> Any:
        """The JSON of what came. Raises CallFailed where it is none, or an error after all."""
        if came.body is None:
            return self._body(came.response, lines=came.lines)
        return came.body

    def _request(self, call: Call) -> httpx.Request:
        content = None
        headers = dict(call.headers)
        if call.body is not None:
            # Lone surrogates have no UTF-8; JSON may escape them, but providers then refuse all.
            text = json.dumps(call.body, ensure_ascii=False, separators=(",", ":"))
            content = text.encode("utf-8", "replace")
            headers["content-type"] = "application/json"
        elif call.content is not None:
            content = call.content
        query = {**{k: v for k, v in self._endpoint.query.items() if k not in call.query}}
        return self._client.build_request(
            "GET" if content is None else "POST",
            self._endpoint.url + call.path,
            params={**query, **call.query} or None,
            content=content,
            headers=headers,
        )

    def _accepted(self, response: httpx.Response, ready: Ready) -> Came:
        if 300 <= response.status_code < 400:
            raise CallFailed(
                Trouble.REQUEST,
                f"answered HTTP {response.status_code}, a redirection",
                "Give the address that it leads to: a key is not sent on to another place.",
            )
        if response.status_code >= 400:
            raise failure(self._reply(response), self._endpoint.key)
        # An error under HTTP 200 is short, and whoever has the turn must hear of it. What is long
        # is read when the turn is another's.
        short = len(response.content) < _SHORT_BYTES
        body = self._body(response, lines=ready.lines) if short else None
        return Came(response, ready.lines, body)

    def _body(self, response: httpx.Response, *, lines: bool) -> Any:
        try:
            if lines:
                return [json.loads(line) for line in response.text.splitlines() if line.strip()]
            body = response.json()
        except (ValueError, RecursionError) as error:
            raise CallFailed(
                Trouble.OUTPUT,
                "sent something that is not JSON",
                "Check that baseUrl is the address of an API.",
            ) from error
        if is_error(body):
            raise failure(self._reply(response), self._endpoint.key)
        return body

    def _reply(self, response: httpx.Response) -> Any:
        return reply_of(response.status_code, response.headers, response.text[:20_000])

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()


def _unpacked(response: httpx.Response, most: int) -> Iterator[bytes]:
    """The body in pieces of at most `most` bytes: a few bytes may unpack to a thousand times as
    many, which httpx would hold at once. Raises DecodingError."""
    packed = response.headers.get("content-encoding", "identity").strip().lower()
    if packed == "identity":
        yield from response.iter_raw()
        return
    if packed not in ("gzip", "x-gzip"):
        raise httpx.DecodingError("packed in a way that was not asked for")
    # 16 more than the window: with the header of gzip.
    reader = zlib.decompressobj(16 + zlib.MAX_WBITS)
    try:
        for piece in response.iter_raw():
            yield reader.decompress(piece, most)
            while reader.unconsumed_tail:
                yield reader.decompress(reader.unconsumed_tail, most)
    except zlib.error as error:
        raise httpx.DecodingError(str(error)) from error


def _tls_error(error: BaseException | None) -> ssl.SSLError | None:
    """What of an encrypted connection failed, if that is what failed."""
    while error is not None and not isinstance(error, ssl.SSLError):
        error = error.__cause__ or error.__context__
    # An end in the middle is an end like any other.
    return None if isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError) else error


def _distrust(error: ssl.SSLError) -> CallFailed:
    """The same for every call until a person does something."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return CallFailed(
            Trouble.TLS,
            f"has a certificate that is not trusted: {error.verify_message.rstrip('.')}.",
            "Renew it, or give the name that it was made for; where it is your own, name it or the"
            " authority that signed it (PEM) in SSL_CERT_FILE of the embedding service.",
        )
    return CallFailed(
        Trouble.TLS,
        f"cannot be spoken to over TLS ({error.reason or error})",
        "Is it an http address?",
    )


def _timeout(read_s: float) -> httpx.Timeout:
    return httpx.Timeout(connect=_CONNECT_S, read=read_s, write=60.0, pool=60.0)


def _name(error: Exception) -> str:
    return type(error).__name__


def _is_near(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
